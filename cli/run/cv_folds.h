/*
 * Cross-validation, fold by fold, as cv and tune share it.
 *
 * Repeat r, from 0, deals its folds and draws its networks with the seed of the options plus r.
 */
#ifndef BROAD_CLI_RUN_CV_FOLDS_H
#define BROAD_CLI_RUN_CV_FOLDS_H

#include "run/photo_summary.h"

/* ---- the measures of a fold, as numbers that can be averaged and compared ---- */

typedef struct cli_measure {
    const char *name;  /* in JSON and as a word of --metric */
    const char *title; /* for people */
    broad_task task;
    int lower_is_better;
    size_t offset;                                           /* of a double in broad_metrics */
    enum { OF_VERDICTS, OF_PROBABILITIES, OF_INTERVALS } of; /* the last two only where the model has an estimate */
} cli_measure;

/* The measures of a task in order, NULL after the last. */
const cli_measure *cli_measure_at(broad_task task, size_t index);
const cli_measure *cli_measure_named(const char *name);                             /* NULL: none */
double cli_measure_value(const cli_measure *measure, const broad_metrics *metrics); /* NaN: there is none */
void cli_format_measure(char *out, size_t bytes, broad_task task, double value);

double cli_mean(const double *values, size_t count);
double cli_deviation(const double *values, size_t count); /* root of the sum of squares / (count - 1); NaN below 2 */

/* ---- folds ---- */

typedef struct cli_fold {
    size_t repeat, fold; /* from 0 */
    size_t train_rows, nodes, layers;
    broad_outcome outcome;
    double seconds; /* of training, and of choosing maps */
    unsigned maps;  /* of photos */
    broad_metrics test;
} cli_fold;

typedef struct cli_folds {
    const broad_data *data;
    broad_options options;
    size_t folds, repeats;
    size_t done; /* folds of all repeats so far */
    cli_fold *results;
    broad_model *model; /* of the last fold: it knows the names of the classes */
} cli_folds;

/* Refuses what cannot be dealt, and what does not fit in memory unless `force`. The data must outlive it. */
int cli_folds_open(cli_folds *out, const broad_data *data, const broad_options *options, size_t folds, size_t repeats,
                   int force);
/* Trains and tests the next fold. BROAD_INTERRUPTED: the progress function of the options stopped it, and it does not
 * count. */
int cli_folds_next(cli_folds *cv);
void cli_folds_close(cli_folds *cv); /* accepts one that was zeroed or half opened */

/* A measure of the folds done; out has room for all. */
void cli_folds_values(double *out, const cli_folds *cv, const cli_measure *measure);

#endif
