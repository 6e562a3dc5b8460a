/* Training rows whose label is doubtful: the network, had it not seen the row nor those of its group, would predict another. */
#ifndef BROAD_CLI_RUN_DOUBTS_H
#define BROAD_CLI_RUN_DOUBTS_H

#include "io/json.h"

typedef struct cli_doubt {
    size_t row, label, verdict;
    double lead; /* of the verdict's score over that of the label */
} cli_doubt;

typedef struct cli_doubts {
    size_t count;
    cli_doubt *items; /* the most doubtful first; owned */
} cli_doubts;

/* Of a classification with joint weights: BROAD_USAGE otherwise. */
int cli_doubts_find(cli_doubts *out, const broad_model *model, const broad_data *training, size_t threads);
void cli_doubts_clear(cli_doubts *doubts); /* accepts a zeroed one */
json_t *cli_doubts_json(const cli_doubts *doubts, const broad_model *model, const broad_data *training);
void cli_doubts_print(const cli_doubts *doubts, const broad_model *model, const broad_data *training);

#endif
