/*
 * The page about the training of a model: one HTML file without anything from outside. Of a model alone it tells what its file
 * holds; with the rows it was trained on, and rows to test on, everything else too.
 *
 *   fill in what is given, cli_training_make, cli_training_write, cli_training_clear
 */
#ifndef BROAD_CLI_PAGE_TRAINING_H
#define BROAD_CLI_PAGE_TRAINING_H

#include "io/json.h"
#include "page/chart.h"
#include "run/files.h"
#include "run/relevance.h"

enum { CLI_BINS = 15, CLI_TARGETS_SHOWN = 4, CLI_LEVELS = 8 };

/* Rows by the probability of their most probable class, as the calibration error has them. */
typedef struct cli_bin {
    size_t rows, right;
    double probability; /* sum */
} cli_bin;

/* Of a regression, of one target: true and predicted values of all rows, and how they differ. */
typedef struct cli_fit_values {
    size_t rows;
    double *truth, *predicted; /* owned */
    double rmse;
} cli_fit_values;

/* Of the intervals of one level: the part of the values inside. */
typedef struct cli_coverage {
    double level, inside;
} cli_coverage;

typedef struct cli_training {
    /* Given, and not owned. */
    const cli_arguments *arguments;
    const broad_model *model;
    const char *model_path, *title;
    const cli_files *files;                            /* that it was trained on; NULL: not known */
    const broad_data *train, *test;                    /* NULL: not there */
    const broad_metrics *train_metrics, *test_metrics; /* of these */
    const char *test_path;                             /* NULL: the rows that fit held out */
    int looked_at;                                     /* the test rows decided when to stop */
    size_t threads;
    int timed; /* this process has trained it, and these are its seconds */
    broad_seconds seconds;
    double read_seconds;

    /* Made. */
    broad_options settings;
    json_t *stored; /* the model's file as JSON, for the table that shows all of it */
    size_t layer_count;
    broad_layer *layers;
    broad_estimate estimate;
    broad_joint joint;
    cli_relevance relevance;
    broad_curve_point *train_curve, *test_curve; /* NULL: none, as where there are no cut networks */
    int verified;                                /* `verdict` says what came of it */
    broad_verdict verdict;
    double verify_seconds;
    cli_bin bins[CLI_BINS];                   /* of the test rows, where there are probabilities */
    cli_fit_values values[CLI_TARGETS_SHOWN]; /* of the test rows, else of the training rows */
    size_t value_count, level_count;
    cli_coverage levels[CLI_LEVELS]; /* of the test rows */
    cli_charts charts;
} cli_training;

int cli_training_make(cli_training *training);
/* Says on standard error if the certificate does not hold. */
void cli_training_note(const cli_training *training);
void cli_training_clear(cli_training *training); /* accepts a half-made one */

/* ---- shared by the files that make it ---- */

/* Whether the layers were kept one by one and mean something each. */
int cli_training_layered(const cli_training *training);
/* Whether they were judged by the score of the chain. */
int cli_training_scored(const cli_training *training);
/* Whether a layer is the first of those on its rows. */
int cli_training_starts(const cli_training *training, size_t layer);
/* Of the norm: what the test of a layer promises, as a part of what was there. */
double cli_training_bound(const broad_layer *layer);
/* Wilson's 95 % interval of a part that was counted on this many rows. */
void cli_training_wilson(double out[2], double part, double rows);

#endif
