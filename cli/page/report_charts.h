/* The charts of a report on photos: how many there are of each probability or value, and where they were taken. */
#ifndef BROAD_CLI_PAGE_REPORT_CHARTS_H
#define BROAD_CLI_PAGE_REPORT_CHARTS_H

#include "page/chart.h"
#include "page/findings.h"

int cli_report_charts(cli_charts *out, const cli_findings *findings);

#endif
