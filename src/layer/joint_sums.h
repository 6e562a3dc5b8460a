/* A of a joint fit, and M with what belongs to it of A'Y: sums over the rows, added up in tiles or in shards. */
#ifndef BROAD_LAYER_JOINT_SUMS_H
#define BROAD_LAYER_JOINT_SUMS_H

#include "layer/joint.h"

/* Rows [first, end) of A, only the columns of these kblocks. */
typedef struct broad__joint_filling {
    const broad__residual *residual;
    const broad__kblock *kblocks;
    size_t count;
    size_t first, end;
    double *out; /* where they go, `stride` numbers apart */
    size_t stride;
} broad__joint_filling;

void broad__joint_fill(broad__joint_filling filling);
/* The first row of A where A is what is stored as Z, the others z.features numbers apart; NULL: it must be filled in. */
const double *broad__joint_stored(const broad__joint_task *task);
/* M += A'A and A'Y over these rows, in the columns from `from` on of them. */
int broad__joint_add(broad__joint *joint, const broad__joint_task *task, size_t first, size_t end, size_t from);
/* M += AA' over the columns of A from `column` on; in the rows of M from `from` on. */
int broad__joint_add_dual(broad__joint *joint, const broad__joint_task *task, size_t column, size_t from);

/* Numbers of a band of M, unless M is large. Changed by tests alone. */
extern size_t broad__joint_band;

/* Numbers that a fit of this size holds at most, for plans. */
typedef struct broad__joint_extent {
    size_t rows, columns, outputs, features, threads;
    int loo;      /* leave-one-out, for its own sake or for lambda */
    int spectral; /* lambda may be lost in rounding beside M */
    int spare;    /* the factor of another lambda is kept */
} broad__joint_extent;
double broad__joint_numbers(const broad__joint_extent *extent);
/* Sums over many rows that columns from `from` on take, one after the other, and the numbers of all of them; for plans. */
void broad__joint_sums_needed(size_t *out_sums, double *out_numbers, size_t columns, size_t from, size_t outputs);

#endif
