/* Corrections: a few new rows that shall be classified correctly, and what the old ones say to that. */
#ifndef BROAD_CLI_RUN_CORRECTION_H
#define BROAD_CLI_RUN_CORRECTION_H

#include "run/train_run.h"

typedef struct cli_correction {
    int given;       /* --weight was */
    int automatic;   /* the least weights that do */
    double *weights; /* of each new row, where they have some; owned */
    double weight;   /* of the new rows; the largest */
    size_t wrong;    /* of them, still judged incorrectly; classification */
    int known;       /* the measures below are there: not where there are new classes */
    broad_metrics old_before, fresh_before,
        test_before;         /* of the model as it was, on the old rows, the new and the test */
    broad_metrics old_after; /* of the model as it is, on the old rows */
    size_t dropped;          /* rows held out that are not tested on: they, or near-duplicates, are learned now */
    size_t contradictions;   /* new photos that are files of old ones with another label */
} cli_correction;

void cli_correction_clear(cli_correction *correction); /* accepts a zeroed one */

/* --weight: a number, or auto; without it auto for photos where that is possible, else 1. */
int cli_correction_weight(cli_correction *out, const cli_run *run, int with_rows);
/* Compares the new photos with the old ones, byte by byte, and with run->test, which loses those that are learned now. Those
 * whose label is another than that of the old one are noted, and join the contradictions in run->photos. */
int cli_correction_compare(cli_correction *out, cli_run *run);
/* What run->model says, which is still the old one; and the new one, before run->train has the new rows. */
int cli_correction_measure(cli_correction *out, const cli_run *run);
int cli_correction_measure_after(cli_correction *out, const cli_run *run);
/* Learns run->fresh, and those that are still wrong with more weight, until all of them are classified correctly. */
int cli_correction_learn(cli_correction *out, cli_run *run);
/* How many of the new rows run->model classifies incorrectly. */
int cli_correction_count(cli_correction *out, const cli_run *run);

#endif
