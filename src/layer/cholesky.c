#include "layer/cholesky.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"

/* Large blocks keep the products near their best speed; small ones leave enough tiles to share out. */
enum { BLOCK = 128, BLOCK_LARGE = 192, LARGE = 1500, TILE_COLUMNS = 1024, CORNER = 128, STRIP = 192, WHITEN_ROWS = 64 };

/* A tile of the remaining matrix: rows from `row` on, columns from `column` on; or the square on the diagonal that
 * these rows have. */
typedef struct tile {
    size_t row, rows, column, columns;
} tile;

/* One step: A11 = R11'R11, R12 = R11^-T A12, A22 -= R12'R12. */
typedef struct step {
    const broad__cholesky_task *task;
    size_t block, first, columns; /* the block on the diagonal */
    size_t begin;                 /* first column of A12 that has not been computed */
    double *diagonal;             /* R11, columns x columns */
    double *minus;                /* -R12, columns x n */
    double *strips;               /* strip_of(n) x block per worker: columns of R12 as rows */
    double *corners;              /* corner_of(n) squared per worker */
    tile *tiles;
} step;

static size_t max(size_t a, size_t b) { return a > b ? a : b; }

static size_t block_of(size_t n) { return broad__min(n, n >= LARGE ? BLOCK_LARGE : BLOCK); }

static size_t strip_of(size_t n) { return broad__min(n, STRIP); }

static size_t corner_of(size_t n) { return broad__min(n, CORNER); }

size_t broad__cholesky_scratch(size_t n, size_t threads)
{
    size_t block = block_of(n), corner = corner_of(n);
    return block * block + n * block + threads * (corner * corner + strip_of(n) * block);
}

/* out (columns x rows) = in' */
static void turn(double *out, size_t out_stride, const double *in, size_t in_stride, size_t rows, size_t columns)
{
    enum { SIDE = 16 };
    for (size_t i = 0; i < rows; i += SIDE)
        for (size_t j = 0; j < columns; j += SIDE)
            for (size_t k = i; k < broad__min(i + SIDE, rows); k++)
                for (size_t l = j; l < broad__min(j + SIDE, columns); l++)
                    out[l * out_stride + k] = in[k * in_stride + l];
}

/* Columns of R12, as rows of their transpose; those before `begin` have been computed. */
static void panel_strip(void *context, size_t index, size_t worker)
{
    step *s = context;
    size_t n = s->task->n, column = s->first + s->columns + index * STRIP, count = broad__min(STRIP, n - column);
    size_t columns = s->columns, old = column < s->begin ? broad__min(s->begin - column, count) : 0;
    double *turned = s->strips + worker * strip_of(n) * s->block, *rows = s->task->a + s->first * n + column;
    turn(turned, columns, rows + old, n, columns, count - old);
    s->task->device->whiten(turned, columns, count - old, s->diagonal, columns, columns);
    turn(rows + old, n, turned, columns, count - old, columns);
    for (size_t i = 0; i < columns; i++)
        for (size_t k = 0; k < count; k++) s->minus[i * n + column + k] = -rows[i * n + k];
}

/* A22 -= R12'R12 over one tile. */
static void subtract(const step *s, double *out, size_t stride, tile t)
{
    size_t n = s->task->n;
    s->task->device->cross(out, stride, s->minus + t.row, n, t.rows, s->task->a + s->first * n + t.column, n, t.columns,
                           s->columns);
}

/* The square on the diagonal, strip by strip; what is below the diagonal stays. */
static void subtract_square(const step *s, size_t first, size_t side, double *corner)
{
    size_t n = s->task->n, end = first + side;
    for (size_t i = first; i < end; i += CORNER) {
        size_t rows = broad__min(CORNER, end - i), right = i + rows;
        double *out = s->task->a + i * n;
        for (size_t k = 0; k < rows; k++) memcpy(corner + k * rows, out + k * n + i, rows * sizeof(double));
        subtract(s, corner, rows, (tile){i, rows, i, rows});
        for (size_t k = 0; k < rows; k++)
            memcpy(out + k * n + i + k, corner + k * rows + k, (rows - k) * sizeof(double));
        if (right < end) subtract(s, out + right, n, (tile){i, rows, right, end - right});
    }
}

static void trailing_tile(void *context, size_t index, size_t worker)
{
    step *s = context;
    const tile *t = &s->tiles[index];
    if (t->columns) subtract(s, s->task->a + t->row * s->task->n + t->column, s->task->n, *t);
    else subtract_square(s, t->row, t->rows, s->corners + worker * corner_of(s->task->n) * corner_of(s->task->n));
}

/* The tiles of A22, squares last: they are small and even out the work of the threads. */
static size_t list_tiles(tile *out, const step *s)
{
    size_t n = s->task->n, count = 0, rows;
    for (size_t row = s->first + s->columns; row < n; row += rows) {
        rows = broad__min(s->block, (row < s->task->done ? s->task->done : n) - row);
        for (size_t c = max(row + rows, s->begin); c < n; c += TILE_COLUMNS)
            out[count++] = (tile){row, rows, c, broad__min(TILE_COLUMNS, n - c)};
    }
    for (size_t row = s->begin; row < n; row += s->block)
        out[count++] = (tile){row, broad__min(s->block, n - row), row, 0};
    return count;
}

/* R11, in a block of its own. Returns the pivot that is not positive, or 0. */
static size_t factor_diagonal(const step *s)
{
    size_t n = s->task->n, columns = s->columns, pivot = 0;
    double *a = s->task->a + s->first * n + s->first;
    memset(s->diagonal, 0, columns * columns * sizeof(double));
    for (size_t i = 0; i < columns; i++)
        memcpy(s->diagonal + i * columns + i, a + i * n + i, (columns - i) * sizeof(double));
    if (s->first >= s->task->done) pivot = s->task->device->factor(s->diagonal, columns);
    for (size_t i = 0; i < columns; i++)
        memcpy(a + i * n + i, s->diagonal + i * columns + i, (columns - i) * sizeof(double));
    return pivot;
}

static void run_step(step *s)
{
    size_t n = s->task->n;
    s->begin = max(s->first + s->columns, s->task->done);
    if (s->begin >= n) return;
    broad__pool_run(s->task->pool, (n - s->first - s->columns + STRIP - 1) / STRIP, panel_strip, s);
    broad__pool_run(s->task->pool, list_tiles(s->tiles, s), trailing_tile, s);
}

int broad__cholesky(size_t *out_pivot, const broad__cholesky_task *task)
{
    size_t n = task->n, threads = broad__pool_threads(task->pool), block = block_of(n),
           across = n / (block + !block) + 2;
    step s = {.task = task, .block = block};
    *out_pivot = 0;
    if (task->device->far && !task->done) {
        *out_pivot = task->device->factor(task->a, n);
        return broad__watch_check(BROAD_OK);
    }
    s.diagonal = broad__alloc_unset(broad__cholesky_scratch(n, threads), sizeof *s.diagonal);
    s.tiles = broad__alloc_array(across * (n / TILE_COLUMNS + 2) + across, sizeof *s.tiles);
    int status = s.diagonal && s.tiles ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        s.minus = s.diagonal + block * block;
        s.strips = s.minus + n * block;
        s.corners = s.strips + threads * strip_of(n) * block;
    }
    for (; status == BROAD_OK && !*out_pivot && s.first < n; s.first += s.columns) {
        s.columns = broad__min(block, (s.first < task->done ? task->done : n) - s.first);
        size_t pivot = factor_diagonal(&s);
        if (pivot) *out_pivot = s.first + pivot;
        else run_step(&s);
        status = broad__watch_check(BROAD_OK);
    }
    broad__free(s.diagonal);
    broad__free(s.tiles);
    return status;
}

typedef struct whitening {
    double *b;
    size_t rows, n;
    const double *r;
    const broad__device *device;
} whitening;

static void whiten_piece(void *context, size_t index, size_t worker)
{
    (void)worker;
    const whitening *w = context;
    size_t first = index * WHITEN_ROWS;
    w->device->whiten(w->b + first * w->n, w->n, broad__min(WHITEN_ROWS, w->rows - first), w->r, w->n, w->n);
}

void broad__whiten_rows(double *b, size_t rows, const double *r, size_t n, const broad__device *device,
                        broad__pool *pool)
{
    whitening w = {b, rows, n, r, device};
    if (device->far) device->whiten(b, n, rows, r, n, n);
    else broad__pool_run(pool, (rows + WHITEN_ROWS - 1) / WHITEN_ROWS, whiten_piece, &w);
}
