/*
 * Sums over the rows. Rows run in fixed shards (compute/shards.h) whose sums are added up in a fixed order, so every
 * result has the same bits for any number of threads.
 */
#ifndef BROAD_LAYER_SHARD_SUMS_H
#define BROAD_LAYER_SHARD_SUMS_H

#include "layer/residual.h"

/* Runs a job over the shards with `doubles` zeroed numbers per shard, then adds these up in *out (not owned). */
typedef void (*broad__shard_job)(void *context, size_t first, size_t end, double *sums, size_t worker);
int broad__shard_sums(double **out, broad__residual *residual, size_t doubles, broad__shard_job job, void *context);

/* What a rank adds to the sums of all: a count of those that were asked to stop. And what follows from that count. */
double broad__stop_count(void);
void broad__stop_agree(double count);

/* A pass is done with these rows: memory of those of their arrays that are spilled is released. */
void broad__residual_release(const broad__residual *residual, size_t first, size_t end);

#endif
