#include "layer/shard_sums.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"

enum { SLICE = 4096 }; /* numbers of the shard sums that one thread adds up at a time */

typedef struct shard_run {
    broad__residual *residual;
    broad__shard_job job;
    void *context;
    size_t doubles;
} shard_run;

/* Rows of spilled arrays that are processed before they are released: whole blocks, about a megabyte of E. */
static size_t stretch(const broad__residual *residual)
{
    size_t blocks = ((size_t)1 << 20) / (residual->outputs * sizeof(double)) / BROAD__BLOCK_ROWS;
    return (blocks < 64 ? 64 : blocks) * BROAD__BLOCK_ROWS;
}

void broad__residual_release(const broad__residual *residual, size_t first, size_t end)
{
    size_t bytes = (end - first) * sizeof(double);
    if (!residual->spill) return;
    broad__spill_done(residual->spill, residual->e + first * residual->outputs, bytes * residual->outputs);
    broad__spill_done(residual->spill, residual->next + first * residual->outputs, bytes * residual->outputs);
    const broad__probes *probes = &residual->probes;
    if (probes->count) {
        broad__spill_done(residual->spill, probes->u + first * 2 * probes->count, bytes * 2 * probes->count);
        broad__spill_done(residual->spill, probes->next + first * probes->count, bytes * probes->count);
    }
    const broad__z_supply *z = &residual->z;
    if (z->stored) broad__spill_done(residual->spill, z->stored + first * z->features, bytes * z->features);
}

static void shard_run_one(void *context, size_t shard, size_t worker)
{
    shard_run *run = context;
    size_t first, end;
    broad__shard_rows(&first, &end, shard, run->residual->rows);
    double *sums = run->residual->shard_sums + shard * run->doubles;
    memset(sums, 0, run->doubles * sizeof(double));
    size_t step = run->residual->spill ? stretch(run->residual) : end - first;
    for (size_t i = first; i < end && !broad__watch_stopped(); i += step) {
        size_t stop = end - i < step ? end : i + step;
        run->job(run->context, i, stop, sums, worker);
        broad__residual_release(run->residual, i, stop);
    }
}

/* The tree, for a slice of the sums: each number has a tree of its own. */
static void add_slice(void *context, size_t slice, size_t worker)
{
    (void)worker;
    shard_run *run = context;
    size_t at = slice * SLICE, length = run->doubles - at < SLICE ? run->doubles - at : SLICE;
    broad__tree_sum(run->residual->shard_sums + at, broad__shard_count(run->residual->rows), run->doubles, length);
}

int broad__shard_sums(double **out, broad__residual *residual, size_t doubles, broad__shard_job job, void *context)
{
    size_t shards = broad__shard_count(residual->rows), count;
    if (broad__multiply(&count, shards, doubles) < 0) return broad__fail_memory(SIZE_MAX);
    int status = broad__reserve(&residual->shard_sums, &residual->shard_sums_capacity, count);
    if (status < 0) return status;
    shard_run run = {residual, job, context, doubles};
    broad__pool_run_stretches(residual->pool, shards, shard_run_one, &run);
    broad__pool_run(residual->pool, (doubles + SLICE - 1) / SLICE, add_slice, &run);
    *out = residual->shard_sums;
    return broad__watch_check(BROAD_OK);
}

double broad__sum_of_squares(const double *values, size_t count)
{
    double parts[8] = {0}; /* side by side, so that the additions need not wait for each other */
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t j = 0; j < 8; j++) parts[j] += values[i + j] * values[i + j];
    for (size_t j = 0; i < count; i++, j++) parts[j] += values[i] * values[i];
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}
