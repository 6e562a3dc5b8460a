/*
 * A network small enough to be tried several times: sampled feature nodes on some of the training rows, and one joint
 * ridge over them, whose leave-one-out norm is what trials are compared by.
 *
 * Nodes come in blocks and may be added to those that are there: M and its factor are brought up to date, so that the
 * norms of 100, 200, 400 ... nodes cost little more than that of the last of them.
 */
#ifndef BROAD_MODEL_TRAIN_TRIAL_H
#define BROAD_MODEL_TRAIN_TRIAL_H

#include "layer/joint.h"
#include "model/train/trainer.h"

enum { BROAD__TRIAL_BLOCKS = 32 };
/* Where the first search for lambda begins, as a power of ten of the mean eigenvalue. */
#define BROAD__TRIAL_EXPONENT (-4.0)

typedef struct broad__trial {
    broad_trainer *trainer;
    broad_data *rows;
    double *y;                /* rows x outputs */
    int borrowed;             /* the rows and targets are another trial's */
    size_t columns, capacity; /* of the scaled inputs; nodes at most */
    size_t nodes, blocks;     /* that are there */
    double *weight, *bias;    /* columns x capacity, capacity */
    double *z;                /* rows x capacity */
    double exponent;          /* of lambda: where the last search ended */
    int rough;                /* leave-one-out of fewer rows */
    int scores_alone;         /* no weights are wanted */
    double hopeless;          /* as a joint fit has it */
    broad__residual residual; /* Z as rows of the joint fit */
    broad__kblock kblocks[BROAD__TRIAL_BLOCKS];
    broad__joint joint;
} broad__trial;

/* How the nodes of a block are sampled. */
typedef struct broad__trial_block {
    broad__style style;
    double range;            /* as a multiple of the model's */
    const double *relevance; /* of the columns */
    const double *root;      /* of the metric; NULL: none */
    size_t nodes;
} broad__trial_block;

/* At most `rows` rows of the data, evenly spaced; no nodes yet. */
int broad__trial_open(broad__trial *out, broad_trainer *trainer, const broad_data *data, size_t rows, size_t capacity);
/* On the rows of another one, which stays open longer. */
int broad__trial_open_beside(broad__trial *out, const broad__trial *first);
void broad__trial_close(broad__trial *trial);   /* accepts a zeroed one */
void broad__trial_restart(broad__trial *trial); /* without nodes again */
/* The threads that it works with; those of the trainer to begin with. */
void broad__trial_use_pool(broad__trial *trial, broad__pool *pool);

/* A further block. Blocks of even numbers have one kind of direction, those of odd numbers another, as the groups of a
 * network have. */
int broad__trial_add(broad__trial *trial, const broad__trial_block *block);
/* Lambda and the leave-one-out norm of the nodes that are there: trial->joint. */
int broad__trial_fit(broad__trial *trial);

/* Rows that the leave-one-out norm is of. */
size_t broad__trial_judged(const broad__trial *trial);
/* The mean square of the leave-one-out residuals as a part of that of the targets. */
double broad__trial_error(const broad__trial *trial);
/* The square of each row's leave-one-out error, summed over the outputs; -1 for rows that have none. out: rows. Of classes
 * it is that of probabilities, with the slope that suits the scores best (metric/calibration.h): ridge regression draws
 * them together, and how much so says nothing about the nodes. */
int broad__trial_squares(double *out, const broad__trial *trial);
int broad__trial_mean_square(double *out, const broad__trial *trial); /* of these rows */

#endif
