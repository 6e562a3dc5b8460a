/* The result of a search, as text and as JSON. */
#ifndef BROAD_CLI_TUNE_TUNE_REPORT_H
#define BROAD_CLI_TUNE_TUNE_REPORT_H

#include "tune/tune_space.h"

typedef struct tune_result {
    const tune_search *search;
    const broad_data *data;
    json_t *photos;                        /* not owned; NULL: the rows are not photos */
    const broad_map_choice *maps;          /* that was made for all trials */
    const char *path, *by, *state, *model; /* state, model: NULL without */
    size_t rows, folds, resumed;           /* rows: searched on; resumed: trials that were there */
    int complete;                          /* was not interrupted */
    double read_seconds, search_seconds, total_seconds;
} tune_result;

int tune_report_json(const tune_result *result);
int tune_report_text(const tune_result *result);

#endif
