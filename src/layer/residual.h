/*
 * The training rows as the layers see them, and the passes over them.
 *
 *   Z  rows x features   feature nodes, given from outside and not changed here
 *   E  rows x outputs    what the layers so far left over; E_0 = Y. Nobody outside layer/ touches it
 *   K  rows x width      inputs of the candidate layer at hand: some columns of Z, then H = xi(Z W + b)
 *   G = K'K, B = K'E     sums over the rows
 *
 * One pass serves a layer: block by block, while they are in the cache, E gets what the layer before left to be done, the
 * candidate's nodes are made and added to G and B. Whether K is kept until the next pass, which reads it once more to bring E
 * up to date, or made again there, is a matter of memory against time; the numbers are the same.
 *
 * Rows run in fixed shards (compute/shards.h), so every result has the same bits for any number of threads.
 */
#ifndef BROAD_LAYER_RESIDUAL_H
#define BROAD_LAYER_RESIDUAL_H

#include "base/spill.h"
#include "broad/broad.h"
#include "compute/device.h"
#include "compute/pool.h"

/* The columns that one layer brings: `prefix` columns of Z from `first` on, then its nodes on Z. */
typedef struct broad__kblock {
    broad__nodes nodes;
    size_t first, prefix;
} broad__kblock;

/* Makes Z of n rows from `first` on, at most BROAD__BLOCK_ROWS; out: n x features. Called from any thread, as worker number
 * `worker` of the pool. Each row's numbers are the same whatever rows they are made with. */
typedef void (*broad__z_maker)(void *context, double *out, size_t first, size_t n, size_t worker);

typedef struct broad__residual {
    const broad__device *device; /* not owned */
    broad__pool *pool;           /* not owned */
    size_t rows, outputs;
    const double *z; /* rows x features; not owned. NULL: made again block by block */
    size_t features;
    broad__z_maker make_z; /* where z is NULL */
    void *z_context;
    double *z_blocks; /* a block of Z for each worker, where z is NULL */
    size_t z_blocks_room;
    const double
        *sqrt_weight; /* rows: root of what each row counts, K and E are multiplied by it; NULL: 1. Not owned */
    const double *
        sqrt_segment_weight; /* rows: the part of `sqrt_weight` that leave-one-out does not count; NULL: 1. Not owned */
    const size_t
        *group; /* rows: a number, the same for rows that leave-one-out must leave out together; NULL: none. Not
                            owned */

    broad__spill *spill; /* where E and next lie, and z if it is stored; NULL: memory. Not owned */
    double *e, *next;    /* rows x outputs: the residual, and what a candidate would make of it */
    double norm;         /* ||E||; while an update is deferred what it will be, from the sums */

    size_t width;        /* columns of K */
    int single;          /* nodes are in single precision, and G may be added up in it where that serves */
    int dual;            /* fewer rows than columns: work with KK' instead of K'K */
    int keep_k;          /* K may be kept; otherwise it is made again where that can be done */
    int stored;          /* K is there as it stands; otherwise it is made again from `piece` */
    broad__kblock piece; /* of the candidate at hand, if it has one piece */
    double *k;           /* rows x width, if stored */
    double *k_blocks;    /* a block of K for each worker, if not */
    double *matrix;      /* K'K (width x width), or the upper triangle of KK' (rows x rows) */
    double *cross;       /* K'E, width x outputs; not made in the dual case */
    double *scratch;     /* shard sums */
    double *trials;      /* sums of several candidates */
    size_t k_room, k_blocks_room, matrix_room, cross_room, scratch_room, trials_room;

    /* An update of E that rides on the next pass: E - K w, with K as it was stored, or of `update`. */
    int deferred;
    int update_stored;
    broad__kblock update;
    const double *update_w; /* not owned */
    double settled;         /* ||E|| after the last such update */
} broad__residual;

/* No rows yet: they come with broad__residual_append(). */
int broad__residual_open(broad__residual *out, const broad__device *device, broad__pool *pool, size_t outputs);
void broad__residual_close(broad__residual *rows); /* accepts a zeroed one */
/* The candidate at hand and its sums are not needed any more; the next one makes room again. No update may be deferred. */
void broad__residual_forget(broad__residual *rows);

size_t broad__kblock_width(const broad__kblock *piece);
/* To be called before the passes, on the caller's thread: room for Z where it is made again. */
int broad__residual_ready(broad__residual *rows);
/* Z of n rows from `first` on, at most BROAD__BLOCK_ROWS: stored, or made again in the worker's own space, which stays until
 * the worker asks for other rows. */
const double *broad__residual_z(const broad__residual *rows, size_t first, size_t n, size_t worker);
/* Columns of K of the pieces, side by side, for n rows from `first` on, at most BROAD__BLOCK_ROWS; any thread. */
void broad__residual_pieces(double *out, size_t stride, const broad__residual *rows, const broad__kblock *pieces,
                            size_t count, size_t first, size_t n, size_t worker);

/* K of n rows from `first` on, at most BROAD__BLOCK_ROWS, width apart: stored, or made again in the worker's own space. */
const double *broad__residual_k(const broad__residual *rows, size_t first, size_t n, size_t worker);

/* K = [pieces] and the sums. The pieces' weights must stay until the next candidate. */
int broad__residual_candidate(broad__residual *rows, const broad__kblock *pieces, size_t count);

/* Whether the G of a candidate of this width is added up in single precision: with roots K does not fit it. */
int broad__residual_single(const broad__residual *rows, size_t width);
enum { BROAD__TOGETHER = 3 };
/* Of so many rows and columns, how many candidates may go into one pass: their sums, in every shard, must not take more room
 * than K. 1 in the dual form and for wide ones, whose sums are not made shard by shard. */
size_t broad__residual_together(size_t rows, size_t width);
/* The sums of several candidates of one piece each, all of one width, in one pass. */
int broad__residual_trials(broad__residual *rows, const broad__kblock *trials, size_t count);
/* Number i of them is the candidate at hand. */
void broad__residual_take(broad__residual *rows, const broad__kblock *trial, size_t i);

/* Computes K alone and stores it, for what is already settled: no sums. */
int broad__residual_nodes(broad__residual *rows, const broad__kblock *pieces, size_t count);

/* The candidate at hand, which has one piece, is kept: E becomes E - K w with the next pass, and its norm is about `norm`.
 * piece and w must stay until then. */
void broad__residual_defer(broad__residual *rows, const broad__kblock *piece, const double *w, double norm);
/* Carries that out now, if it has not been done. */
int broad__residual_settle(broad__residual *rows);
/* E = E - K w for a piece whose w is known; w: its width x outputs. */
int broad__residual_follow(broad__residual *rows, const broad__kblock *piece, const double *w);

/* Further rows with their residual (count x outputs); rows->z must be set again before the next pass. */
int broad__residual_append(broad__residual *rows, const double *e, size_t count);
/* E = e, rows x outputs. */
int broad__residual_reset(broad__residual *rows, const double *e);
/* The rows of `more`, after these; what it has of them may be taken over, and it is then to be closed. */
int broad__residual_join(broad__residual *rows, broad__residual *more);
/* How many of `count` rows from `first` on are given their class: Y - E is largest there, with Y 1 for it and else 0; both
 * times the row's root. */
size_t broad__residual_right(const broad__residual *rows, size_t first, const size_t *classes, size_t count);
/* Further outputs, zero in every row. */
int broad__residual_widen(broad__residual *rows, size_t outputs);

/* next = E + sign K w; returns its norm. */
double broad__residual_shift(broad__residual *rows, double sign, const double *w);
/* next = E - K w; returns its norm. w: width x outputs */
double broad__residual_next(broad__residual *rows, const double *w);
/* The same, and out = K' next, in one pass. */
int broad__residual_next_cross(double *out, double *out_norm, broad__residual *rows, const double *w);
/* out = K' next */
int broad__residual_cross_next(double *out, broad__residual *rows);
/* next = E */
void broad__residual_keep(broad__residual *rows);

/* The candidate is kept: E = next, whose norm is given. */
void broad__residual_commit(broad__residual *rows, double norm);

/* Runs a job over the shards with `doubles` numbers of zeroed space a shard, then adds these up in *out (not owned). */
typedef void (*broad__shard_job)(void *context, size_t first, size_t end, double *sums, size_t worker);
int broad__residual_sum(double **out, broad__residual *rows, size_t doubles, broad__shard_job job, void *context);

#endif
