/*
 * A and M of a joint fit. A never exists as a whole unless M is AA': panels of its rows are computed, then M is added
 * up tile by tile, each by one thread and in the order of the panels. Where M is small, shards of the rows have sums of
 * their own instead. Where there are many rows, they have sums of their own of one band of M after the other, a band being
 * some of its rows: A is computed again for each, so that the sums do not take much more memory than M itself.
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
#include "layer/wide_sums.h"

size_t broad__joint_band = (size_t)1 << 22;

enum {
    PANEL_NUMBERS = 5 << 20,
    PANEL_ROWS_MAX = 2048,
    FILL_ROWS = 128, /* computed by one thread at a time */
    SHARD_MAX = 256, /* M with a side up to this: shards */
    STRIP = 128,     /* of a square tile of AA' */
    BANDS_MOST = 16  /* half of M has about so many, at most */
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

const double *broad__joint_stored(const broad__joint_task *task)
{
    const broad__residual *residual = task->residual;
    size_t next = task->count ? task->kblocks[0].first : 0;
    if (!task->count || !residual->z.stored || residual->divided || residual->sqrt_weight || residual->spill)
        return NULL;
    if (residual->at->memory) return NULL;
    for (size_t i = 0; i < task->count; next += task->kblocks[i++].prefix)
        if (task->kblocks[i].nodes.nodes || task->kblocks[i].first != next) return NULL;
    return residual->z.stored + task->kblocks[0].first;
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
    const broad__joint_task *task;
    const broad__device *device;
    const double *k; /* rows of A, or columns of it in the dual form */
    size_t stride, count;
    const double *y;
    tile *tiles;
    size_t tile_count;
    size_t side;     /* of the squares, at most */
    double *squares; /* side x side per worker */
    double *panel;   /* panel_rows x columns; not in the dual form, nor where A is stored */
    size_t panel_rows;
    /* Where M is added up in a place of its own: rows [first, end) of it, strip of `side` rows by strip, each as wide as its
     * last row is up to the diagonal; then what belongs to them of A'Y. NULL: in M itself. */
    double *band;
    size_t first, end;
} addition;

/* Where the strip begins whose first row that is. */
static size_t strip_place(const addition *add, size_t row)
{
    size_t strips = (row - add->first) / add->side;
    return add->side * (strips * add->first + add->side * strips * (strips + 1) / 2);
}

/* Numbers of a band without those of A'Y. */
static size_t band_square(const addition *add)
{
    size_t last = add->first + (add->end - add->first - 1) / add->side * add->side;
    return strip_place(add, last) + (add->end - last) * add->end;
}

/* Row and column of M at which a tile begins. */
static double *tile_place(size_t *out_stride, const addition *add, const tile *t)
{
    size_t n = broad__joint_size(add->joint);
    *out_stride = add->band ? t->row + t->rows : n;
    return (add->band ? add->band + strip_place(add, t->row) : add->joint->matrix + t->row * n) + t->column;
}

/* Large tiles come near the speed of a large product; small ones leave enough tiles to share out. */
static size_t tile_side(size_t n) { return n >= 4096 ? 512 : n >= 1024 ? 256 : 128; }

/* In rows [first, end) of M; the longest first, so that the threads end together. */
static void list_tiles(addition *add)
{
    tile *out = add->tiles;
    size_t side = tile_side(broad__joint_size(add->joint)), first = add->first, end = add->end;
    for (size_t s = (end - first + side - 1) / side; s-- > 0;) {
        size_t row = first + s * side, rows = broad__min(side, end - row);
        for (size_t c = 0; c < row; c += 4 * side) *out++ = (tile){BELOW, row, rows, c, broad__min(4 * side, row - c)};
    }
    for (size_t row = first; row < end; row += side) *out++ = (tile){SQUARE, row, broad__min(side, end - row), row, 0};
    for (size_t row = first; !add->joint->dual && row < end; row += side)
        *out++ = (tile){TARGETS, row, broad__min(side, end - row), 0, 0};
    add->tile_count = (size_t)(out - add->tiles);
}

/* A place on the diagonal of M += the upper triangle of square, turned. The diagonal itself lies `step` numbers apart. */
static void add_turned(double *m, size_t stride, double *diagonal, size_t step, const double *square, size_t side)
{
    enum { SMALL = 16 };
    for (size_t i = 0; i < side; i++) diagonal[i * step] += square[i * side + i];
    for (size_t a = 0; a < side; a += SMALL)
        for (size_t b = 0; b <= a; b += SMALL)
            for (size_t i = a; i < broad__min(a + SMALL, side); i++)
                for (size_t k = b; k < broad__min(b + SMALL, i); k++) m[i * stride + k] += square[k * side + i];
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
    size_t apart;
    double *m = tile_place(&apart, add, t);
    add_turned(m, apart, add->band ? m : add->joint->diagonal + t->row, add->band ? apart + 1 : 1, square, side);
}

static void add_below(const addition *add, const tile *t)
{
    size_t n, stride = add->stride;
    double *out = tile_place(&n, add, t);
    if (add->joint->dual)
        add->device->outer(out, n, add->k + t->row * stride, stride, t->rows, add->k + t->column * stride, stride,
                           t->columns, add->count);
    else
        add->device->cross(out, n, add->k + t->row, stride, t->rows, add->k + t->column, stride, t->columns,
                           add->count);
}

static void add_targets(const addition *add, const tile *t)
{
    size_t c = add->joint->outputs;
    double *to = add->band ? add->band + band_square(add) + (t->row - add->first) * c : add->joint->cross + t->row * c;
    add->device->cross(to, c, add->k + t->row, add->stride, t->rows, add->y, c, c, add->count);
}

static void add_tile(void *context, size_t index, size_t worker)
{
    const addition *add = context;
    const tile *t = &add->tiles[index];
    switch (t->kind) {
    case BELOW: add_below(add, t); break;
    case SQUARE: add_square(add, t, add->squares + worker * add->side * add->side); break;
    case TARGETS: add_targets(add, t); break;
    }
}

static void addition_close(addition *add)
{
    broad__free(add->tiles);
    broad__free(add->squares);
    broad__free(add->panel);
}

static size_t panel_rows(size_t columns)
{
    size_t rows = PANEL_NUMBERS / (columns ? columns : 1) / BROAD__BLOCK_ROWS * BROAD__BLOCK_ROWS;
    return rows < BROAD__BLOCK_ROWS ? BROAD__BLOCK_ROWS : broad__min(rows, PANEL_ROWS_MAX);
}

/* Of the rows of M from `from` on; rows: of the data at a time, at most. */
static int addition_open(addition *out, broad__joint *j, const broad__joint_task *task, size_t from, size_t rows)
{
    const broad__residual *residual = task->residual;
    size_t n = broad__joint_size(j), side = broad__min(tile_side(n), n - from), across = n / tile_side(n) + 2;
    *out = (addition){.joint = j, .task = task, .device = residual->device, .side = side, .first = from, .end = n};
    out->tiles = broad__alloc_array(across * across, sizeof *out->tiles);
    out->squares = broad__alloc_doubles(broad__pool_threads(residual->pool), side * side);
    out->panel_rows = broad__min(panel_rows(j->columns), rows);
    int filled = !j->dual && !broad__joint_stored(task);
    out->panel = filled ? broad__alloc_doubles(out->panel_rows, j->columns) : NULL;
    if (!out->tiles || !out->squares || (filled && !out->panel)) {
        addition_close(out);
        return BROAD_NO_MEMORY;
    }
    list_tiles(out);
    return BROAD_OK;
}

/* Kblocks of the first columns of A. */
static size_t kblocks_within(const broad__joint_task *task, size_t columns)
{
    size_t count = 0;
    for (size_t width = 0; count < task->count && width < columns; count++)
        width += broad__kblock_width(&task->kblocks[count]);
    return count;
}

/* Rows [first, end) of the data, panel by panel. */
static void add_panels(addition *add, size_t first, size_t end)
{
    const broad__joint_task *task = add->task;
    const broad__residual *residual = task->residual;
    size_t rows = add->panel_rows, columns = add->joint->columns, kblocks = kblocks_within(task, add->end);
    const double *stored = broad__joint_stored(task);
    for (size_t i = first; i < end && !broad__watch_stopped(); i += rows) {
        size_t stop = broad__min(i + rows, end);
        add->k = stored ? stored + i * residual->z.features : add->panel;
        add->stride = stored ? residual->z.features : columns;
        if (!stored)
            broad__joint_fill((broad__joint_filling){residual, task->kblocks, kblocks, i, stop, add->panel, columns});
        add->count = stop - i;
        add->y = task->y + i * add->joint->outputs;
        broad__pool_run(residual->pool, add->tile_count, add_tile, add);
        broad__residual_release(residual, i, stop);
    }
}

static int add_rows(broad__joint *j, const broad__joint_task *task, size_t first, size_t end, size_t from)
{
    addition add;
    int status = addition_open(&add, j, task, from, end - first);
    if (status < 0) return status;
    add_panels(&add, first, end);
    addition_close(&add);
    return BROAD_OK;
}

/* ---- bands of M ------------------------------------------------------------------------------------------------ */

/* Whole strips, as many as a band may have. */
static size_t band_end(const addition *add, size_t n)
{
    addition one = *add;
    size_t most = broad__max(broad__joint_band, n / BANDS_MOST * n);
    for (one.end = broad__min(add->first + add->side, n); one.end < n;) {
        size_t end = one.end;
        one.end = broad__min(end + add->side, n);
        if (band_square(&one) > most) return end;
    }
    return one.end;
}

void broad__joint_sums_needed(size_t *out_sums, double *out_numbers, size_t columns, size_t from, size_t outputs)
{
    size_t q = columns - from;
    *out_sums = q > 0;
    *out_numbers = (double)q * (double)(columns + outputs);
    if (columns <= SHARD_MAX || !q) return;
    addition add = {.side = broad__min(tile_side(columns), q), .first = from};
    *out_sums = 0;
    *out_numbers = (double)q * (double)outputs;
    for (; add.first < columns; add.first = add.end) {
        add.end = band_end(&add, columns);
        ++*out_sums;
        *out_numbers += (double)band_square(&add);
    }
}

/* Into M, which has nothing there yet. */
static void unpack_band(const addition *add, const double *band)
{
    broad__joint *j = add->joint;
    size_t n = j->columns, c = j->outputs;
    for (size_t row = add->first; row < add->end; row += add->side) {
        size_t rows = broad__min(add->side, add->end - row), width = row + rows;
        const double *strip = band + strip_place(add, row);
        for (size_t i = 0; i < rows; i++) {
            memcpy(j->matrix + (row + i) * n, strip + i * width, (row + i) * sizeof *strip);
            j->diagonal[row + i] = strip[i * width + row + i];
        }
    }
    memcpy(j->cross + add->first * c, band + band_square(add), (add->end - add->first) * c * sizeof *band);
}

static void add_band(void *context, size_t first, size_t end, double *sums)
{
    addition *add = context;
    add->band = sums;
    add_panels(add, first, end);
}

static int add_bands(broad__joint *j, const broad__joint_task *task, size_t from)
{
    size_t n = j->columns, first, shard;
    addition add;
    broad__shard_rows(&first, &shard, 0, task->residual->rows); /* none is larger */
    int status = addition_open(&add, j, task, from, shard);
    if (status < 0) return status;
    for (add.first = from; status == BROAD_OK && add.first < n; add.first = add.end) {
        double *sums = NULL;
        add.end = band_end(&add, n);
        list_tiles(&add);
        status = broad__wide_sums(&sums, task->residual, band_square(&add) + (add.end - add.first) * j->outputs,
                                  add_band, &add);
        if (status == BROAD_OK) unpack_band(&add, sums);
        broad__free(sums);
    }
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
    add_turned(j->matrix + from * n + from, n, j->diagonal + from, 1, sums, q);
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < from; k++) j->matrix[(from + i) * n + k] += sums[q * q + i * from + k];
    for (size_t i = 0; i < q * c; i++) j->cross[from * c + i] += sums[q * n + i];
    return BROAD_OK;
}

int broad__joint_add(broad__joint *j, const broad__joint_task *task, size_t first, size_t end, size_t from)
{
    int whole = first == 0 && end == task->residual->rows;
    int status;
    if (whole && (j->columns <= SHARD_MAX || task->residual->at->memory)) status = add_shards(j, task, from);
    else if (whole && broad__wide_has_shards(end)) status = add_bands(j, task, from);
    else status = add_rows(j, task, first, end, from);
    return broad__watch_check(status);
}

int broad__joint_add_dual(broad__joint *j, const broad__joint_task *task, size_t column, size_t from)
{
    addition add;
    int status = addition_open(&add, j, task, from, 0);
    if (status < 0) return status;
    add.k = j->a + column;
    add.stride = j->columns;
    add.count = j->columns - column;
    broad__pool_run(task->residual->pool, add.tile_count, add_tile, &add);
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
    double half = (double)n * (double)n / 2, most = fmax((double)broad__joint_band, (double)n / BANDS_MOST * (double)n);
    double parts = broad__wide_has_shards(e->rows) ? (double)broad__wide_parts(broad__shard_count(e->rows)) : 0;
    return (double)(broad__min(panel_rows(p), e->rows) * p + squares) + parts * fmin(half, most);
}

double broad__joint_numbers(const broad__joint_extent *e)
{
    size_t n = broad__min(e->rows, e->columns), some = broad__min(e->rows, BROAD__LOO_ROWS);
    double p = (double)e->columns, c = (double)e->outputs, square = (double)n * (double)n, sums = sums_numbers(e, n);
    double kept = (e->spare ? 2 : 1) * square + 4 * p * c + (double)n,
           factor = (double)broad__cholesky_scratch(n, e->threads);
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
