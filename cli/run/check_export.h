/* An exported file against the library, on rows of a table. */
#ifndef BROAD_CLI_RUN_CHECK_EXPORT_H
#define BROAD_CLI_RUN_CHECK_EXPORT_H

#include "io/json.h"

/* What an exported file gives for rows of a table, or the library. */
typedef struct cli_computed {
    size_t rows, outputs;
    double *scores; /* rows x outputs */
    double *more;   /* rows x outputs probabilities, or rows x outputs x 2 ends of intervals; NULL: there are none */
    size_t more_each;
} cli_computed;

void cli_computed_clear(cli_computed *predicted); /* accepts a zeroed one */
/* By the library; level 0: no intervals. */
int cli_predict_library(cli_computed *out, const broad_model *model, const broad_data *data, double level);

typedef enum cli_exported_form { CLI_EXPORTED_C, CLI_EXPORTED_ONNX } cli_exported_form;

/* Runs an exported file on the rows: `out`, like what the library gave. C, whose names begin with model_, is compiled by
 * $CC, or cc; ONNX is run by ONNX Runtime, for Python or for node, whichever is there. */
int cli_compute_exported(cli_computed *out, cli_exported_form form, const void *bytes, size_t count,
                         const broad_model *model, const broad_data *data, const cli_computed *like);

typedef struct cli_comparison {
    size_t rows, labels;     /* labels: rows that get another one */
    double difference, more; /* the largest of scores, and of probabilities or ends of intervals; over 1 relative */
} cli_comparison;

void cli_compare(cli_comparison *out, const cli_computed *exported, const cli_computed *library, broad_task task);
json_t *cli_comparison_json(const cli_comparison *comparison);
void cli_comparison_print(const cli_comparison *comparison, broad_task task);

#endif
