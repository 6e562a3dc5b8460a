/*
 * The page of `broad report`: one file without anything from outside, for screens light and dark, narrow and wide, and for
 * paper. It is the same for the same photos and model: no date of today is in it.
 */
#ifndef BROAD_CLI_REPORT_HTML_H
#define BROAD_CLI_REPORT_HTML_H

#include "io/output.h"
#include "page/chart.h"
#include "page/findings.h"

typedef struct cli_jpeg {
    void *bytes; /* broad__free() */
    size_t count, width, height;
} cli_jpeg;

typedef struct cli_report_card {
    cli_jpeg photo, heat;
} cli_report_card;

typedef struct cli_report_page {
    const cli_findings *findings;
    const char *title, *model_path;
    size_t card_count;
    cli_report_card *cards; /* of the first so many findings */
    const cli_charts *charts;
} cli_report_page;

int cli_report_write_html(const cli_report_page *page, const char *path);

/* ---- shared by the files that make it ---- */

typedef enum cli_band { CLI_BAND_NEGATIVE, CLI_BAND_UNSURE, CLI_BAND_POSITIVE, CLI_BAND_NONE } cli_band;

cli_band cli_report_band(const cli_findings *findings, const cli_finding *finding);

/* How many findings there are of each band, and with a place. */
typedef struct cli_tally {
    size_t positive, unsure, negative, placed;
} cli_tally;

cli_tally cli_report_count(const cli_findings *findings);

#endif
