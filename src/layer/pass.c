#include "layer/pass.h"

#include <math.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/shard_sums.h"

/* E - K w for a block, and U likewise; adds its squared norm to sums[0], <U_0, U> to sums[1]. */
static void update_block(const broad__pass *pass, double *sums, const broad__row_block *block)
{
    broad__residual *residual = pass->residual;
    const broad__deferred_update *update = &residual->update;
    size_t c = residual->outputs, width = broad__kblock_width(&update->kblock);
    double *e = residual->e + block->first * c;
    const double *k = residual->candidate.k + block->first * width;
    if (!update->stored) {
        double *own = pass->blocks + block->worker * pass->step * width;
        broad__residual_columns(own, width, residual, &update->kblock, 1, block);
        k = own;
    }
    broad__shift(residual->at, e, sums, NULL, e, -1.0, k, block->n, update->w, width, c);
    size_t probes = residual->probes.count;
    if (!probes) return;
    double *u = residual->probes.u + block->first * 2 * probes;
    if (update->probe_w)
        residual->at->apply(u, 2 * probes, -1.0, k, width, block->n, update->probe_w, probes, width, probes);
    residual->at->inner(sums + 1, u, 2 * probes, u + probes, 2 * probes, block->n, probes);
}

/* One candidate's nodes for a block, added to its sums. */
static void candidate_block(const broad__pass *pass, double *sum, const broad__kblock *kblocks,
                            const broad__row_block *block)
{
    broad__residual *residual = pass->residual;
    const broad__candidate *candidate = &residual->candidate;
    const broad__device *device = residual->at;
    size_t p = candidate->width, c = residual->outputs, count = pass->trials > 1 ? 1 : pass->count;
    double *k =
        candidate->stored ? candidate->k + block->first * p : candidate->k_blocks + block->worker * pass->step * p;
    broad__residual_columns(k, p, residual, kblocks, count, block);
    if (!pass->gram) return;
    const double *e = residual->e + block->first * c;
    if (device->sums) device->sums(sum, p, sum + pass->gram, c, k, p, p, e, c, c, block->n);
    if (!device->sums) device->gram(sum, p, k, p, block->n, p);
    if (!device->sums) device->cross(sum + pass->gram, c, k, p, p, e, c, c, block->n);
    size_t probes = 2 * residual->probes.count;
    if (pass->probes)
        device->cross(sum + pass->gram + pass->cross, probes, k, p, p, residual->probes.u + block->first * probes,
                      probes, probes, block->n);
}

static broad__soon soon_of(const double *rows, size_t first, size_t n, size_t width)
{
    return rows ? (broad__soon){rows + first * width, n * width} : (broad__soon){NULL, 0};
}

/* What the block from `first` on reads: Z, and K of the update, which is also where the candidate's K goes. */
static void find_soon(broad__soon out[BROAD__SOON], const broad__residual *residual, size_t first)
{
    const broad__candidate *candidate = &residual->candidate;
    size_t n = broad__min(residual->rows - first, BROAD__BLOCK_ROWS);
    if (residual->at->memory) n = 0;
    out[0] = soon_of(residual->z.stored, first, n, residual->z.features);
    out[1] = soon_of(candidate->stored ? candidate->k : NULL, first, n, candidate->width);
}

/* While a block of the rows is in the cache: all that is to be done with it. */
static void pass_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    broad__pass *pass = context;
    const broad__residual *residual = pass->residual;
    size_t each = pass->gram + pass->cross + pass->probes;
    double *squares = sums + pass->trials * each;
    broad__soon soon[BROAD__SOON];
    int needs_z = pass->trials || !residual->update.stored;
    double row_flops = (double)each + 2.0 * (double)residual->candidate.width * (double)residual->z.features;
    for (size_t i = first; i < end && !broad__watch_look((double)pass->step * row_flops); i += pass->step) {
        broad__row_block block = {i, broad__min(end - i, pass->step), worker, NULL, soon};
        find_soon(soon, residual, i + block.n);
        if (needs_z) block.z = broad__residual_block(residual, i, block.n, worker).z;
        if (residual->update.pending) update_block(pass, squares, &block);
        for (size_t t = 0; t < pass->trials; t++) candidate_block(pass, sums + t * each, pass->kblocks + t, &block);
    }
}

int broad__pass_run(double **out, broad__pass *pass)
{
    broad__residual *residual = pass->residual;
    broad__deferred_update *update = &residual->update;
    size_t numbers = pass->trials * (pass->gram + pass->cross + pass->probes);
    int again = update->pending && !update->stored;
    size_t width = again ? broad__kblock_width(&update->kblock) : 0;
    pass->step = broad__residual_step(residual, broad__max(residual->candidate.width, width));
    int status = broad__rows_ready(residual, pass->step);
    if (status == BROAD_OK && again) status = broad__rows_alloc(&pass->blocks, residual, pass->step, width);
    if (status == BROAD_OK) status = broad__shard_sums(out, residual, numbers + 2, pass_shard, pass);
    broad__rows_free(residual, pass->blocks);
    if (status < 0 || !update->pending) return status;
    update->pending = 0;
    residual->norm = update->norm = sqrt((*out)[numbers]);
    if (residual->probes.count) residual->probes.inner = update->inner = (*out)[numbers + 1];
    return BROAD_OK;
}
