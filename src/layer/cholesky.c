#include "layer/cholesky.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* Large blocks keep the products near their best speed, small ones leave enough of them to share out. */
enum { BLOCK = 128, BLOCK_LARGE = 192, LARGE = 1500, WIDE = 1024, CORNER = 128, STRIP = 192, WHITEN_ROWS = 64 };

/* A tile of what is left: rows from `row` on, columns from `column` on; or the square on the diagonal that these rows have. */
typedef struct tile {
    size_t row, high, column, wide;
} tile;

/* One step: A11 = R11'R11, R12 = R11^-T A12, A22 -= R12'R12. */
typedef struct step {
    const broad__cholesky_task *task;
    size_t block, first, wide; /* the block on the diagonal */
    size_t begin;              /* first column of A12 that is not there yet */
    double *diagonal;          /* R11, wide x wide */
    double *minus;             /* -R12, wide x n */
    double *strips;            /* STRIP x wide for each worker: columns of R12 as rows */
    double *corners;           /* CORNER x CORNER for each worker */
    tile *tiles;
    atomic_int stopped;
} step;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

static size_t block_of(size_t n) { return n >= LARGE ? BLOCK_LARGE : BLOCK; }

size_t broad__cholesky_scratch(size_t n, size_t threads)
{
    size_t block = block_of(n);
    return block * block + n * block + threads * (CORNER * CORNER + STRIP * block);
}

static void ask(step *s, size_t worker)
{
    if (worker == 0 && s->task->stop && s->task->stop(s->task->context)) atomic_store(&s->stopped, 1);
}

/* out (columns x rows) = in' */
static void turn(double *out, size_t out_stride, const double *in, size_t in_stride, size_t rows, size_t columns)
{
    enum { SIDE = 16 };
    for (size_t i = 0; i < rows; i += SIDE)
        for (size_t j = 0; j < columns; j += SIDE)
            for (size_t k = i; k < least(i + SIDE, rows); k++)
                for (size_t l = j; l < least(j + SIDE, columns); l++) out[l * out_stride + k] = in[k * in_stride + l];
}

/* Columns of R12, as rows of their transpose; those before `begin` are there already. */
static void panel_piece(void *context, size_t index, size_t worker)
{
    step *s = context;
    size_t n = s->task->n, column = s->first + s->wide + index * STRIP, count = least(STRIP, n - column);
    size_t wide = s->wide, old = column < s->begin ? least(s->begin - column, count) : 0;
    double *turned = s->strips + worker * STRIP * wide, *rows = s->task->a + s->first * n + column;
    if (atomic_load(&s->stopped)) return;
    turn(turned, wide, rows + old, n, wide, count - old);
    s->task->device->whiten(turned, wide, count - old, s->diagonal, wide, wide);
    turn(rows + old, n, turned, wide, count - old, wide);
    for (size_t i = 0; i < wide; i++)
        for (size_t k = 0; k < count; k++) s->minus[i * n + column + k] = -rows[i * n + k];
    ask(s, worker);
}

/* A22 -= R12'R12 over one tile. */
static void subtract(const step *s, double *out, size_t stride, size_t row, size_t high, size_t column, size_t wide)
{
    size_t n = s->task->n;
    s->task->device->cross(out, stride, s->minus + row, n, high, s->task->a + s->first * n + column, n, wide, s->wide);
}

/* The square on the diagonal, strip by strip; what is below the diagonal stays. */
static void subtract_square(const step *s, size_t first, size_t side, double *corner)
{
    size_t n = s->task->n, end = first + side;
    for (size_t i = first; i < end; i += CORNER) {
        size_t high = least(CORNER, end - i), right = i + high;
        double *out = s->task->a + i * n;
        for (size_t k = 0; k < high; k++) memcpy(corner + k * high, out + k * n + i, high * sizeof(double));
        subtract(s, corner, high, i, high, i, high);
        for (size_t k = 0; k < high; k++)
            memcpy(out + k * n + i + k, corner + k * high + k, (high - k) * sizeof(double));
        if (right < end) subtract(s, out + right, n, i, high, right, end - right);
    }
}

static void trailing_piece(void *context, size_t index, size_t worker)
{
    step *s = context;
    const tile *t = &s->tiles[index];
    if (atomic_load(&s->stopped)) return;
    if (t->wide)
        subtract(s, s->task->a + t->row * s->task->n + t->column, s->task->n, t->row, t->high, t->column, t->wide);
    else subtract_square(s, t->row, t->high, s->corners + worker * CORNER * CORNER);
    ask(s, worker);
}

/* The tiles of A22, squares last: they are small and even out what the threads have to do. */
static size_t list_tiles(tile *out, const step *s)
{
    size_t n = s->task->n, count = 0, high;
    for (size_t row = s->first + s->wide; row < n; row += high) {
        high = least(s->block, (row < s->task->done ? s->task->done : n) - row);
        for (size_t c = most(row + high, s->begin); c < n; c += WIDE)
            out[count++] = (tile){row, high, c, least(WIDE, n - c)};
    }
    for (size_t row = s->begin; row < n; row += s->block) out[count++] = (tile){row, least(s->block, n - row), row, 0};
    return count;
}

/* R11, in a block of its own. Returns the pivot that is not positive, or 0. */
static size_t factor_diagonal(const step *s)
{
    size_t n = s->task->n, wide = s->wide, pivot = 0;
    double *a = s->task->a + s->first * n + s->first;
    memset(s->diagonal, 0, wide * wide * sizeof(double));
    for (size_t i = 0; i < wide; i++) memcpy(s->diagonal + i * wide + i, a + i * n + i, (wide - i) * sizeof(double));
    if (s->first >= s->task->done) pivot = s->task->device->factor(s->diagonal, wide);
    for (size_t i = 0; i < wide; i++) memcpy(a + i * n + i, s->diagonal + i * wide + i, (wide - i) * sizeof(double));
    return pivot;
}

static void run_step(step *s)
{
    size_t n = s->task->n;
    s->begin = most(s->first + s->wide, s->task->done);
    if (s->begin >= n) return;
    broad__pool_run(s->task->pool, (n - s->first - s->wide + STRIP - 1) / STRIP, panel_piece, s);
    broad__pool_run(s->task->pool, list_tiles(s->tiles, s), trailing_piece, s);
}

int broad__cholesky(size_t *out_pivot, const broad__cholesky_task *task)
{
    size_t n = task->n, threads = broad__pool_threads(task->pool), block = block_of(n), across = n / block + 2;
    step s = {.task = task, .block = block};
    *out_pivot = 0;
    s.diagonal = broad__alloc_doubles(broad__cholesky_scratch(n, threads), 1);
    s.tiles = broad__alloc_array(across * (n / WIDE + 2) + across, sizeof *s.tiles);
    int status = s.diagonal && s.tiles ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        s.minus = s.diagonal + block * block;
        s.strips = s.minus + n * block;
        s.corners = s.strips + threads * STRIP * block;
    }
    for (; status == BROAD_OK && !*out_pivot && s.first < n; s.first += s.wide) {
        s.wide = least(block, (s.first < task->done ? task->done : n) - s.first);
        size_t pivot = factor_diagonal(&s);
        if (pivot) *out_pivot = s.first + pivot;
        else run_step(&s);
        status = atomic_load(&s.stopped);
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
    w->device->whiten(w->b + first * w->n, w->n, least(WHITEN_ROWS, w->rows - first), w->r, w->n, w->n);
}

void broad__whiten_rows(double *b, size_t rows, const double *r, size_t n, const broad__device *device,
                        broad__pool *pool)
{
    whitening w = {b, rows, n, r, device};
    broad__pool_run(pool, (rows + WHITEN_ROWS - 1) / WHITEN_ROWS, whiten_piece, &w);
}
