/*
 * Sums over the rows that take much memory: of wide layers, and of joint weights. They are added up in the same shards and the
 * same tree as others (layer/shard_sums.h), but one shard after the other, with all threads at work on it, and the tree
 * adds two parts as soon as both are there: so few of them are in memory at a time.
 */
#ifndef BROAD_LAYER_WIDE_SUMS_H
#define BROAD_LAYER_WIDE_SUMS_H

#include "layer/residual.h"

/* Fewer rows than these have one sum, from the first row to the last: adding the sums of shards, and computing nodes again
 * for each band of a large M, took a fifth of the time with 60,000. Changed by tests alone. */
extern size_t broad__wide_least_rows;

int broad__wide_has_shards(size_t rows);
/* Sums that are in memory at a time, at most, while those of so many shards are added up. */
size_t broad__wide_parts(size_t shards);

/* Adds rows [first, end) to the sums; on the thread of the call, which may use the pool. */
typedef void (*broad__wide_job)(void *context, size_t first, size_t end, double *sums);
/* *out: as many numbers, to be freed. */
int broad__wide_sums(double **out, const broad__residual *residual, size_t numbers, broad__wide_job job, void *context);

#endif
