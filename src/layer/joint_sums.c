/*
 * A and M of a joint fit. A never exists as a whole unless M is AA': panels of its rows are computed, then M is added
 * up tile by tile, each by one thread and in the order of the panels. Where M is small, shards of the rows have sums of
 * their own instead.
 */
#include "layer/joint_sums.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/shard_sums.h"

enum {
    PANEL_NUMBERS = 5 << 20,
    PANEL_ROWS_MAX = 2048,
    FILL_ROWS = 128, /* computed by one thread at a time */
    SHARD_MAX = 256, /* M with a side up to this: shards */
    STRIP = 128      /* of a square tile of AA' */
};

/* ---- A --------------------------------------------------------------------------------------------------------- */

static void fill_block(void *context, size_t index, size_t worker)
{
    const broad__joint_filling *f = context;
    size_t row = index * FILL_ROWS, n = broad__min(FILL_ROWS, f->end - f->first - row);
    broad__row_block block = broad__residual_block(f->residual, f->first + row, n, worker);
    broad__residual_columns(f->out + row * f->stride, f->stride, f->residual, f->kblocks, f->count, &block);
}

void broad__joint_fill(broad__joint_filling filling)
{
    size_t rows = filling.end - filling.first;
    broad__pool_run(filling.residual->pool, (rows + FILL_ROWS - 1) / FILL_ROWS, fill_block, &filling);
}

/* ---- tiles of M ------------------------------------------------------------------------------------------------ */

typedef enum tile_kind { BELOW, SQUARE, TARGETS } tile_kind;

/* Rows [row, row + rows) of M; of its columns some before these, or the same, or what belongs to them of A'Y. */
typedef struct tile {
    tile_kind kind;
    size_t row, rows, column, columns;
} tile;

typedef struct addition {
    broad__joint *joint;
    const broad__device *device;
    const double *k; /* rows of A, or columns of it in the dual form */
    size_t stride, count;
    const double *y;
    tile *tiles;
    size_t side;     /* of the squares, at most */
    double *squares; /* side x side per worker */
} addition;

/* Large tiles come near the speed of a large product; small ones leave enough tiles to share out. */
static size_t tile_side(size_t n) { return n >= 4096 ? 512 : n >= 1024 ? 256 : 128; }

/* In rows of M from `from` on; the longest first, so that the threads end together. */
static size_t list_tiles(tile *out, size_t from, size_t n, int targets)
{
    size_t count = 0, side = tile_side(n), strips = (n - from + side - 1) / side;
    for (size_t s = strips; s-- > 0;) {
        size_t row = from + s * side, rows = broad__min(side, n - row);
        for (size_t c = 0; c < row; c += 4 * side)
            out[count++] = (tile){BELOW, row, rows, c, broad__min(4 * side, row - c)};
    }
    for (size_t row = from; row < n; row += side) out[count++] = (tile){SQUARE, row, broad__min(side, n - row), row, 0};
    for (size_t row = from; targets && row < n; row += side)
        out[count++] = (tile){TARGETS, row, broad__min(side, n - row), 0, 0};
    return count;
}

/* M, at `row` on its diagonal, += the upper triangle of square, turned. */
static void add_turned(broad__joint *j, size_t row, const double *square, size_t side)
{
    enum { SMALL = 16 };
    size_t n = broad__joint_size(j);
    double *m = j->matrix + row * n + row;
    for (size_t i = 0; i < side; i++) j->diagonal[row + i] += square[i * side + i];
    for (size_t a = 0; a < side; a += SMALL)
        for (size_t b = 0; b <= a; b += SMALL)
            for (size_t i = a; i < broad__min(a + SMALL, side); i++)
                for (size_t k = b; k < broad__min(b + SMALL, i); k++) m[i * n + k] += square[k * side + i];
}

static void add_square(const addition *add, const tile *t, double *square)
{
    size_t side = t->rows, stride = add->stride;
    memset(square, 0, side * side * sizeof(double));
    if (!add->joint->dual) add->device->gram(square, side, add->k + t->row, stride, add->count, side);
    for (size_t i = 0; add->joint->dual && i < side; i += STRIP) {
        const double *k = add->k + (t->row + i) * stride;
        add->device->outer(square + i * side + i, side, k, stride, broad__min(STRIP, side - i), k, stride, side - i,
                           add->count);
    }
    add_turned(add->joint, t->row, square, side);
}

static void add_below(const addition *add, const tile *t)
{
    size_t n = broad__joint_size(add->joint), stride = add->stride;
    double *out = add->joint->matrix + t->row * n + t->column;
    if (add->joint->dual)
        add->device->outer(out, n, add->k + t->row * stride, stride, t->rows, add->k + t->column * stride, stride,
                           t->columns, add->count);
    else
        add->device->cross(out, n, add->k + t->row, stride, t->rows, add->k + t->column, stride, t->columns,
                           add->count);
}

static void add_tile(void *context, size_t index, size_t worker)
{
    const addition *add = context;
    const tile *t = &add->tiles[index];
    size_t c = add->joint->outputs;
    switch (t->kind) {
    case BELOW: add_below(add, t); break;
    case SQUARE: add_square(add, t, add->squares + worker * add->side * add->side); break;
    case TARGETS:
        add->device->cross(add->joint->cross + t->row * c, c, add->k + t->row, add->stride, t->rows, add->y, c, c,
                           add->count);
        break;
    }
}

static void addition_close(addition *add)
{
    broad__free(add->tiles);
    broad__free(add->squares);
}

/* *out_tiles: how many there are. */
static int addition_open(addition *out, size_t *out_tiles, broad__joint *j, const broad__residual *residual,
                         size_t from)
{
    size_t n = broad__joint_size(j), side = broad__min(tile_side(n), n - from), across = n / tile_side(n) + 2;
    *out = (addition){.joint = j, .device = residual->device, .side = side};
    out->tiles = broad__alloc_array(across * across, sizeof *out->tiles);
    out->squares = broad__alloc_doubles(broad__pool_threads(residual->pool), side * side);
    if (!out->tiles || !out->squares) {
        addition_close(out);
        return BROAD_NO_MEMORY;
    }
    *out_tiles = list_tiles(out->tiles, from, n, !j->dual);
    return BROAD_OK;
}

static size_t panel_rows(size_t columns)
{
    size_t rows = PANEL_NUMBERS / (columns ? columns : 1) / BROAD__BLOCK_ROWS * BROAD__BLOCK_ROWS;
    return rows < BROAD__BLOCK_ROWS ? BROAD__BLOCK_ROWS : broad__min(rows, PANEL_ROWS_MAX);
}

static int add_panels(broad__joint *j, const broad__joint_task *task, size_t first, size_t end, size_t from)
{
    const broad__residual *residual = task->residual;
    size_t tiles = 0, rows = panel_rows(j->columns);
    addition add;
    int status = addition_open(&add, &tiles, j, residual, from);
    if (status < 0) return status;
    double *panel = broad__alloc_doubles(broad__min(rows, end - first), j->columns);
    if (!panel) status = BROAD_NO_MEMORY;
    for (size_t i = first; status == BROAD_OK && i < end && !broad__watch_stopped(); i += rows) {
        size_t stop = broad__min(i + rows, end);
        broad__joint_fill((broad__joint_filling){residual, task->kblocks, task->count, i, stop, panel, j->columns});
        add.k = panel;
        add.stride = j->columns;
        add.count = stop - i;
        add.y = task->y + i * j->outputs;
        broad__pool_run(residual->pool, tiles, add_tile, &add);
        broad__residual_release(residual, i, stop);
    }
    broad__free(panel);
    addition_close(&add);
    return status;
}

/* ---- shards ---------------------------------------------------------------------------------------------------- */

typedef struct shard_addition {
    broad__joint *joint;
    const broad__joint_task *task;
    size_t from;
    size_t step;    /* rows at a time */
    double *blocks; /* step x columns per worker */
} shard_addition;

/* sums: K'K of the columns from `from` on, their products with those before, and with Y. */
static void add_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    shard_addition *add = context;
    const broad__residual *residual = add->task->residual;
    size_t p = add->joint->columns, c = add->joint->outputs, from = add->from, q = p - from;
    const broad__device *at = residual->at;
    double *k = add->blocks + worker * add->step * p, *below = sums + q * q, *cross = below + q * from;
    double block_flops = (double)add->step * (double)p * (double)q;
    for (size_t i = first; i < end && !broad__watch_look(block_flops); i += add->step) {
        size_t n = broad__min(add->step, end - i);
        const double *y = add->task->y + i * c;
        broad__row_block block = broad__residual_block(residual, i, n, worker);
        broad__residual_columns(k, p, residual, add->task->kblocks, add->task->count, &block);
        if (at->memory) at->memory->put(residual->next + i * c, y, n * c), y = residual->next + i * c;
        at->gram(sums, q, k + from, p, n, q);
        if (from) at->cross(below, from, k + from, p, q, k, p, from, n);
        at->cross(cross, c, k + from, p, q, y, c, c, n);
    }
}

static int add_shards(broad__joint *j, const broad__joint_task *task, size_t from)
{
    size_t n = j->columns, q = n - from, c = j->outputs;
    shard_addition add = {j, task, from, broad__residual_step(task->residual, n), NULL};
    double *sums = NULL;
    int status = broad__rows_alloc(&add.blocks, task->residual, add.step, n);
    if (status == BROAD_OK) status = broad__shard_sums(&sums, task->residual, q * (q + from + c), add_shard, &add);
    broad__rows_free(task->residual, add.blocks);
    if (status < 0) return status;
    add_turned(j, from, sums, q);
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < from; k++) j->matrix[(from + i) * n + k] += sums[q * q + i * from + k];
    for (size_t i = 0; i < q * c; i++) j->cross[from * c + i] += sums[q * n + i];
    return BROAD_OK;
}

int broad__joint_add(broad__joint *j, const broad__joint_task *task, size_t first, size_t end, size_t from)
{
    int whole = first == 0 && end == task->residual->rows;
    int shards = whole && (j->columns <= SHARD_MAX || task->residual->at->memory);
    return broad__watch_check(shards ? add_shards(j, task, from) : add_panels(j, task, first, end, from));
}

int broad__joint_add_dual(broad__joint *j, const broad__joint_task *task, size_t column, size_t from)
{
    size_t tiles = 0;
    addition add;
    int status = addition_open(&add, &tiles, j, task->residual, from);
    if (status < 0) return status;
    add.k = j->a + column;
    add.stride = j->columns;
    add.count = j->columns - column;
    broad__pool_run(task->residual->pool, tiles, add_tile, &add);
    addition_close(&add);
    return broad__watch_check(BROAD_OK);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Scratch for adding up M, released afterwards. */
static double sums_numbers(const broad__joint_extent *e, size_t n)
{
    size_t p = e->columns, side = broad__min(tile_side(n), n), squares = e->threads * side * side;
    if (n < p) return (double)squares;
    if (p <= SHARD_MAX) return (double)(e->threads * BROAD__BLOCK_ROWS * p);
    return (double)(broad__min(panel_rows(p), e->rows) * p + squares);
}

double broad__joint_numbers(const broad__joint_extent *e)
{
    size_t n = broad__min(e->rows, e->columns), some = broad__min(e->rows, BROAD__LOO_ROWS);
    double p = (double)e->columns, c = (double)e->outputs, square = (double)n * (double)n, sums = sums_numbers(e, n);
    double kept = square + 4 * p * c + (double)n, factor = (double)broad__cholesky_scratch(n, e->threads);
    double spectral = e->spectral ? 3 * square : 0;
    if (n < e->columns) {
        double left_out = e->loo ? square : 0; /* with groups */
        return kept + (double)n * (p + 4 * c) + factor + fmax(sums, fmax(spectral, left_out));
    }
    double sample = e->loo ? (double)some * (p + 2 * c) : 0, taking = e->loo ? (double)(some * e->features) : 0;
    double passes = (double)(e->threads * BROAD__BLOCK_ROWS) * (p + c), shards = (double)broad__shard_count(e->rows);
    kept += shards * p * (e->columns <= SHARD_MAX ? p + c : c);
    return kept + fmax(sums, sample + fmax(fmax(factor, passes), fmax(spectral, taking)));
}
