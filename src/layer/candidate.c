#include "layer/candidate.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/pass.h"
#include "layer/shard_sums.h"
#include "layer/wide_sums.h"

/* Up to this width each shard has a Gram matrix of its own; beyond it the threads share out tiles of one matrix, panel
 * of rows by panel. */
enum { SHARD_GRAM_MAX = 512, TILE = 256, PANEL = 2048 };

/* ---- wide layers and the dual form: tiles ---------------------------------------------------------------------- */

/* Tile t of the upper triangle, counted row by row. */
static void find_tile(size_t *row, size_t *column, size_t t, size_t across)
{
    *row = 0;
    while (t >= across - *row) t -= across - (*row)++;
    *column = *row + t;
}

typedef struct row_panel {
    broad__residual *residual;
    const broad__kblock *kblocks;
    size_t count;
    double *own; /* PANEL rows of K, where it is not stored */
    double *k;   /* of its first row */
    size_t first, n;
    /* Where the sums are added up: strips of TILE rows of the upper triangle, from the diagonal on; then K'E and K'[U | U_0].
     * NULL: in the candidate's own. */
    double *sums;
} row_panel;

/* Where strip a begins. */
static size_t strip_place(size_t a, size_t p) { return TILE * (a * p - TILE * a * (a - (a > 0)) / 2); }

/* Numbers of the strips. */
static size_t strips_size(size_t p)
{
    size_t last = (p - 1) / TILE, rows = p - last * TILE;
    return strip_place(last, p) + rows * rows;
}

static void panel_block(void *context, size_t index, size_t worker)
{
    const row_panel *panel = context;
    size_t at = index * BROAD__BLOCK_ROWS, p = panel->residual->candidate.width;
    broad__row_block block =
        broad__residual_block(panel->residual, panel->first + at, broad__min(BROAD__BLOCK_ROWS, panel->n - at), worker);
    broad__residual_columns(panel->k + at * p, p, panel->residual, panel->kblocks, panel->count, &block);
}

static void panel_tile(void *context, size_t tile, size_t worker)
{
    (void)worker;
    const row_panel *panel = context;
    const broad__device *device = panel->residual->device;
    size_t p = panel->residual->candidate.width, a, b;
    find_tile(&a, &b, tile, (p + TILE - 1) / TILE);
    size_t columns_a = broad__min(p - a * TILE, TILE), columns_b = broad__min(p - b * TILE, TILE);
    double *out = panel->residual->candidate.matrix + a * TILE * p + b * TILE;
    size_t apart = panel->sums ? p - a * TILE : p;
    if (panel->sums) out = panel->sums + strip_place(a, p) + (b - a) * TILE;
    if (a == b) device->gram(out, apart, panel->k + a * TILE, p, panel->n, columns_a);
    else device->cross(out, apart, panel->k + a * TILE, p, columns_a, panel->k + b * TILE, p, columns_b, panel->n);
}

static void panel_cross(void *context, size_t tile, size_t worker)
{
    (void)worker;
    const row_panel *panel = context;
    broad__residual *residual = panel->residual;
    size_t p = residual->candidate.width, c = residual->outputs, at = tile * TILE;
    double *cross = panel->sums ? panel->sums + strips_size(p) : residual->candidate.cross;
    double *probed = panel->sums ? cross + p * c : residual->candidate.probes;
    residual->device->cross(cross + at * c, c, panel->k + at, p, broad__min(p - at, TILE),
                            residual->e + panel->first * c, c, c, panel->n);
    size_t probes = 2 * residual->probes.count;
    if (probes)
        residual->device->cross(probed + at * probes, probes, panel->k + at, p, broad__min(p - at, TILE),
                                residual->probes.u + panel->first * probes, probes, probes, panel->n);
}

/* Rows [first, end), panel by panel. */
static void add_panels(void *context, size_t first, size_t end, double *sums)
{
    row_panel *panel = context;
    broad__residual *residual = panel->residual;
    size_t p = residual->candidate.width, across = (p + TILE - 1) / TILE;
    panel->sums = sums;
    for (size_t i = first; i < end && !broad__watch_stopped(); i += PANEL) {
        panel->k = residual->candidate.stored ? residual->candidate.k + i * p : panel->own;
        panel->first = i;
        panel->n = broad__min(PANEL, end - i);
        broad__pool_run(residual->pool, (panel->n + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, panel_block, panel);
        broad__pool_run(residual->pool, across * (across + 1) / 2, panel_tile, panel);
        broad__pool_run(residual->pool, across, panel_cross, panel);
        broad__residual_release(residual, i, i + panel->n);
    }
}

/* Sums of the shards become those of the candidate. */
static void unpack_sums(broad__candidate *candidate, const double *sums, size_t cross, size_t probes)
{
    size_t p = candidate->width;
    for (size_t i = 0; i < p; i++) {
        size_t a = i / TILE, apart = p - a * TILE, within = i - a * TILE;
        const double *row = sums + strip_place(a, p) + within * apart;
        memcpy(candidate->matrix + i * p + i, row + within, (p - i) * sizeof *row);
    }
    memcpy(candidate->cross, sums + strips_size(p), cross * sizeof *sums);
    if (probes) memcpy(candidate->probes, sums + strips_size(p) + cross, probes * sizeof *sums);
}

/* The sums of a wide candidate. */
static int wide_pass(broad__residual *residual, const broad__kblock *kblocks, size_t count)
{
    broad__candidate *candidate = &residual->candidate;
    size_t p = candidate->width, cross = p * residual->outputs, probes = p * 2 * residual->probes.count;
    row_panel panel = {.residual = residual, .kblocks = kblocks, .count = count};
    double *sums = NULL;
    int status = BROAD_OK;
    if (!candidate->stored) panel.own = broad__alloc_doubles(broad__min(PANEL, residual->rows), p);
    if (!candidate->stored && !panel.own) return BROAD_NO_MEMORY;
    if (broad__wide_has_shards(residual->rows)) {
        status = broad__wide_sums(&sums, residual, strips_size(p) + cross + probes, add_panels, &panel);
        if (status == BROAD_OK) unpack_sums(candidate, sums, cross, probes);
    } else {
        memset(candidate->matrix, 0, p * p * sizeof(double));
        memset(candidate->cross, 0, cross * sizeof(double));
        if (probes) memset(candidate->probes, 0, probes * sizeof(double));
        add_panels(&panel, 0, residual->rows, NULL);
    }
    broad__free(sums);
    broad__free(panel.own);
    return status;
}

static void dual_tile(void *context, size_t tile, size_t worker)
{
    (void)worker;
    broad__residual *residual = context;
    const double *k = residual->candidate.k;
    size_t p = residual->candidate.width, n = residual->rows, a, b;
    find_tile(&a, &b, tile, (n + TILE - 1) / TILE);
    size_t rows_a = broad__min(n - a * TILE, TILE), rows_b = broad__min(n - b * TILE, TILE);
    double *out = residual->candidate.matrix + a * TILE * n + b * TILE;
    residual->device->outer(out, n, k + a * TILE * p, p, rows_a, k + b * TILE * p, p, rows_b, p);
}

static void dual_pass(broad__residual *residual)
{
    size_t n = residual->rows, across = (n + TILE - 1) / TILE;
    memset(residual->candidate.matrix, 0, n * n * sizeof(double));
    broad__pool_run(residual->pool, across * (across + 1) / 2, dual_tile, residual);
}

/* ---- candidates ------------------------------------------------------------------------------------------------ */

/* Sets the width and reserves K. A pending update is carried out first where it would lose its K by that. */
static int shape(broad__residual *residual, size_t p, int stored)
{
    broad__candidate *candidate = &residual->candidate;
    const broad__deferred_update *update = &residual->update;
    size_t rows = residual->rows;
    int in_the_way = update->pending && update->stored && stored && p != broad__kblock_width(&update->kblock);
    int status = in_the_way ? broad__residual_settle(residual) : BROAD_OK;
    if (status == BROAD_OK && (!broad__residual_size_fits(rows, p) || !broad__residual_size_fits(p, p) ||
                               !broad__residual_size_fits(p, residual->outputs)))
        status = broad__fail_memory(SIZE_MAX);
    if (status == BROAD_OK) status = broad__rows_ready(residual, broad__residual_step(residual, p));
    if (status == BROAD_OK && stored)
        status = broad__rows_reserve(&candidate->k, &candidate->k_capacity, residual, rows * p);
    if (status == BROAD_OK && !stored)
        status = broad__rows_reserve(&candidate->k_blocks, &candidate->k_blocks_capacity, residual,
                                     broad__rows_workers(residual) * broad__residual_step(residual, p) * p);
    candidate->width = p;
    candidate->dual = rows < p;
    candidate->stored = stored;
    return status;
}

/* Numbers of K'[U | U_0] of a candidate of p columns. */
static size_t probe_sums(const broad__residual *residual, size_t p) { return p * 2 * residual->probes.count; }

static int reserve_sums(broad__residual *residual)
{
    broad__candidate *candidate = &residual->candidate;
    size_t p = candidate->width, n = candidate->dual ? residual->rows : p;
    int status = broad__reserve(&candidate->matrix, &candidate->matrix_capacity, n * n);
    if (status == BROAD_OK)
        status = broad__reserve(&candidate->probes, &candidate->probes_capacity, probe_sums(residual, p));
    if (status < 0) return status;
    return broad__reserve(&candidate->cross, &candidate->cross_capacity, p * residual->outputs);
}

/* Square by square, so that what is read down a column is still in the cache for the next one. */
static void mirror(double *matrix, size_t n)
{
    enum { SQUARE = 32 };
    for (size_t a = 0; a < n; a += SQUARE)
        for (size_t b = 0; b <= a; b += SQUARE)
            for (size_t i = a; i < broad__min(a + SQUARE, n); i++)
                for (size_t j = b; j < broad__min(b + SQUARE, i); j++) matrix[i * n + j] = matrix[j * n + i];
}

/* The sums become those of the candidate. */
static void adopt_sums(broad__residual *residual, const double *sums)
{
    broad__candidate *candidate = &residual->candidate;
    size_t p = candidate->width, cross = p * residual->outputs;
    memcpy(candidate->matrix, sums, p * p * sizeof(double));
    memcpy(candidate->cross, sums + p * p, cross * sizeof(double));
    if (residual->probes.count)
        memcpy(candidate->probes, sums + p * p + cross, probe_sums(residual, p) * sizeof(double));
    mirror(candidate->matrix, p);
}

int broad__candidate_nodes(broad__residual *residual, const broad__kblock *kblocks, size_t count)
{
    int status = shape(residual, broad__kblocks_width(kblocks, count), 1);
    broad__pass pass = {.residual = residual, .kblocks = kblocks, .count = count, .trials = 1};
    double *sums = NULL;
    return status < 0 ? status : broad__pass_run(&sums, &pass);
}

static int narrow(size_t rows, size_t width) { return rows >= width && width <= SHARD_GRAM_MAX; }

size_t broad__candidate_shared(size_t rows, size_t width)
{
    if (narrow(rows, width)) return width * width;
    return rows >= width && broad__wide_has_shards(rows) ? strips_size(width) : 0;
}

size_t broad__candidate_together(size_t rows, size_t width, size_t probes)
{
    size_t fit = rows / ((1 + broad__shard_count(rows)) * (width ? width + 2 * probes : 1));
    return !narrow(rows, width) || fit < 2 ? 1 : broad__min(fit, BROAD__TOGETHER);
}

int broad__candidate_compute(broad__residual *residual, const broad__kblock *kblocks, size_t count)
{
    broad__candidate *candidate = &residual->candidate;
    size_t p = broad__kblocks_width(kblocks, count);
    int status = shape(residual, p,
                       (!candidate->recompute && !broad__far_is_full(residual, p)) || count > 1 || residual->rows < p);
    if (status == BROAD_OK) status = reserve_sums(residual);
    if (status < 0) return status;
    candidate->kblock = kblocks[0];
    broad__pass pass = {.residual = residual, .kblocks = kblocks, .count = count, .trials = 1};
    double *sums = NULL;
    if (narrow(residual->rows, p) || (residual->at->memory && !candidate->dual)) {
        pass.gram = p * p;
        pass.cross = p * residual->outputs;
        pass.probes = probe_sums(residual, p);
        pass.ready = candidate->stored && count == 1 && broad__far_is_ahead(residual, kblocks);
        status = broad__pass_run(&sums, &pass);
        if (status == BROAD_OK) adopt_sums(residual, sums);
    } else if (candidate->dual) {
        status = broad__residual_undivide(residual);
        if (status == BROAD_OK) status = broad__pass_run(&sums, &pass);
        if (status == BROAD_OK) dual_pass(residual);
        if (status == BROAD_OK) mirror(candidate->matrix, residual->rows);
    } else {
        if (!broad__wide_has_shards(residual->rows)) status = broad__residual_undivide(residual);
        if (status == BROAD_OK) status = broad__residual_settle(residual);
        if (status == BROAD_OK) status = wide_pass(residual, kblocks, count);
        if (status == BROAD_OK) mirror(candidate->matrix, p);
    }
    return broad__watch_check(status);
}

int broad__candidate_trials(broad__residual *residual, const broad__kblock *trials, size_t count)
{
    broad__candidate *candidate = &residual->candidate;
    size_t p = broad__kblock_width(&trials[0]), cross = p * residual->outputs, probes = probe_sums(residual, p);
    size_t each = p * p + cross + probes;
    int status = shape(residual, p, 0);
    if (status == BROAD_OK) status = reserve_sums(residual);
    if (status == BROAD_OK) status = broad__reserve(&candidate->trials, &candidate->trials_capacity, count * each);
    if (status < 0) return status;
    broad__pass pass = {.residual = residual,
                        .kblocks = trials,
                        .count = 1,
                        .trials = count,
                        .gram = p * p,
                        .cross = cross,
                        .probes = probes};
    double *sums = NULL;
    status = broad__pass_run(&sums, &pass);
    if (status == BROAD_OK) memcpy(candidate->trials, sums, count * each * sizeof(double));
    return status;
}

void broad__candidate_take(broad__residual *residual, const broad__kblock *trial, size_t i)
{
    broad__candidate *candidate = &residual->candidate;
    candidate->kblock = *trial;
    adopt_sums(residual, candidate->trials + i * (candidate->width * (candidate->width + residual->outputs) +
                                                  probe_sums(residual, candidate->width)));
}

const double *broad__candidate_k(const broad__residual *residual, size_t first, size_t n, size_t worker)
{
    const broad__candidate *candidate = &residual->candidate;
    if (candidate->stored) return candidate->k + first * candidate->width;
    double *k = candidate->k_blocks + worker * broad__residual_step(residual, candidate->width) * candidate->width;
    broad__row_block block = broad__residual_block(residual, first, n, worker);
    broad__residual_columns(k, candidate->width, residual, &candidate->kblock, 1, &block);
    return k;
}

double *broad__candidate_take_matrix(broad__candidate *candidate)
{
    double *matrix = candidate->matrix;
    candidate->matrix = NULL;
    candidate->matrix_capacity = 0;
    return matrix;
}

void broad__candidate_clear(broad__residual *residual)
{
    broad__candidate *candidate = &residual->candidate;
    broad__rows_free(residual, candidate->k);
    broad__rows_free(residual, candidate->k_blocks);
    broad__free(candidate->matrix);
    broad__free(candidate->cross);
    broad__free(candidate->probes);
    broad__free(candidate->trials);
    *candidate = (broad__candidate){.recompute = candidate->recompute};
}
