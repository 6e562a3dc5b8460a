#include "layer/pass.h"

#include <math.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/shard_sums.h"

/* E, and the probes where there are any, beside the block's rows of K: what changes by an update, and what sums are of. */
static size_t sides_of(broad__side out[BROAD__SIDES], const broad__pass *pass, const broad__row_block *block,
                       double *sum)
{
    const broad__residual *residual = pass->residual;
    const broad__deferred_update *update = &residual->update;
    size_t c = residual->outputs, probes = residual->probes.count, changed = update->pending && !sum;
    double *cross = sum ? sum + pass->gram : NULL;
    out[0] = (broad__side){residual->e + block->first * c, c, c, cross, changed ? update->w : NULL};
    if (!(changed ? update->probe_w != NULL : pass->probes)) return 1;
    out[1] = (broad__side){residual->probes.u + block->first * 2 * probes, 2 * probes, changed ? probes : 2 * probes,
                           cross ? cross + pass->cross : NULL, changed ? update->probe_w : NULL};
    return 2;
}

/* <U_0, U> of a block, added to its sum. */
static void add_inner(const broad__pass *pass, double *sum, const broad__row_block *block)
{
    const broad__residual *residual = pass->residual;
    size_t probes = residual->probes.count;
    if (!probes) return;
    const double *u = residual->probes.u + block->first * 2 * probes;
    residual->at->inner(sum, u, 2 * probes, u + probes, 2 * probes, block->n, probes);
}

/* E - K w for a block, and U likewise; adds its squared norm to sums[0], <U_0, U> to sums[1]. */
static void update_block(const broad__pass *pass, double *sums, const broad__row_block *block)
{
    broad__residual *residual = pass->residual;
    const broad__device *at = residual->at;
    const broad__deferred_update *update = &residual->update;
    size_t width = broad__kblock_width(&update->kblock);
    const double *k = NULL;
    broad__side sides[BROAD__SIDES];
    size_t count = sides_of(sides, pass, block, NULL);
    if (update->stored) {
        k = residual->candidate.k + block->first * width;
    } else {
        double *own = pass->blocks + block->worker * pass->step * width;
        broad__residual_columns(own, width, residual, &update->kblock, 1, block);
        k = own;
    }
    if (at->change) {
        at->change(sums, -1.0, k, width, sides, count, block->n);
    } else {
        broad__shift(at, sides[0].at, sums, NULL, sides[0].at, -1.0, k, block->n, update->w, width, sides[0].columns);
        if (count > 1)
            at->apply(sides[1].at, sides[1].stride, -1.0, k, width, block->n, sides[1].w, sides[1].columns, width,
                      sides[1].columns);
    }
    add_inner(pass, sums + 1, block);
}

/* A block of K, added to the candidate's sums. */
static void add_sums(const broad__pass *pass, double *sum, const double *k, const broad__row_block *block)
{
    const broad__residual *residual = pass->residual;
    const broad__device *device = residual->at;
    broad__side sides[BROAD__SIDES];
    size_t p = residual->candidate.width, count = sides_of(sides, pass, block, sum);
    const double *gram = pass->ready ? residual->far.ahead.gram : NULL;
    if (device->sums && !gram) {
        device->sums(sum, p, k, p, p, sides, count, block->n);
        return;
    }
    if (!gram) device->gram(sum, p, k, p, block->n, p);
    for (size_t i = 0; i < count; i++)
        device->cross(sides[i].cross, sides[i].columns, k, p, p, sides[i].at, sides[i].stride, sides[i].columns,
                      block->n);
}

/* One candidate's nodes for a block, unless they are there already, added to its sums. */
static void candidate_block(const broad__pass *pass, double *sum, const broad__kblock *kblocks,
                            const broad__row_block *block)
{
    broad__residual *residual = pass->residual;
    const broad__candidate *candidate = &residual->candidate;
    size_t p = candidate->width, count = pass->trials > 1 ? 1 : pass->count;
    double *k =
        candidate->stored ? candidate->k + block->first * p : candidate->k_blocks + block->worker * pass->step * p;
    if (pass->ready) k = residual->far.ahead.k + block->first * p;
    else broad__residual_columns(k, p, residual, kblocks, count, block);
    if (pass->gram) add_sums(pass, sum, k, block);
}

/* K'K of nodes that were computed ahead, in the place of that of their blocks. */
static void copy_gram(const broad__pass *pass, double *sum)
{
    const broad__residual *residual = pass->residual;
    const double *gram = residual->far.ahead.gram;
    size_t p = residual->candidate.width;
    if (pass->gram && gram) residual->at->copy(sum, p, gram, p, p, p);
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
    const broad__pass *pass = context;
    const broad__residual *residual = pass->residual;
    size_t each = pass->gram + pass->cross + pass->probes;
    double *squares = sums + pass->trials * each;
    broad__soon soon[BROAD__SOON];
    int needs_z = (pass->trials && !pass->ready) || !residual->update.stored;
    if (pass->ready && first < end) copy_gram(pass, sums);
    double row_flops = (double)each + 2.0 * (double)residual->candidate.width * (double)residual->z.features;
    for (size_t i = first; i < end && !broad__watch_look((double)pass->step * row_flops); i += pass->step) {
        broad__row_block block = {i, broad__min(end - i, pass->step), worker, NULL, soon, NULL};
        find_soon(soon, residual, i + block.n);
        if (needs_z) block.z = broad__residual_block(residual, i, block.n, worker).z;
        if (residual->update.pending) update_block(pass, squares, &block);
        for (size_t t = 0; t < pass->trials; t++) {
            block.packed = pass->packed ? pass->packed + t * BROAD__PACKED : NULL;
            candidate_block(pass, sums + t * each, pass->kblocks + t, &block);
        }
    }
    if (pass->ready) broad__far_take_ahead(pass->residual);
}

/* The weights of all kblocks are packed once, if the device reads them so, and not for every block of rows. */
static int pack_weights(broad__pass *pass)
{
    broad__residual *residual = pass->residual;
    size_t count = pass->trials > 1 ? pass->trials : pass->trials * pass->count;
    if (!residual->at->pack || pass->ready || !count) return BROAD_OK;
    int status = broad__reserve(&residual->packed, &residual->packed_capacity, count * BROAD__PACKED);
    int all = status == BROAD_OK;
    for (size_t i = 0; all && i < count; i++)
        all = residual->at->pack(residual->packed + i * BROAD__PACKED, &pass->kblocks[i].nodes);
    pass->packed = all ? residual->packed : NULL;
    return status;
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
    if (status == BROAD_OK) status = pack_weights(pass);
    if (status == BROAD_OK) status = broad__shard_sums(out, residual, numbers + 2, pass_shard, pass);
    broad__rows_free(residual, pass->blocks);
    if (status < 0 || !update->pending) return status;
    update->pending = 0;
    residual->norm = update->norm = sqrt((*out)[numbers]);
    if (residual->probes.count) residual->probes.inner = update->inner = (*out)[numbers + 1];
    return BROAD_OK;
}
