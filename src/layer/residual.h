/*
 * The training rows as the layers see them, and their residual.
 *
 *   Z  rows x features   feature nodes, given from outside and not changed here (layer/z_supply.h)
 *   E  rows x outputs    residual of the layers so far; E_0 = Y. Nothing outside layer/ changes it
 *   K  rows x width      inputs of the candidate layer (layer/candidate.h)
 *
 * An update of E may wait for the next pass over the rows (layer/deferred_update.h, layer/pass.h).
 */
#ifndef BROAD_LAYER_RESIDUAL_H
#define BROAD_LAYER_RESIDUAL_H

#include <stdint.h>

#include "base/spill.h"
#include "broad/broad.h"
#include "compute/device.h"
#include "compute/pool.h"
#include "layer/candidate.h"
#include "layer/deferred_update.h"
#include "layer/far_rows.h"
#include "layer/probes.h"
#include "layer/z_supply.h"

typedef struct broad__residual {
    const broad__device *device; /* not owned */
    const broad__device *at;     /* where E and K lie: `device`, or its far side (layer/far_rows.h). Not owned */
    broad__pool *pool;           /* not owned */
    size_t rows, outputs;
    /* Passes are shared out over the ranks of the call (comm/comm.h): E, next, K, the probes and Z, where it is stored, are
     * those of this rank's own rows alone. */
    int divided;
    /* Root of what each row counts, which K and E are multiplied by; NULL: 1. Not owned. */
    const double *sqrt_weight;
    /* The part of `sqrt_weight` that leave-one-out does not count; NULL: 1. Not owned. */
    const double *sqrt_segment_weight;
    /* A number per row, the same for rows that leave-one-out must leave out together; NULL: none. Not owned. */
    const size_t *group;
    /* A number per row that follows from what it holds, not from where it lies: rows are sampled by it, so that their order
     * does not matter. NULL: they are sampled as they lie. Not owned. */
    const uint64_t *key;

    broad__spill *spill; /* where E and next lie, and Z if it is stored; NULL: memory. Not owned */
    double *e, *next;    /* rows x outputs: the residual, and what a candidate would make of it */
    double norm;         /* ||E||; while an update is pending what it will be, from the sums */
    double *shard_sums;
    size_t shard_sums_capacity;
    double *packed; /* weights of the nodes of a pass, as the device reads them */
    size_t packed_capacity;

    broad__far_rows far; /* while they lie there */

    /* Called once, by any thread, during the next pass and then forgotten; NULL: nothing to do. */
    int (*meanwhile)(void *context);
    void *meanwhile_context;

    broad__probes probes; /* what follows the targets through a chain that is judged by its degrees of freedom */
    broad__z_supply z;
    broad__candidate candidate;
    broad__deferred_update update;
} broad__residual;

/* No rows yet: they come with broad__residual_append(). */
int broad__residual_open(broad__residual *out, const broad__device *device, broad__pool *pool, size_t outputs);
void broad__residual_close(broad__residual *residual); /* accepts a zeroed one */
/* Releases the candidate and its sums; the next one allocates them again. No update may be pending. */
void broad__residual_forget(broad__residual *residual);

/* Further rows with their residual (count x outputs); Z must be set again before the next pass. */
int broad__residual_append(broad__residual *residual, const double *e, size_t count);
/* E = e, rows x outputs. */
int broad__residual_reset(broad__residual *residual, const double *e);
/* The rows of `more`, after these; its arrays may be taken over, and it is then to be closed. */
int broad__residual_join(broad__residual *residual, broad__residual *more);
/* Further outputs, zero in every row. */
int broad__residual_widen(broad__residual *residual, size_t outputs);
/* Where it is divided: E and the probes of all rows. No update may be pending. */
int broad__residual_gather(broad__residual *residual);
int broad__residual_gather_next(broad__residual *residual); /* where it is divided: next of all rows */
/* All that the rows have, on every rank, which then goes through all of them itself: for what is not shared out. */
int broad__residual_undivide(broad__residual *residual);
/* How many of `count` rows from `first` on are classified correctly: Y - E is largest in their class, with Y 1 there
 * and 0 elsewhere; both times the row's root. */
size_t broad__residual_correct(const broad__residual *residual, size_t first, const size_t *classes, size_t count);

/* Rows that the passes take at a time where they are `width` numbers wide: BROAD__BLOCK_ROWS, or many far away. */
size_t broad__residual_step(const broad__residual *residual, size_t width);

/* Rows [first, first + n), at most as many as the passes take, as a worker of the pool sees them. */
typedef struct broad__row_block {
    size_t first, n, worker;
    const double *z;         /* n x features; NULL: not needed */
    const broad__soon *soon; /* what is read with the next one (compute/device.h); NULL: not known */
    const double *packed;    /* weights of the kblocks, BROAD__PACKED numbers each; NULL: as they are */
} broad__row_block;

/* With its Z, which stays until the worker asks for another block. */
broad__row_block broad__residual_block(const broad__residual *residual, size_t first, size_t n, size_t worker);
/* Columns of K of the kblocks, side by side; any thread. */
void broad__residual_columns(double *out, size_t stride, const broad__residual *residual, const broad__kblock *kblocks,
                             size_t count, const broad__row_block *block);

/* `shift` of the device, or what it stands for. */
void broad__shift(const broad__device *at, double *out, double *squares, double *cross, const double *e, double sign,
                  const double *k, size_t rows, const double *w, size_t p, size_t c);
/* next = E + sign K w; returns its norm. w: width x outputs */
double broad__residual_shift(broad__residual *residual, double sign, const double *w);
/* next = E - K w; returns its norm. */
double broad__residual_next(broad__residual *residual, const double *w);
/* The same, and out = K' next, in one pass. */
int broad__residual_next_cross(double *out, double *out_norm, broad__residual *residual, const double *w);
/* out = K' next */
int broad__residual_cross_next(double *out, broad__residual *residual);
/* next = E */
void broad__residual_next_unchanged(broad__residual *residual);
/* E = next, whose norm is given: the candidate is accepted. */
void broad__residual_commit(broad__residual *residual, double norm);

/* Whether an array of a x b numbers can exist, with each extent within an int. */
int broad__residual_size_fits(size_t a, size_t b);

#endif
