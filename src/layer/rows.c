#include "layer/rows.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"

/* Up to this width each shard has a Gram matrix of its own; beyond it the threads share out tiles of one matrix. */
enum { SHARD_GRAM_MAX = 512, TILE = 256 };

static int size_fits(size_t a, size_t b)
{
    size_t product;
    return a <= INT_MAX && b <= INT_MAX && broad__multiply(&product, a, b) == 0 && product <= SIZE_MAX / 64;
}

/* ---- sums over shards ------------------------------------------------------------------------------------------ */

typedef struct shard_run {
    broad__rows *rows;
    broad__shard_job job;
    void *context;
    size_t doubles;
} shard_run;

static void shard_run_one(void *context, size_t shard, size_t worker)
{
    shard_run *run = context;
    size_t first, end;
    broad__shard_rows(&first, &end, shard, run->rows->rows);
    double *sums = run->rows->scratch + shard * run->doubles;
    memset(sums, 0, run->doubles * sizeof(double));
    run->job(run->context, first, end, sums, worker);
}

int broad__rows_sum(double **out, broad__rows *rows, size_t doubles, broad__shard_job job, void *context)
{
    size_t shards = broad__shard_count(rows->rows), count;
    if (broad__multiply(&count, shards, doubles) < 0) return broad__fail_memory(SIZE_MAX);
    int status = broad__reserve(&rows->scratch, &rows->scratch_room, count);
    if (status < 0) return status;
    shard_run run = {rows, job, context, doubles};
    broad__pool_run(rows->pool, shards, shard_run_one, &run);
    broad__tree_sum(rows->scratch, shards, doubles, doubles);
    *out = rows->scratch;
    return BROAD_OK;
}

static double sum_of_squares(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sum;
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static void norm_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    (void)worker;
    broad__rows *rows = context;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        sums[0] += sum_of_squares(rows->e + i * rows->outputs, n * rows->outputs);
    }
}

static int measure(broad__rows *rows)
{
    double *sum = NULL;
    int status = broad__rows_sum(&sum, rows, 1, norm_shard, rows);
    if (status == BROAD_OK) rows->norm = sqrt(sum[0]);
    return status;
}

int broad__rows_open(broad__rows *out, const broad__device *device, broad__pool *pool, size_t outputs)
{
    *out = (broad__rows){.device = device, .pool = pool, .outputs = outputs};
    return BROAD_OK;
}

/* Puts fresh arrays of rows x outputs in place; the old E has been copied into `e`. */
static int replace_residual(broad__rows *rows, double *e, size_t count, size_t outputs)
{
    double *next = broad__alloc_doubles(count, outputs);
    if (!e || !next) {
        broad__free(e);
        broad__free(next);
        return BROAD_NO_MEMORY;
    }
    broad__free(rows->e);
    broad__free(rows->next);
    rows->e = e;
    rows->next = next;
    rows->rows = count;
    rows->outputs = outputs;
    return measure(rows);
}

int broad__rows_append(broad__rows *rows, const double *e, size_t count)
{
    size_t total = rows->rows + count;
    if (!size_fits(total, rows->outputs)) return broad__fail_memory(SIZE_MAX);
    double *joined = broad__alloc_doubles(total, rows->outputs);
    if (joined && rows->rows) memcpy(joined, rows->e, rows->rows * rows->outputs * sizeof(double));
    if (joined) memcpy(joined + rows->rows * rows->outputs, e, count * rows->outputs * sizeof(double));
    return replace_residual(rows, joined, total, rows->outputs);
}

int broad__rows_reset(broad__rows *rows, const double *e)
{
    memcpy(rows->e, e, rows->rows * rows->outputs * sizeof(double));
    return measure(rows);
}

int broad__rows_join(broad__rows *rows, const broad__rows *more)
{
    return broad__rows_append(rows, more->e, more->rows);
}

size_t broad__rows_right(const broad__rows *rows, size_t first, const size_t *classes, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++) {
        const double *e = rows->e + (first + i) * rows->outputs;
        double one = rows->root ? rows->root[first + i] : 1;
        size_t truth = classes[i], best = 0;
        for (size_t c = 1; c < rows->outputs; c++)
            if ((c == truth) * one - e[c] > (best == truth) * one - e[best]) best = c;
        right += best == truth;
    }
    return right;
}

int broad__rows_widen(broad__rows *rows, size_t outputs)
{
    if (!size_fits(rows->rows, outputs)) return broad__fail_memory(SIZE_MAX);
    double *wide = broad__alloc_doubles(rows->rows, outputs);
    for (size_t i = 0; wide && i < rows->rows; i++)
        memcpy(wide + i * outputs, rows->e + i * rows->outputs, rows->outputs * sizeof(double));
    return replace_residual(rows, wide, rows->rows, outputs);
}

void broad__rows_close(broad__rows *rows)
{
    broad__free(rows->e);
    broad__free(rows->next);
    broad__free(rows->k);
    broad__free(rows->matrix);
    broad__free(rows->cross);
    broad__free(rows->scratch);
    broad__free(rows->z_blocks);
    memset(rows, 0, sizeof *rows);
}

/* ---- a candidate: K and its sums ------------------------------------------------------------------------------- */

typedef struct candidate {
    broad__rows *rows;
    const broad__piece *pieces;
    size_t count;
    size_t gram, cross; /* numbers of the sums wanted from each shard; 0: not wanted */
} candidate;

size_t broad__piece_width(const broad__piece *piece) { return piece->prefix + piece->nodes.nodes; }

int broad__rows_ready(broad__rows *rows)
{
    if (rows->z || !rows->make_z) return BROAD_OK;
    size_t workers = broad__pool_threads(rows->pool);
    return broad__reserve(&rows->z_blocks, &rows->z_blocks_room, workers * BROAD__BLOCK_ROWS * rows->features);
}

const double *broad__rows_z(const broad__rows *rows, size_t first, size_t n, size_t worker)
{
    if (rows->z) return rows->z + first * rows->features;
    double *block = rows->z_blocks + worker * BROAD__BLOCK_ROWS * rows->features;
    rows->make_z(rows->z_context, block, first, n, worker);
    return block;
}

static void fill_piece(double *out, size_t stride, const broad__rows *rows, const broad__piece *piece, const double *z,
                       size_t first, size_t n)
{
    for (size_t i = 0; i < n && piece->prefix; i++)
        memcpy(out + i * stride, z + i * rows->features + piece->first, piece->prefix * sizeof(double));
    if (piece->nodes.nodes) rows->device->nodes(out + piece->prefix, stride, &piece->nodes, z, rows->features, n);
    for (size_t i = 0; i < n && rows->root; i++)
        for (size_t j = 0; j < broad__piece_width(piece); j++) out[i * stride + j] *= rows->root[first + i];
}

void broad__rows_pieces(double *out, size_t stride, const broad__rows *rows, const broad__piece *pieces, size_t count,
                        size_t first, size_t n, size_t worker)
{
    const double *z = broad__rows_z(rows, first, n, worker);
    for (size_t i = 0; i < count; out += broad__piece_width(&pieces[i++]))
        fill_piece(out, stride, rows, &pieces[i], z, first, n);
}

/* While a block of K is in the cache: fill it, then add it to the shard's sums. */
static void candidate_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    candidate *c = context;
    broad__rows *rows = c->rows;
    const broad__device *device = rows->device;
    size_t p = rows->width, outputs = rows->outputs;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        double *k = rows->k + i * p;
        broad__rows_pieces(k, p, rows, c->pieces, c->count, i, n, worker);
        if (c->gram) device->gram(sums, p, k, p, n, p);
        if (c->cross) device->cross(sums + c->gram, outputs, k, p, p, rows->e + i * outputs, outputs, outputs, n);
    }
}

/* Tile t of the upper triangle, counted row by row. */
static void tile_place(size_t *row, size_t *column, size_t t, size_t across)
{
    *row = 0;
    while (t >= across - *row) t -= across - (*row)++;
    *column = *row + t;
}

static void gram_tile(void *context, size_t tile, size_t worker)
{
    (void)worker;
    broad__rows *rows = context;
    size_t p = rows->width, a, b;
    tile_place(&a, &b, tile, (p + TILE - 1) / TILE);
    size_t wide_a = p - a * TILE < TILE ? p - a * TILE : TILE, wide_b = p - b * TILE < TILE ? p - b * TILE : TILE;
    double *out = rows->matrix + a * TILE * p + b * TILE;
    rows->device->cross(out, p, rows->k + a * TILE, p, wide_a, rows->k + b * TILE, p, wide_b, rows->rows);
}

static void dual_tile(void *context, size_t tile, size_t worker)
{
    (void)worker;
    broad__rows *rows = context;
    size_t p = rows->width, n = rows->rows, a, b;
    tile_place(&a, &b, tile, (n + TILE - 1) / TILE);
    size_t high_a = n - a * TILE < TILE ? n - a * TILE : TILE, high_b = n - b * TILE < TILE ? n - b * TILE : TILE;
    double *out = rows->matrix + a * TILE * n + b * TILE;
    rows->device->outer(out, n, rows->k + a * TILE * p, p, high_a, rows->k + b * TILE * p, p, high_b, p);
}

static void run_tiles(broad__rows *rows, size_t size, broad__job job)
{
    size_t across = (size + TILE - 1) / TILE;
    memset(rows->matrix, 0, size * size * sizeof(double));
    broad__pool_run(rows->pool, across * (across + 1) / 2, job, rows);
}

/* Sets the width and makes room for K. */
static int shape_candidate(broad__rows *rows, const broad__piece *pieces, size_t count)
{
    size_t p = 0;
    for (size_t i = 0; i < count; i++) p += broad__piece_width(&pieces[i]);
    if (!size_fits(rows->rows, p) || !size_fits(p, p) || !size_fits(p, rows->outputs))
        return broad__fail_memory(SIZE_MAX);
    rows->width = p;
    rows->dual = rows->rows < p;
    int status = broad__rows_ready(rows);
    if (status < 0) return status;
    return broad__reserve(&rows->k, &rows->k_room, rows->rows * p);
}

int broad__rows_nodes(broad__rows *rows, const broad__piece *pieces, size_t count)
{
    int status = shape_candidate(rows, pieces, count);
    candidate c = {rows, pieces, count, 0, 0};
    double *sums = NULL;
    return status < 0 ? status : broad__rows_sum(&sums, rows, 1, candidate_shard, &c);
}

int broad__rows_candidate(broad__rows *rows, const broad__piece *pieces, size_t count)
{
    int status = shape_candidate(rows, pieces, count);
    size_t p = rows->width, outputs = rows->outputs, side = rows->dual ? rows->rows : p;
    if (status == BROAD_OK) status = broad__reserve(&rows->matrix, &rows->matrix_room, side * side);
    if (status == BROAD_OK) status = broad__reserve(&rows->cross, &rows->cross_room, p * outputs);
    if (status < 0) return status;

    int own_gram = !rows->dual && p <= SHARD_GRAM_MAX;
    candidate c = {rows, pieces, count, own_gram ? p * p : 0, rows->dual ? 0 : p * outputs};
    double *sums = NULL;
    status = broad__rows_sum(&sums, rows, c.gram + c.cross + 1, candidate_shard, &c);
    if (status < 0) return status;
    if (own_gram) memcpy(rows->matrix, sums, c.gram * sizeof(double));
    if (c.cross) memcpy(rows->cross, sums + c.gram, c.cross * sizeof(double));
    if (rows->dual) run_tiles(rows, rows->rows, dual_tile);
    else if (!own_gram) run_tiles(rows, p, gram_tile);
    return BROAD_OK;
}

/* ---- residuals ------------------------------------------------------------------------------------------------- */

typedef struct reduction {
    broad__rows *rows;
    double sign;
    const double *w;
} reduction;

static void reduce_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    (void)worker;
    reduction *r = context;
    broad__rows *rows = r->rows;
    size_t outputs = rows->outputs, p = rows->width;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        double *next = rows->next + i * outputs;
        memcpy(next, rows->e + i * outputs, n * outputs * sizeof(double));
        rows->device->apply(next, outputs, r->sign, rows->k + i * p, p, n, r->w, outputs, p, outputs);
        sums[0] += sum_of_squares(next, n * outputs);
    }
}

double broad__rows_shift(broad__rows *rows, double sign, const double *w)
{
    reduction r = {rows, sign, w};
    double *sum = NULL;
    /* One number a shard: broad__rows_open() already had that much room. */
    if (broad__rows_sum(&sum, rows, 1, reduce_shard, &r) < 0) return INFINITY;
    return sqrt(sum[0]);
}

double broad__rows_residual(broad__rows *rows, const double *w) { return broad__rows_shift(rows, -1.0, w); }

void broad__rows_keep(broad__rows *rows) { memcpy(rows->next, rows->e, rows->rows * rows->outputs * sizeof(double)); }

static void cross_next_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    (void)worker;
    broad__rows *rows = context;
    size_t outputs = rows->outputs, p = rows->width;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        rows->device->cross(sums, outputs, rows->k + i * p, p, p, rows->next + i * outputs, outputs, outputs, n);
    }
}

int broad__rows_cross_next(double *out, broad__rows *rows)
{
    double *sums = NULL;
    int status = broad__rows_sum(&sums, rows, rows->width * rows->outputs, cross_next_shard, rows);
    if (status == BROAD_OK) memcpy(out, sums, rows->width * rows->outputs * sizeof(double));
    return status;
}

void broad__rows_commit(broad__rows *rows, double norm)
{
    double *old = rows->e;
    rows->e = rows->next;
    rows->next = old;
    rows->norm = norm;
}
