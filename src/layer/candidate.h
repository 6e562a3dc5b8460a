/*
 * A candidate layer: its K, and the sums over the rows that a ridge regression on it needs.
 *
 *   K  rows x width     some columns of Z, then the candidate's nodes H = xi(Z W + b); times the rows' roots
 *   G = K'K, B = K'E    the sums; with more columns than rows KK' in place of G, and no B
 *
 * Whether K is stored until the next pass, which reads it once more to update E, or recomputed there, is a matter of
 * memory against time; the numbers are the same.
 */
#ifndef BROAD_LAYER_CANDIDATE_H
#define BROAD_LAYER_CANDIDATE_H

#include "layer/kblock.h"

struct broad__residual; /* layer/residual.h: the rows, and E */

typedef struct broad__candidate {
    size_t width;         /* columns of K */
    int dual;             /* fewer rows than columns: KK' instead of K'K */
    int recompute;        /* K is recomputed where that can be done, to save memory */
    int stored;           /* K is stored; otherwise it is recomputed from `kblock` */
    broad__kblock kblock; /* of a candidate that has one */
    double *k;            /* rows x width, if stored */
    double *k_blocks;     /* a block of K per worker, if not */
    double *matrix;       /* K'K (width x width), or KK' (rows x rows) */
    double *cross;        /* K'E, width x outputs; not computed in the dual form */
    double *probes;       /* K'[U | U_0], width x twice the probes; likewise */
    double *trials;       /* sums of several candidates */
    size_t k_capacity, k_blocks_capacity, matrix_capacity, cross_capacity, probes_capacity, trials_capacity;
} broad__candidate;

/* K = [kblocks] and the sums. The weights of the nodes must stay until the next candidate. */
int broad__candidate_compute(struct broad__residual *residual, const broad__kblock *kblocks, size_t count);
/* K alone, stored, without sums: for layers whose weights are known. */
int broad__candidate_nodes(struct broad__residual *residual, const broad__kblock *kblocks, size_t count);

enum { BROAD__TOGETHER = 3 };
/* How many candidates may go into one pass over this many rows: their sums, in every shard, must not take more memory
 * than K. 1 in the dual form and for wide candidates, whose sums are not added up shard by shard. */
size_t broad__candidate_together(size_t rows, size_t width, size_t probes);
/* The sums of several candidates of one kblock each, all of one width, in one pass. */
int broad__candidate_trials(struct broad__residual *residual, const broad__kblock *trials, size_t count);
/* Number i of them becomes the candidate. */
void broad__candidate_take(struct broad__residual *residual, const broad__kblock *trial, size_t i);

/* Numbers of G, of a candidate with fewer columns than rows, that are added up over the shards; 0: it has none. */
size_t broad__candidate_shared(size_t rows, size_t width);

/* K of n rows from `first` on, at most BROAD__BLOCK_ROWS, width apart: stored, or recomputed in the worker's own block.
 * */
const double *broad__candidate_k(const struct broad__residual *residual, size_t first, size_t n, size_t worker);
/* Its matrix, which the caller owns from now on. */
double *broad__candidate_take_matrix(broad__candidate *candidate);
/* Releases its memory; how candidates are computed stays. */
void broad__candidate_clear(struct broad__residual *residual);

#endif
