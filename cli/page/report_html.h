/*
 * The page of `broad report`: for screens light and dark, narrow and wide, and for paper. All but the large pictures, and the
 * thumbnails after the first 1,000, is in this one file; nothing comes from elsewhere.
 */
#ifndef BROAD_CLI_REPORT_HTML_H
#define BROAD_CLI_REPORT_HTML_H

#include "io/output.h"
#include "page/chart.h"
#include "page/report_pictures.h"

typedef struct cli_report_page {
    const cli_findings *findings;
    const cli_report_pictures *pictures;
    const char *title, *model_path;
    const broad_metrics *test; /* of photos whose classes or values are known; NULL: none */
    size_t note_count;
    const char *const *notes; /* "Site=Roof 7" */
    const cli_charts *charts;
} cli_report_page;

int cli_report_write_html(const cli_report_page *page, const char *path);

/* ---- shared by the files that make it ---- */

typedef enum cli_band { CLI_BAND_NORMAL, CLI_BAND_UNSURE, CLI_BAND_FAULT, CLI_BAND_UNLIKE, CLI_BAND_NONE } cli_band;

cli_band cli_report_band(const cli_findings *findings, const cli_finding *finding);
const char *cli_report_band_class(const cli_findings *findings, const cli_finding *finding); /* of CSS */
const char *cli_report_normal(const cli_findings *findings);                                 /* name of that class */
/* Its verdict in colours; nothing for a value. */
void cli_report_chip(cli_output *output, const cli_findings *findings, const cli_finding *finding);
/* "2024-05-01 09:12" from "2024-05-01T09:12:33"; nothing from "". */
void cli_report_time(char out[32], const char *time);

/* How many findings there are of each band, and with a place. */
typedef struct cli_tally {
    size_t faults, unsure, normal, unlike, placed;
} cli_tally;

cli_tally cli_report_count(const cli_findings *findings);
size_t cli_report_count_class(const cli_findings *findings, size_t class); /* without unsure and unlike ones */

#endif
