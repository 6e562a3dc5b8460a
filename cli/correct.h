/* Corrections: a few new rows that shall be judged rightly, and what the old ones say to that. */
#ifndef BROAD_CLI_CORRECT_H
#define BROAD_CLI_CORRECT_H

#include "run.h"

/* A new photo whose very file is among the old ones, under another label. */
typedef struct cli_contradiction {
    size_t fresh, old; /* rows */
} cli_contradiction;

typedef struct cli_correction {
    int automatic;                           /* the least weight that does */
    double weight;                           /* of the new rows */
    size_t wrong;                            /* of them, still judged wrongly; classification */
    int known;                               /* the measures below are there */
    broad_metrics train, fresh, test;        /* of the model as it was */
    size_t dropped;                          /* rows kept apart that are not tested on: they, or copies, are learned now */
    size_t contradiction_count;
    cli_contradiction *contradictions;       /* owned */
} cli_correction;

void cli_correction_clear(cli_correction *correction); /* accepts a zeroed one */

/* --weight: a number, or auto; without it auto for photos where that is possible, else 1. */
int cli_correction_weight(cli_correction *out, const cli_run *run, int with_rows);
/* Compares the new photos with the old ones and with run->test, which loses those that are learned now. */
int cli_correction_compare(cli_correction *out, cli_run *run);
/* What run->model, which is still the old one, says. */
int cli_correction_measure(cli_correction *out, const cli_run *run);
/* Learns run->fresh with weight after weight until all of them are judged rightly. */
int cli_correction_learn(cli_correction *out, cli_run *run);
/* How many of the new rows run->model judges wrongly. */
int cli_correction_count(cli_correction *out, const cli_run *run);

#endif
