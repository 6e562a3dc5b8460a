#include "layer/residual.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/residual_work.h"

enum { SLICE = 4096 }; /* numbers of the shard sums that one thread adds up at a time */

int broad__residual_size_fits(size_t a, size_t b)
{
    size_t product;
    return a <= INT_MAX && b <= INT_MAX && broad__multiply(&product, a, b) == 0 && product <= SIZE_MAX / 64;
}

/* ---- sums over shards ------------------------------------------------------------------------------------------ */

typedef struct shard_run {
    broad__residual *rows;
    broad__shard_job job;
    void *context;
    size_t doubles;
} shard_run;

/* Rows of spilled arrays that are gone through before they are given back: whole blocks, about a megabyte of E. */
static size_t stretch(const broad__residual *rows)
{
    size_t blocks = ((size_t)1 << 20) / (rows->outputs * sizeof(double)) / BROAD__BLOCK_ROWS;
    return (blocks < 64 ? 64 : blocks) * BROAD__BLOCK_ROWS;
}

void broad__residual_release(const broad__residual *rows, size_t first, size_t end)
{
    size_t bytes = (end - first) * sizeof(double);
    if (!rows->spill) return;
    broad__spill_done(rows->spill, rows->e + first * rows->outputs, bytes * rows->outputs);
    broad__spill_done(rows->spill, rows->next + first * rows->outputs, bytes * rows->outputs);
    if (rows->z) broad__spill_done(rows->spill, rows->z + first * rows->features, bytes * rows->features);
}

static void shard_run_one(void *context, size_t shard, size_t worker)
{
    shard_run *run = context;
    size_t first, end;
    broad__shard_rows(&first, &end, shard, run->rows->rows);
    double *sums = run->rows->scratch + shard * run->doubles;
    memset(sums, 0, run->doubles * sizeof(double));
    size_t most = run->rows->spill ? stretch(run->rows) : end - first;
    for (size_t i = first; i < end; i += most) {
        size_t stop = end - i < most ? end : i + most;
        run->job(run->context, i, stop, sums, worker);
        broad__residual_release(run->rows, i, stop);
    }
}

/* The tree, for a slice of the sums: each number has a tree of its own. */
static void add_slice(void *context, size_t slice, size_t worker)
{
    (void)worker;
    shard_run *run = context;
    size_t at = slice * SLICE, length = run->doubles - at < SLICE ? run->doubles - at : SLICE;
    broad__tree_sum(run->rows->scratch + at, broad__shard_count(run->rows->rows), run->doubles, length);
}

int broad__residual_sum(double **out, broad__residual *rows, size_t doubles, broad__shard_job job, void *context)
{
    size_t shards = broad__shard_count(rows->rows), count;
    if (broad__multiply(&count, shards, doubles) < 0) return broad__fail_memory(SIZE_MAX);
    int status = broad__reserve(&rows->scratch, &rows->scratch_room, count);
    if (status < 0) return status;
    shard_run run = {rows, job, context, doubles};
    broad__pool_run(rows->pool, shards, shard_run_one, &run);
    broad__pool_run(rows->pool, (doubles + SLICE - 1) / SLICE, add_slice, &run);
    *out = rows->scratch;
    return BROAD_OK;
}

double broad__residual_squares(const double *values, size_t count)
{
    double parts[8] = {0}; /* side by side, so that the additions need not wait for each other */
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t j = 0; j < 8; j++) parts[j] += values[i + j] * values[i + j];
    for (size_t j = 0; i < count; i++, j++) parts[j] += values[i] * values[i];
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static void norm_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    (void)worker;
    broad__residual *rows = context;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        sums[0] += broad__residual_squares(rows->e + i * rows->outputs, n * rows->outputs);
    }
}

static int measure(broad__residual *rows)
{
    double *sum = NULL;
    int status = broad__residual_sum(&sum, rows, 1, norm_shard, rows);
    if (status == BROAD_OK) rows->norm = sqrt(sum[0]);
    return status;
}

int broad__residual_open(broad__residual *out, const broad__device *device, broad__pool *pool, size_t outputs)
{
    *out = (broad__residual){.device = device, .pool = pool, .outputs = outputs, .keep_k = 1};
    return BROAD_OK;
}

static double *residual_room(broad__residual *rows, size_t count, size_t outputs)
{
    return broad__spill_alloc(rows->spill, count * outputs, sizeof(double));
}

/* `count` numbers, each of which may be spilled. */
static void copy_numbers(const broad__residual *rows, double *to, const double *from, size_t count)
{
    size_t most = rows->spill ? (size_t)1 << 17 : count;
    for (size_t i = 0; i < count; i += most) {
        size_t n = count - i < most ? count - i : most;
        memcpy(to + i, from + i, n * sizeof(double));
        broad__spill_done(rows->spill, to + i, n * sizeof(double));
        broad__spill_done(rows->spill, from + i, n * sizeof(double));
    }
}

/* Puts fresh arrays of rows x outputs in place; the old E has been copied into `e`. */
static int replace_residual(broad__residual *rows, double *e, size_t count, size_t outputs)
{
    double *next = residual_room(rows, count, outputs);
    if (!e || !next) {
        broad__spill_free(rows->spill, e);
        broad__spill_free(rows->spill, next);
        return BROAD_NO_MEMORY;
    }
    broad__spill_free(rows->spill, rows->e);
    broad__spill_free(rows->spill, rows->next);
    rows->e = e;
    rows->next = next;
    rows->rows = count;
    rows->outputs = outputs;
    return measure(rows);
}

int broad__residual_append(broad__residual *rows, const double *e, size_t count)
{
    size_t total = rows->rows + count;
    if (!broad__residual_size_fits(total, rows->outputs)) return broad__fail_memory(SIZE_MAX);
    double *joined = residual_room(rows, total, rows->outputs);
    if (joined && rows->rows) copy_numbers(rows, joined, rows->e, rows->rows * rows->outputs);
    if (joined) copy_numbers(rows, joined + rows->rows * rows->outputs, e, count * rows->outputs);
    return replace_residual(rows, joined, total, rows->outputs);
}

int broad__residual_reset(broad__residual *rows, const double *e)
{
    copy_numbers(rows, rows->e, e, rows->rows * rows->outputs);
    return measure(rows);
}

int broad__residual_join(broad__residual *rows, broad__residual *more)
{
    if (rows->rows) return broad__residual_append(rows, more->e, more->rows);
    broad__spill_free(rows->spill, rows->e);
    broad__spill_free(rows->spill, rows->next);
    rows->e = more->e;
    rows->next = more->next;
    rows->rows = more->rows;
    rows->norm = more->norm;
    more->e = more->next = NULL;
    return BROAD_OK;
}

size_t broad__residual_right(const broad__residual *rows, size_t first, const size_t *classes, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++) {
        const double *e = rows->e + (first + i) * rows->outputs;
        double one = rows->sqrt_weight ? rows->sqrt_weight[first + i] : 1;
        size_t truth = classes[i], best = 0;
        for (size_t c = 1; c < rows->outputs; c++)
            if ((c == truth) * one - e[c] > (best == truth) * one - e[best]) best = c;
        right += best == truth;
    }
    return right;
}

int broad__residual_widen(broad__residual *rows, size_t outputs)
{
    if (!broad__residual_size_fits(rows->rows, outputs)) return broad__fail_memory(SIZE_MAX);
    double *wide = residual_room(rows, rows->rows, outputs);
    for (size_t i = 0; wide && i < rows->rows; i++)
        memcpy(wide + i * outputs, rows->e + i * rows->outputs, rows->outputs * sizeof(double));
    return replace_residual(rows, wide, rows->rows, outputs);
}

void broad__residual_forget(broad__residual *rows)
{
    broad__free(rows->k);
    broad__free(rows->k_blocks);
    broad__free(rows->matrix);
    broad__free(rows->cross);
    broad__free(rows->scratch);
    broad__free(rows->trials);
    rows->k = rows->k_blocks = rows->matrix = rows->cross = rows->scratch = rows->trials = NULL;
    rows->k_room = rows->k_blocks_room = rows->matrix_room = rows->cross_room = 0;
    rows->scratch_room = rows->trials_room = rows->width = 0;
    rows->stored = 0;
}

void broad__residual_close(broad__residual *rows)
{
    broad__residual_forget(rows);
    broad__spill_free(rows->spill, rows->e);
    broad__spill_free(rows->spill, rows->next);
    broad__free(rows->z_blocks);
    memset(rows, 0, sizeof *rows);
}

size_t broad__kblock_width(const broad__kblock *piece) { return piece->prefix + piece->nodes.nodes; }

/* ---- Z and K ---------------------------------------------------------------------------------------------------- */

int broad__residual_ready(broad__residual *rows)
{
    if (rows->z || !rows->make_z) return BROAD_OK;
    size_t workers = broad__pool_threads(rows->pool);
    return broad__reserve(&rows->z_blocks, &rows->z_blocks_room, workers * BROAD__BLOCK_ROWS * rows->features);
}

const double *broad__residual_z(const broad__residual *rows, size_t first, size_t n, size_t worker)
{
    if (rows->z) return rows->z + first * rows->features;
    double *block = rows->z_blocks + worker * BROAD__BLOCK_ROWS * rows->features;
    rows->make_z(rows->z_context, block, first, n, worker);
    return block;
}

static void fill_piece(double *out, size_t stride, const broad__residual *rows, const broad__kblock *piece,
                       const double *z, size_t first, size_t n)
{
    for (size_t i = 0; i < n && piece->prefix; i++)
        memcpy(out + i * stride, z + i * rows->features + piece->first, piece->prefix * sizeof(double));
    if (piece->nodes.nodes) rows->device->nodes(out + piece->prefix, stride, &piece->nodes, z, rows->features, n);
    for (size_t i = 0; i < n && rows->sqrt_weight; i++)
        for (size_t j = 0; j < broad__kblock_width(piece); j++) out[i * stride + j] *= rows->sqrt_weight[first + i];
}

void broad__residual_fill(double *out, size_t stride, const broad__residual *rows, const broad__kblock *pieces,
                          size_t count, const double *z, size_t first, size_t n)
{
    for (size_t i = 0; i < count; out += broad__kblock_width(&pieces[i++]))
        fill_piece(out, stride, rows, &pieces[i], z, first, n);
}

void broad__residual_pieces(double *out, size_t stride, const broad__residual *rows, const broad__kblock *pieces,
                            size_t count, size_t first, size_t n, size_t worker)
{
    broad__residual_fill(out, stride, rows, pieces, count, broad__residual_z(rows, first, n, worker), first, n);
}

const double *broad__residual_k(const broad__residual *rows, size_t first, size_t n, size_t worker)
{
    if (rows->stored) return rows->k + first * rows->width;
    double *block = rows->k_blocks + worker * BROAD__BLOCK_ROWS * rows->width;
    broad__residual_pieces(block, rows->width, rows, &rows->piece, 1, first, n, worker);
    return block;
}

void broad__residual_commit(broad__residual *rows, double norm)
{
    double *old = rows->e;
    rows->e = rows->next;
    rows->next = old;
    rows->norm = norm;
}

void broad__residual_keep(broad__residual *rows)
{
    copy_numbers(rows, rows->next, rows->e, rows->rows * rows->outputs);
}
