/* The tables within the page of `broad report`. */
#ifndef BROAD_CLI_PAGE_REPORT_TABLE_H
#define BROAD_CLI_PAGE_REPORT_TABLE_H

#include "page/report_html.h"

/* What the page shows can be chosen where scripts run. */
void cli_report_put_tools(cli_output *output, const cli_findings *findings);
void cli_report_put_table(cli_output *output, const cli_findings *findings);
/* Folders against verdicts, where the photos lie in folders of classes. */
void cli_report_put_confusion(cli_output *output, const cli_findings *findings);

#endif
