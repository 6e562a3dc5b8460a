/* Predictions for people: the first rows in aligned columns with few digits, then a summary of all. */
#ifndef BROAD_CLI_RUN_PREDICT_TABLE_H
#define BROAD_CLI_RUN_PREDICT_TABLE_H

#include "message.h"

enum { CLI_TABLE_ROWS = 20, CLI_TABLE_COLUMNS = 12, CLI_TABLE_CELL = 48 };

typedef struct cli_predict_table {
    const broad_model *model;
    const broad_data *data;
    size_t columns, kept; /* kept: columns of the file that are shown */
    size_t rows, shown;   /* rows so far, and those in `cells`; row 0 of `cells` is the heading */
    size_t unsure, unlike, *by_class;
    int numbers[CLI_TABLE_COLUMNS]; /* columns that are aligned on the right */
    char cells[CLI_TABLE_ROWS + 1][CLI_TABLE_COLUMNS][CLI_TABLE_CELL];
} cli_predict_table;

/* What is said of one row. */
typedef struct cli_predicted {
    size_t verdict; /* of classes */
    int unlike;     /* it is a photo that is not like the training photos */
    const double *scores;
    const double *probabilities; /* NULL: there are none */
    const double *low, *high;    /* NULL: no intervals */
} cli_predicted;

int cli_predict_table_open(cli_predict_table *out, const broad_model *model, const broad_data *data, int intervals,
                           int probabilities);
void cli_predict_table_add(cli_predict_table *table, const cli_predicted *row); /* in order */
void cli_predict_table_print(const cli_predict_table *table);
void cli_predict_table_close(cli_predict_table *table);

#endif
