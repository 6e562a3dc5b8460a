/*
 * What sampled nodes are drawn with, found on some rows by small trials (model/train/trial.h), each judged by the
 * leave-one-out error of one joint ridge regression:
 *
 *   round 0    every style with a few ranges, all directions alike
 *   round r    the metric of the best trial of round r - 1 (model/train/gradients.h), every style with ranges around the
 *              best one; and the same metric without the inputs that matter least
 *
 * In each round all are tried with few nodes, and the best of them with more, then with larger ranges as long as that gains:
 * the more nodes, the steeper they may be. The rounds end where they no longer gain.
 * A metric has seen these rows: whether it is better than none, other rows must say (model/train/pilot.h).
 */
#ifndef BROAD_MODEL_TRAIN_CONFIGURE_H
#define BROAD_MODEL_TRAIN_CONFIGURE_H

#include "feature/metric.h"
#include "model/train/trial.h"

enum { BROAD__ROUNDS_MOST = 8 };

/* What an effort allows. */
typedef struct broad__effort_sizes {
    size_t rows;                    /* that nodes are configured on, at most */
    size_t screen;                  /* nodes of a trial that only tells which are worth a larger one */
    size_t nodes;                   /* and of that one: for its rows as many as the network has for all */
    size_t rounds;                  /* with a metric, at most: one for every hundred rows of a half */
    size_t final_rows, final_nodes; /* of the trials that decide in the end, at most */
} broad__effort_sizes;

/* For a table with this number of rows. */
broad__effort_sizes broad__effort_sizes_of(const broad_options *options, size_t rows);

/* How nodes are drawn, and what came of it. */
typedef struct broad__configuration {
    broad__style style;
    double range;         /* as a multiple of the model's */
    double exponent;      /* of lambda */
    double square;        /* mean over rows of the leave-one-out residual's: which nodes are better */
    double error;         /* the same as broad__trial_squares() has it: whether a metric is better than none */
    broad__metric metric; /* values NULL: none */
} broad__configuration;

typedef struct broad__configurations {
    size_t count; /* one of each round */
    broad__configuration of[BROAD__ROUNDS_MOST + 1];
    double least[BROAD__STYLE_COUNT];  /* error of each style in round 0, as model->pilot has it */
    double ranges[BROAD__STYLE_COUNT]; /* that it had with them */
} broad__configurations;

void broad__configurations_clear(broad__configurations *list); /* accepts a zeroed one */
/* On all rows of the table. Where time is up it has the rounds that were finished. */
int broad__configure(broad__configurations *out, broad_trainer *trainer, const broad_data *rows,
                     const broad__effort_sizes *sizes);

/* What the blocks of a trial, or the groups of a network, are drawn with. */
typedef struct broad__directions {
    double *root, *relevance; /* root NULL: the metric is none, or has no more than a diagonal */
} broad__directions;

int broad__directions_open(broad__directions *out, const broad__metric *metric, size_t columns,
                           const broad__device *device);
void broad__directions_close(broad__directions *directions);
/* The model owns them from now on, in place of those it had. */
void broad__model_take_directions(broad_model *model, broad__directions *directions);

/* Fits the nodes of a configuration, in a trial that is open. */
int broad__configuration_try(broad__trial *trial, broad__configuration *c, const broad__directions *directions,
                             size_t nodes);

#endif
