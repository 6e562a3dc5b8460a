#include "layer/residual.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "layer/shard_sums.h"

int broad__residual_size_fits(size_t a, size_t b)
{
    size_t product;
    return a <= INT_MAX && b <= INT_MAX && broad__multiply(&product, a, b) == 0 && product <= SIZE_MAX / 64;
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static void norm_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    (void)worker;
    broad__residual *residual = context;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        residual->at->squares(sums, residual->e + i * residual->outputs, n * residual->outputs);
    }
}

static int measure(broad__residual *residual)
{
    double *sum = NULL;
    int status = broad__shard_sums(&sum, residual, 1, norm_shard, residual);
    if (status == BROAD_OK) residual->norm = sqrt(sum[0]);
    return status;
}

int broad__residual_open(broad__residual *out, const broad__device *device, broad__pool *pool, size_t outputs)
{
    *out = (broad__residual){.device = device, .at = device, .pool = pool, .outputs = outputs};
    return BROAD_OK;
}

static double *alloc_rows(broad__residual *residual, size_t count, size_t outputs)
{
    return broad__spill_alloc(residual->spill, count * outputs, sizeof(double));
}

/* `count` numbers, each of which may be spilled. */
static void copy_numbers(const broad__residual *residual, double *to, const double *from, size_t count)
{
    size_t step = residual->spill ? (size_t)1 << 17 : count;
    for (size_t i = 0; i < count; i += step) {
        size_t n = count - i < step ? count - i : step;
        memcpy(to + i, from + i, n * sizeof(double));
        broad__spill_done(residual->spill, to + i, n * sizeof(double));
        broad__spill_done(residual->spill, from + i, n * sizeof(double));
    }
}

/* Puts fresh arrays of rows x outputs in place; the old E has been copied into `e`. */
static int replace_residual(broad__residual *residual, double *e, size_t count, size_t outputs)
{
    double *next = alloc_rows(residual, count, outputs);
    if (!e || !next) {
        broad__spill_free(residual->spill, e);
        broad__spill_free(residual->spill, next);
        return BROAD_NO_MEMORY;
    }
    broad__spill_free(residual->spill, residual->e);
    broad__spill_free(residual->spill, residual->next);
    residual->e = e;
    residual->next = next;
    residual->rows = count;
    residual->outputs = outputs;
    return measure(residual);
}

int broad__residual_append(broad__residual *residual, const double *e, size_t count)
{
    size_t total = residual->rows + count;
    if (!broad__residual_size_fits(total, residual->outputs)) return broad__fail_memory(SIZE_MAX);
    double *joined = alloc_rows(residual, total, residual->outputs);
    if (joined && residual->rows) copy_numbers(residual, joined, residual->e, residual->rows * residual->outputs);
    if (joined) copy_numbers(residual, joined + residual->rows * residual->outputs, e, count * residual->outputs);
    return replace_residual(residual, joined, total, residual->outputs);
}

int broad__residual_reset(broad__residual *residual, const double *e)
{
    copy_numbers(residual, residual->e, e, residual->rows * residual->outputs);
    return measure(residual);
}

/* An array of the rows; NULL: there is none. */
static int share(const broad__residual *residual, double *array, size_t columns)
{
    return array && columns ? broad__comm_share(array, residual->rows, columns * sizeof *array) : BROAD_OK;
}

int broad__residual_gather(broad__residual *residual)
{
    if (!residual->divided) return BROAD_OK;
    int status = broad__far_fetch(residual);
    if (status == BROAD_OK) status = share(residual, residual->e, residual->outputs);
    return status == BROAD_OK ? share(residual, residual->probes.u, 2 * residual->probes.count) : status;
}

int broad__residual_gather_next(broad__residual *residual)
{
    return residual->divided ? share(residual, residual->next, residual->outputs) : BROAD_OK;
}

int broad__residual_undivide(broad__residual *residual)
{
    const broad__candidate *candidate = &residual->candidate;
    if (!residual->divided) return BROAD_OK;
    int status = broad__residual_gather(residual);
    if (status == BROAD_OK) status = broad__residual_gather_next(residual);
    if (status == BROAD_OK) status = share(residual, residual->probes.next, residual->probes.count);
    if (status == BROAD_OK && candidate->stored) status = share(residual, candidate->k, candidate->width);
    /* Passes do not change Z; its other rows are only now filled in. */
    if (status == BROAD_OK) status = share(residual, (double *)residual->z.stored, residual->z.features);
    residual->divided = status < 0;
    return status;
}

int broad__residual_join(broad__residual *residual, broad__residual *more)
{
    int status = residual->rows ? broad__residual_gather(more) : BROAD_OK;
    if (status == BROAD_OK && residual->probes.wanted)
        status = broad__probes_join(&residual->probes, residual->rows, &more->probes, more->rows, residual->spill);
    if (status < 0 || residual->rows)
        return status < 0 ? status : broad__residual_append(residual, more->e, more->rows);
    residual->divided = more->divided;
    broad__spill_free(residual->spill, residual->e);
    broad__spill_free(residual->spill, residual->next);
    residual->e = more->e;
    residual->next = more->next;
    residual->rows = more->rows;
    residual->norm = more->norm;
    more->e = more->next = NULL;
    return BROAD_OK;
}

size_t broad__residual_correct(const broad__residual *residual, size_t first, const size_t *classes, size_t count)
{
    size_t correct = 0;
    for (size_t i = 0; i < count; i++) {
        const double *e = residual->e + (first + i) * residual->outputs;
        double one = residual->sqrt_weight ? residual->sqrt_weight[first + i] : 1;
        size_t truth = classes[i], best = 0;
        for (size_t c = 1; c < residual->outputs; c++)
            if ((c == truth) * one - e[c] > (best == truth) * one - e[best]) best = c;
        correct += best == truth;
    }
    return correct;
}

int broad__residual_widen(broad__residual *residual, size_t outputs)
{
    if (!broad__residual_size_fits(residual->rows, outputs)) return broad__fail_memory(SIZE_MAX);
    double *widened = alloc_rows(residual, residual->rows, outputs);
    for (size_t i = 0; widened && i < residual->rows; i++)
        memcpy(widened + i * outputs, residual->e + i * residual->outputs, residual->outputs * sizeof(double));
    return replace_residual(residual, widened, residual->rows, outputs);
}

void broad__residual_forget(broad__residual *residual)
{
    broad__candidate_clear(residual);
    broad__free(residual->shard_sums);
    residual->shard_sums = NULL;
    residual->shard_sums_capacity = 0;
    broad__free(residual->packed);
    residual->packed = NULL;
    residual->packed_capacity = 0;
}

void broad__residual_close(broad__residual *residual)
{
    broad__far_rows_drop(residual);
    broad__residual_forget(residual);
    broad__spill_free(residual->spill, residual->e);
    broad__spill_free(residual->spill, residual->next);
    broad__probes_close(&residual->probes, residual->spill);
    broad__z_supply_clear(&residual->z);
    memset(residual, 0, sizeof *residual);
}

/* ---- columns of K ---------------------------------------------------------------------------------------------- */

size_t broad__residual_step(const broad__residual *residual, size_t width)
{
    const broad__memory *memory = residual->at->memory;
    size_t widest = broad__max(width, broad__max(residual->z.features, 1));
    return memory ? broad__max(memory->block / widest, BROAD__BLOCK_ROWS) : BROAD__BLOCK_ROWS;
}

static const double *z_rows(const broad__residual *residual, size_t first, size_t n, size_t worker)
{
    const broad__far_rows *far = &residual->far;
    if (far->z) return far->z + first * residual->z.features;
    if (residual->at->memory) {
        const broad__far_inputs *inputs = &far->inputs;
        if (far->x) inputs->make(inputs->context, residual->at, far->block, far->x + first * inputs->columns, n);
        else far->make(far->context, far->block, first, n);
        return far->block;
    }
    return broad__z_supply_rows(&residual->z, first, n, worker);
}

broad__row_block broad__residual_block(const broad__residual *residual, size_t first, size_t n, size_t worker)
{
    return (broad__row_block){first, n, worker, z_rows(residual, first, n, worker), NULL, NULL};
}

static void kblock_columns(double *out, size_t stride, const broad__residual *residual, const broad__kblock *kblock,
                           const broad__row_block *block, const double *packed)
{
    size_t features = residual->z.features, width = broad__kblock_width(kblock);
    const double *root = residual->far.root ? residual->far.root : residual->sqrt_weight;
    broad__nodes nodes = kblock->nodes;
    nodes.soon = block->soon;
    nodes.packed = packed;
    if (kblock->prefix) residual->at->copy(out, stride, block->z + kblock->first, features, block->n, kblock->prefix);
    if (nodes.nodes) residual->at->nodes(out + kblock->prefix, stride, &nodes, block->z, features, block->n);
    if (root) residual->at->scale(out, stride, block->n, width, root + block->first);
}

void broad__residual_columns(double *out, size_t stride, const broad__residual *residual, const broad__kblock *kblocks,
                             size_t count, const broad__row_block *block)
{
    for (size_t i = 0; i < count; out += broad__kblock_width(&kblocks[i++]))
        kblock_columns(out, stride, residual, &kblocks[i], block,
                       block->packed ? block->packed + i * BROAD__PACKED : NULL);
}

void broad__shift(const broad__device *at, double *out, double *squares, double *cross, const double *e, double sign,
                  const double *k, size_t rows, const double *w, size_t p, size_t c)
{
    if (at->shift) {
        at->shift(out, squares, cross, e, sign, k, rows, w, p, c);
        return;
    }
    if (out != e) at->copy(out, c, e, c, rows, c);
    at->apply(out, c, sign, k, p, rows, w, c, p, c);
    at->squares(squares, out, rows * c);
    if (cross) at->cross(cross, c, k, p, p, out, c, c, rows);
}

/* ---- what a candidate would leave over ------------------------------------------------------------------------- */

typedef struct reduction {
    broad__residual *residual;
    double sign;
    const double *w;
    size_t cross; /* numbers of K' next wanted; 0: not wanted */
} reduction;

static void reduce_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    reduction *r = context;
    broad__residual *residual = r->residual;
    const broad__device *at = residual->at;
    size_t c = residual->outputs, p = residual->candidate.width, step = broad__residual_step(residual, p);
    for (size_t i = first; i < end && !broad__watch_look(4.0 * (double)step * (double)(p * c)); i += step) {
        size_t n = broad__min(end - i, step);
        double *next = residual->next + i * c;
        const double *k = broad__candidate_k(residual, i, n, worker);
        broad__shift(at, next, sums + r->cross, r->cross ? sums : NULL, residual->e + i * c, r->sign, k, n, r->w, p, c);
    }
}

double broad__residual_shift(broad__residual *residual, double sign, const double *w)
{
    reduction r = {residual, sign, w, 0};
    double *sum = NULL;
    /* One number per shard: measuring E has reserved as much. */
    if (broad__shard_sums(&sum, residual, 1, reduce_shard, &r) < 0) return INFINITY;
    return sqrt(sum[0]);
}

double broad__residual_next(broad__residual *residual, const double *w)
{
    return broad__residual_shift(residual, -1.0, w);
}

int broad__residual_next_cross(double *out, double *out_norm, broad__residual *residual, const double *w)
{
    reduction r = {residual, -1.0, w, residual->candidate.width * residual->outputs};
    double *sums = NULL;
    int status = broad__shard_sums(&sums, residual, r.cross + 1, reduce_shard, &r);
    if (status < 0) return status;
    memcpy(out, sums, r.cross * sizeof(double));
    *out_norm = sqrt(sums[r.cross]);
    return BROAD_OK;
}

static void cross_next_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    broad__residual *residual = context;
    size_t c = residual->outputs, p = residual->candidate.width;
    for (size_t i = first; i < end && !broad__watch_look(2.0 * BROAD__BLOCK_ROWS * (double)(p * c));
         i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        const double *k = broad__candidate_k(residual, i, n, worker);
        residual->device->cross(sums, c, k, p, p, residual->next + i * c, c, c, n);
    }
}

int broad__residual_cross_next(double *out, broad__residual *residual)
{
    double *sums = NULL;
    int status =
        broad__shard_sums(&sums, residual, residual->candidate.width * residual->outputs, cross_next_shard, residual);
    if (status == BROAD_OK) memcpy(out, sums, residual->candidate.width * residual->outputs * sizeof(double));
    return status;
}

void broad__residual_commit(broad__residual *residual, double norm)
{
    double *old = residual->e;
    residual->e = residual->next;
    residual->next = old;
    residual->norm = norm;
}

void broad__residual_next_unchanged(broad__residual *residual)
{
    size_t count = residual->rows * residual->outputs;
    if (residual->at->memory) residual->at->copy(residual->next, count, residual->e, count, 1, count);
    else copy_numbers(residual, residual->next, residual->e, count);
}
