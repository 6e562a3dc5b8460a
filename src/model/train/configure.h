/*
 * What sampled nodes are drawn with, found on some rows by small trials (model/train/trial.h), each judged by the
 * leave-one-out error of one joint ridge regression:
 *
 *   round 0    every style with a few ranges, all directions alike
 *   round r    the metric of the best trial of round r - 1 (model/train/gradients.h), every style with ranges around the
 *              best one; and the same metric without the inputs that matter least
 *   round 1    also what each input tells by itself (feature/marginal.h): among many inputs that tell nothing a first
 *              network has hardly any gradient
 *
 * In each round all are tried with few nodes, and the best of them with more, then with larger ranges as long as that gains:
 * the more nodes, the steeper they may be.
 * A metric has seen these rows: whether it is better than none, and whether a further round is worth it, other rows must
 * say (model/train/pilot.h).
 */
#ifndef BROAD_MODEL_TRAIN_CONFIGURE_H
#define BROAD_MODEL_TRAIN_CONFIGURE_H

#include "model/train/trials.h"

enum { BROAD__ROUNDS_MOST = 8, BROAD__CHOICES = 24, BROAD__KEPT = 2, BROAD__SHARES = 4 };
enum { BROAD__MARGINAL = BROAD__SHARES, BROAD__METRICS };

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

/* A trial to be made. */
typedef struct broad__choice {
    size_t metric; /* its number */
    broad__style style;
    double range;
    double exponent; /* of lambda, where a smaller trial has found one; else 0 */
} broad__choice;

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
    double exponents[BROAD__STYLE_COUNT];
} broad__configurations;

/* Columns that count, of inputs that come both as they are and by rank, and how they are scaled to begin with. Where few
 * inputs matter, their ranks are in the way. */
typedef enum broad__start {
    BROAD__START_ALL,   /* all, alike */
    BROAD__START_PLAIN, /* inputs as they are, by their deviations */
    BROAD__START_REACH, /* and by how far they reach: those with a few values far out count for less */
    BROAD__START_UNITS, /* all; the levels of a column of categories count alike, in every metric */
    BROAD__START_PAIRS, /* all, by what each tells together with another one (feature/marginal.h) */
    BROAD__START_COUNT
} broad__start;
enum { BROAD__STARTS_PLAIN = 2 }; /* of them need inputs that come by rank, too */

/* Round by round, on the rows of the trials. */
typedef struct broad__configuring {
    broad_trainer *trainer;
    broad__trials *trials;
    broad__effort_sizes sizes;
    broad__metric metrics[BROAD__METRICS]; /* of this round: with all inputs, with fewer; and that of each by itself */
    broad__directions directions[BROAD__METRICS];
    size_t share_count;
    int marginal_known;
    broad__start start;
    size_t *unit;                           /* BROAD__START_UNITS: of each input the first of its column; else NULL */
    broad__metric learned[BROAD__KEPT + 1]; /* from the best attempt of this round; then from those of the last batch */
    int learned_known;                      /* there may be a further round */
    broad__choice choices[BROAD__CHOICES];  /* what is tried in it */
    size_t choice_count;
    broad__configurations found;
} broad__configuring;

/* The trials stay open as long as it is. */
int broad__configuring_open(broad__configuring *out, broad__trials *trials, const broad__effort_sizes *sizes,
                            broad__start start);
void broad__configuring_close(broad__configuring *configuring); /* accepts a zeroed one */
/* Round 0. start: these nodes and no others; NULL: as above. Where time is up, the best that was tried. */
int broad__configuring_first(broad__configuring *configuring, const broad__configuration *start);
int broad__configuring_next(broad__configuring *configuring);
/* Round 0 with few nodes and no more: found.least. */
int broad__configuring_screen(broad__configuring *configuring);

/* What is tried for it, with that many nodes. */
broad__attempt broad__configuration_attempt(const broad__configuration *c, const broad__directions *directions,
                                            size_t nodes);
/* The same with a range twice as large, and lambda where that is likely to want it. */
broad__configuration broad__configuration_steeper(const broad__configuration *c);
/* And what came of it: everything but the metric. */
broad__configuration broad__configuration_from(const broad__attempt *attempt);

#endif
