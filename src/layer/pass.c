/* The passes over the rows: candidates with their sums, and what they do to the residual. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/residual.h"
#include "layer/residual_work.h"

/* Up to this width each shard has a Gram matrix of its own; beyond it the threads share out tiles of one matrix, panel of
 * rows by panel. */
enum { SHARD_GRAM_MAX = 512, TILE = 256, PANEL = 2048 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- one pass -------------------------------------------------------------------------------------------------- */

typedef struct one_pass {
    broad__residual *rows;
    const broad__kblock *pieces; /* of the candidate, or one for each of several */
    size_t count;
    size_t trials;      /* candidates; 0: E is brought up to date and no more */
    size_t gram, cross; /* numbers of the sums wanted of each candidate; 0: not wanted */
    double *blocks;     /* for the K of an update that is made again: a block for each worker */
} one_pass;

/* E - K w for a block; returns its squared norm. */
static double update_block(const one_pass *p, const double *z, size_t first, size_t n, size_t worker)
{
    broad__residual *rows = p->rows;
    size_t c = rows->outputs, width = broad__kblock_width(&rows->update);
    double *e = rows->e + first * c;
    const double *k = rows->k + first * width;
    if (!rows->update_stored) {
        double *block = p->blocks + worker * BROAD__BLOCK_ROWS * width;
        broad__residual_fill(block, width, rows, &rows->update, 1, z, first, n);
        k = block;
    }
    rows->device->apply(e, c, -1.0, k, width, n, rows->update_w, c, width, c);
    double squares = broad__residual_squares(e, n * c);
    return squares;
}

/* One candidate's nodes for a block, added to its sums. */
static void candidate_block(const one_pass *pass, double *sum, const broad__kblock *pieces, const double *z,
                            size_t first, size_t n, size_t worker)
{
    broad__residual *rows = pass->rows;
    const broad__device *device = rows->device;
    size_t p = rows->width, c = rows->outputs, each = pass->trials > 1 ? 1 : pass->count;
    double *k = rows->stored ? rows->k + first * p : rows->k_blocks + worker * BROAD__BLOCK_ROWS * p;
    broad__residual_fill(k, p, rows, pieces, each, z, first, n);
    if (!pass->gram) return;
    (broad__residual_single(rows, p) ? device->gram_single : device->gram)(sum, p, k, p, n, p);
    device->cross(sum + pass->gram, c, k, p, p, rows->e + first * c, c, c, n);
}

/* While a block of the rows is in the cache: all that is to be done with it. */
static void pass_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    one_pass *pass = context;
    broad__residual *rows = pass->rows;
    size_t each = pass->gram + pass->cross;
    double *squares = sums + pass->trials * each;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = least(end - i, BROAD__BLOCK_ROWS);
        const double *z = rows->update_stored && !pass->trials ? NULL : broad__residual_z(rows, i, n, worker);
        if (rows->deferred) *squares += update_block(pass, z, i, n, worker);
        for (size_t t = 0; t < pass->trials; t++)
            candidate_block(pass, sums + t * each, pass->pieces + t, z, i, n, worker);
    }
}

/* Runs it; a deferred update of E is then done. *out: the sums, candidate by candidate. */
static int run_pass(double **out, one_pass *pass)
{
    broad__residual *rows = pass->rows;
    size_t numbers = pass->trials * (pass->gram + pass->cross), width = broad__kblock_width(&rows->update);
    int status = broad__residual_ready(rows);
    if (status == BROAD_OK && rows->deferred && !rows->update_stored) {
        pass->blocks = broad__alloc_doubles(broad__pool_threads(rows->pool) * BROAD__BLOCK_ROWS, width);
        if (!pass->blocks) status = BROAD_NO_MEMORY;
    }
    if (status == BROAD_OK) status = broad__residual_sum(out, rows, numbers + 1, pass_shard, pass);
    broad__free(pass->blocks);
    if (status < 0 || !rows->deferred) return status;
    rows->deferred = 0;
    rows->norm = rows->settled = sqrt((*out)[numbers]);
    return BROAD_OK;
}

void broad__residual_defer(broad__residual *rows, const broad__kblock *piece, const double *w, double norm)
{
    rows->deferred = 1;
    rows->update_stored = rows->stored;
    rows->update = *piece;
    rows->update_w = w;
    rows->norm = norm;
}

int broad__residual_settle(broad__residual *rows)
{
    if (!rows->deferred) return BROAD_OK;
    one_pass pass = {.rows = rows};
    double *sums = NULL;
    return run_pass(&sums, &pass);
}

int broad__residual_follow(broad__residual *rows, const broad__kblock *piece, const double *w)
{
    int status = broad__residual_settle(rows);
    if (status < 0) return status;
    broad__residual_defer(rows, piece, w, rows->norm);
    rows->update_stored = 0;
    return broad__residual_settle(rows);
}

/* ---- wide layers and the dual form: tiles ---------------------------------------------------------------------- */

/* Tile t of the upper triangle, counted row by row. */
static void tile_place(size_t *row, size_t *column, size_t t, size_t across)
{
    *row = 0;
    while (t >= across - *row) t -= across - (*row)++;
    *column = *row + t;
}

typedef struct row_panel {
    broad__residual *rows;
    const broad__kblock *pieces;
    size_t count;
    double *k; /* of its first row */
    size_t first, n;
} row_panel;

static void panel_block(void *context, size_t block, size_t worker)
{
    const row_panel *panel = context;
    size_t at = block * BROAD__BLOCK_ROWS, n = least(BROAD__BLOCK_ROWS, panel->n - at), p = panel->rows->width;
    broad__residual_pieces(panel->k + at * p, p, panel->rows, panel->pieces, panel->count, panel->first + at, n,
                           worker);
}

static void panel_tile(void *context, size_t tile, size_t worker)
{
    (void)worker;
    const row_panel *panel = context;
    broad__residual *rows = panel->rows;
    size_t p = rows->width, a, b;
    tile_place(&a, &b, tile, (p + TILE - 1) / TILE);
    size_t wide_a = least(p - a * TILE, TILE), wide_b = least(p - b * TILE, TILE);
    double *out = rows->matrix + a * TILE * p + b * TILE;
    if (a == b) rows->device->gram(out, p, panel->k + a * TILE, p, panel->n, wide_a);
    else rows->device->cross(out, p, panel->k + a * TILE, p, wide_a, panel->k + b * TILE, p, wide_b, panel->n);
}

static void panel_cross(void *context, size_t tile, size_t worker)
{
    (void)worker;
    const row_panel *panel = context;
    broad__residual *rows = panel->rows;
    size_t p = rows->width, c = rows->outputs, at = tile * TILE;
    rows->device->cross(rows->cross + at * c, c, panel->k + at, p, least(p - at, TILE), rows->e + panel->first * c, c,
                        c, panel->n);
}

/* The sums of a wide candidate, panel of rows by panel. */
static int wide_pass(broad__residual *rows, const broad__kblock *pieces, size_t count)
{
    size_t p = rows->width, across = (p + TILE - 1) / TILE;
    double *room = rows->stored ? NULL : broad__alloc_doubles(least(PANEL, rows->rows), p);
    if (!rows->stored && !room) return BROAD_NO_MEMORY;
    memset(rows->matrix, 0, p * p * sizeof(double));
    memset(rows->cross, 0, p * rows->outputs * sizeof(double));
    for (size_t i = 0; i < rows->rows; i += PANEL) {
        row_panel panel = {rows, pieces, count, rows->stored ? rows->k + i * p : room, i, least(PANEL, rows->rows - i)};
        broad__pool_run(rows->pool, (panel.n + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, panel_block, &panel);
        broad__pool_run(rows->pool, across * (across + 1) / 2, panel_tile, &panel);
        broad__pool_run(rows->pool, across, panel_cross, &panel);
        broad__residual_release(rows, i, i + panel.n);
    }
    broad__free(room);
    return BROAD_OK;
}

static void dual_tile(void *context, size_t tile, size_t worker)
{
    (void)worker;
    broad__residual *rows = context;
    size_t p = rows->width, n = rows->rows, a, b;
    tile_place(&a, &b, tile, (n + TILE - 1) / TILE);
    size_t high_a = least(n - a * TILE, TILE), high_b = least(n - b * TILE, TILE);
    double *out = rows->matrix + a * TILE * n + b * TILE;
    rows->device->outer(out, n, rows->k + a * TILE * p, p, high_a, rows->k + b * TILE * p, p, high_b, p);
}

static void dual_pass(broad__residual *rows)
{
    size_t n = rows->rows, across = (n + TILE - 1) / TILE;
    memset(rows->matrix, 0, n * n * sizeof(double));
    broad__pool_run(rows->pool, across * (across + 1) / 2, dual_tile, rows);
}

/* ---- candidates ------------------------------------------------------------------------------------------------ */

/* Sets the width and makes room for K. A deferred update is carried out first where K's place would be taken from it. */
static int shape(broad__residual *rows, size_t p, int stored)
{
    int in_the_way = rows->deferred && rows->update_stored && stored && p != broad__kblock_width(&rows->update);
    int status = in_the_way ? broad__residual_settle(rows) : BROAD_OK;
    if (status == BROAD_OK && (!broad__residual_size_fits(rows->rows, p) || !broad__residual_size_fits(p, p) ||
                               !broad__residual_size_fits(p, rows->outputs)))
        status = broad__fail_memory(SIZE_MAX);
    if (status == BROAD_OK) status = broad__residual_ready(rows);
    if (status == BROAD_OK && stored) status = broad__reserve(&rows->k, &rows->k_room, rows->rows * p);
    if (status == BROAD_OK && !stored)
        status = broad__reserve(&rows->k_blocks, &rows->k_blocks_room,
                                broad__pool_threads(rows->pool) * BROAD__BLOCK_ROWS * p);
    rows->width = p;
    rows->dual = rows->rows < p;
    rows->stored = stored;
    return status;
}

static size_t width_of(const broad__kblock *pieces, size_t count)
{
    size_t p = 0;
    for (size_t i = 0; i < count; i++) p += broad__kblock_width(&pieces[i]);
    return p;
}

static int reserve_sums(broad__residual *rows)
{
    size_t p = rows->width, side = rows->dual ? rows->rows : p;
    int status = broad__reserve(&rows->matrix, &rows->matrix_room, side * side);
    return status == BROAD_OK ? broad__reserve(&rows->cross, &rows->cross_room, p * rows->outputs) : status;
}

static void mirror(double *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) matrix[i * n + j] = matrix[j * n + i];
}

/* From sums to the candidate at hand. */
static void adopt_sums(broad__residual *rows, const double *sums)
{
    size_t p = rows->width;
    memcpy(rows->matrix, sums, p * p * sizeof(double));
    memcpy(rows->cross, sums + p * p, p * rows->outputs * sizeof(double));
    mirror(rows->matrix, p);
}

int broad__residual_nodes(broad__residual *rows, const broad__kblock *pieces, size_t count)
{
    int status = shape(rows, width_of(pieces, count), 1);
    one_pass pass = {.rows = rows, .pieces = pieces, .count = count, .trials = 1};
    double *sums = NULL;
    return status < 0 ? status : run_pass(&sums, &pass);
}

static int narrow(size_t rows, size_t width) { return rows >= width && width <= SHARD_GRAM_MAX; }

size_t broad__residual_together(size_t rows, size_t width)
{
    size_t most = rows / ((1 + broad__shard_count(rows)) * (width ? width : 1));
    return !narrow(rows, width) || most < 2 ? 1 : least(most, BROAD__TOGETHER);
}

int broad__residual_single(const broad__residual *rows, size_t width)
{
    return rows->single && !rows->sqrt_weight && narrow(rows->rows, width);
}

int broad__residual_candidate(broad__residual *rows, const broad__kblock *pieces, size_t count)
{
    size_t p = width_of(pieces, count), outputs = rows->outputs;
    int status = shape(rows, p, rows->keep_k || count > 1 || rows->rows < p);
    if (status == BROAD_OK) status = reserve_sums(rows);
    if (status < 0) return status;
    rows->piece = pieces[0];
    one_pass pass = {.rows = rows, .pieces = pieces, .count = count, .trials = 1};
    double *sums = NULL;
    if (narrow(rows->rows, p)) {
        pass.gram = p * p;
        pass.cross = p * outputs;
        status = run_pass(&sums, &pass);
        if (status == BROAD_OK) adopt_sums(rows, sums);
    } else if (rows->dual) {
        status = run_pass(&sums, &pass);
        if (status == BROAD_OK) dual_pass(rows);
    } else {
        status = broad__residual_settle(rows);
        if (status == BROAD_OK) status = wide_pass(rows, pieces, count);
        if (status == BROAD_OK) mirror(rows->matrix, p);
    }
    return status;
}

int broad__residual_trials(broad__residual *rows, const broad__kblock *trials, size_t count)
{
    size_t p = broad__kblock_width(&trials[0]), each = p * (p + rows->outputs);
    int status = shape(rows, p, 0);
    if (status == BROAD_OK) status = reserve_sums(rows);
    if (status == BROAD_OK) status = broad__reserve(&rows->trials, &rows->trials_room, count * each);
    if (status < 0) return status;
    one_pass pass = {
        .rows = rows, .pieces = trials, .trials = count, .count = 1, .gram = p * p, .cross = p * rows->outputs};
    double *sums = NULL;
    status = run_pass(&sums, &pass);
    if (status == BROAD_OK) memcpy(rows->trials, sums, count * each * sizeof(double));
    return status;
}

void broad__residual_take(broad__residual *rows, const broad__kblock *trial, size_t i)
{
    rows->piece = *trial;
    adopt_sums(rows, rows->trials + i * rows->width * (rows->width + rows->outputs));
}

/* ---- residuals ------------------------------------------------------------------------------------------------- */

typedef struct reduction {
    broad__residual *rows;
    double sign;
    const double *w;
    size_t cross; /* numbers of K' next wanted; 0: not wanted */
} reduction;

static void reduce_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    reduction *r = context;
    broad__residual *rows = r->rows;
    size_t c = rows->outputs, p = rows->width;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = least(end - i, BROAD__BLOCK_ROWS);
        double *next = rows->next + i * c;
        const double *k = broad__residual_k(rows, i, n, worker);
        memcpy(next, rows->e + i * c, n * c * sizeof(double));
        rows->device->apply(next, c, r->sign, k, p, n, r->w, c, p, c);
        sums[r->cross] += broad__residual_squares(next, n * c);
        if (r->cross) rows->device->cross(sums, c, k, p, p, next, c, c, n);
    }
}

double broad__residual_shift(broad__residual *rows, double sign, const double *w)
{
    reduction r = {rows, sign, w, 0};
    double *sum = NULL;
    /* One number a shard: broad__residual_open() already had that much room. */
    if (broad__residual_sum(&sum, rows, 1, reduce_shard, &r) < 0) return INFINITY;
    return sqrt(sum[0]);
}

double broad__residual_next(broad__residual *rows, const double *w) { return broad__residual_shift(rows, -1.0, w); }

int broad__residual_next_cross(double *out, double *out_norm, broad__residual *rows, const double *w)
{
    reduction r = {rows, -1.0, w, rows->width * rows->outputs};
    double *sums = NULL;
    int status = broad__residual_sum(&sums, rows, r.cross + 1, reduce_shard, &r);
    if (status < 0) return status;
    memcpy(out, sums, r.cross * sizeof(double));
    *out_norm = sqrt(sums[r.cross]);
    return BROAD_OK;
}

static void cross_next_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    broad__residual *rows = context;
    size_t c = rows->outputs, p = rows->width;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = least(end - i, BROAD__BLOCK_ROWS);
        const double *k = broad__residual_k(rows, i, n, worker);
        rows->device->cross(sums, c, k, p, p, rows->next + i * c, c, c, n);
    }
}

int broad__residual_cross_next(double *out, broad__residual *rows)
{
    double *sums = NULL;
    int status = broad__residual_sum(&sums, rows, rows->width * rows->outputs, cross_next_shard, rows);
    if (status == BROAD_OK) memcpy(out, sums, rows->width * rows->outputs * sizeof(double));
    return status;
}
