/*
 * Trials of configurations, several at a time: each thread has a trial of its own (model/train/trial.h), all on the same
 * rows. What comes of them does not depend on the number of threads, nor on which thread makes which.
 */
#ifndef BROAD_MODEL_TRAIN_TRIALS_H
#define BROAD_MODEL_TRAIN_TRIALS_H

#include "base/status.h"
#include "feature/metric.h"
#include "model/train/trial.h"

enum { BROAD__TRIALS_MOST = 16 }; /* at a time */
/* Times the square of the best: with the lambda that suits that one, no more is worth a search for another. */
#define BROAD__HOPELESS 1.5

/* What the blocks of a trial, or the groups of a network, are drawn with. */
typedef struct broad__directions {
    double *root, *relevance; /* root NULL: the metric is none, or has no more than a diagonal */
} broad__directions;

int broad__directions_open(broad__directions *out, const broad__metric *metric, size_t columns,
                           const broad__device *device);
void broad__directions_close(broad__directions *directions);
/* The model owns them from now on, in place of those it had. */
void broad__model_take_directions(broad_model *model, broad__directions *directions);

/* One network to be tried: how its nodes are drawn, and what came of it. */
typedef struct broad__attempt {
    broad__style style;
    int rough;    /* leave-one-out of fewer rows */
    double range; /* as a multiple of the model's */
    const broad__directions *directions;
    size_t nodes;
    double start; /* exponent that its search for lambda begins with; 0: by that of the best attempt so far */
    /* A square: what leaves more with its first lambda is given up. 0: BROAD__HOPELESS times that of the best attempt
     * before it; below 0: it never is */
    double most;
    broad__metric *metric; /* of its gradients, if wanted: open */
    double *squares;       /* of the rows, if wanted: broad__trial_squares() */

    double exponent;  /* of lambda */
    double square;    /* mean over rows of the leave-one-out residual's: which nodes are better */
    double error;     /* the same as broad__trial_squares() has it: whether a metric is better than none */
    double part;      /* the same as broad__trial_error() has it */
    int given_up;     /* square is of its first lambda, error is INFINITY, squares are none */
    int metric_known; /* there was something to learn */
    int done;
} broad__attempt;

typedef struct broad__trials {
    broad_trainer *trainer;
    size_t rows, columns, count; /* count: at a time */
    broad__trial of[BROAD__TRIALS_MOST];
    broad__failure failed[BROAD__TRIALS_MOST];
    size_t failed_at[BROAD__TRIALS_MOST]; /* the attempt that did */
    broad__pool *alone;                   /* of one thread */
    double exponent, range;               /* of the best attempt so far: where searches for lambda begin */
} broad__trials;

/* How many a run with these options has room for. */
size_t broad__trials_at_a_time(const broad_options *run, size_t threads, size_t rows, size_t columns, size_t nodes);

/* At most `rows` rows of the data, and nodes at most. */
int broad__trials_open(broad__trials *out, broad_trainer *trainer, const broad_data *data, size_t rows, size_t nodes);
void broad__trials_close(broad__trials *trials); /* accepts a zeroed one */

/* The exponent of lambda that nodes with so many times the range mostly want, where these want that one; not 0. */
double broad__exponent_steeper(double exponent, double times);

/* All of them. After a failure those that are done have their results. */
int broad__trials_run(broad__trials *trials, broad__attempt *attempts, size_t count);
/* The one with the least square that is done; NULL: none is. */
broad__attempt *broad__attempts_best(broad__attempt *attempts, size_t count);

#endif
