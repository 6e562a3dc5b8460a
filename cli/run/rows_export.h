/* Rows for other programs: a folder with inputs.npy, rows.csv and columns.csv. */
#ifndef BROAD_CLI_RUN_ROWS_EXPORT_H
#define BROAD_CLI_RUN_ROWS_EXPORT_H

#include "io/folder.h"
#include "io/json.h"

/* The array in inputs.npy. */
typedef struct cli_rows_export {
    const char *type; /* "uint8", "float32", "float64" */
    size_t dimensions, shape[4];
} cli_rows_export;

/* Fills a folder that was begun. An interrupt ends it with BROAD_INTERRUPTED. */
int cli_rows_export_write(cli_rows_export *out, const broad_data *data, const cli_folder *folder);
json_t *cli_rows_export_json(const cli_rows_export *made, const char *folder);
void cli_rows_export_print(const cli_rows_export *made, const char *folder);

#endif
