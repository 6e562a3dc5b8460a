#include "layer/cholesky.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { BLOCK = 256, WHITEN_ROWS = 64 };

/* One step: A11 = R11'R11, R12 = R11^-T A12, A22 -= R12'R12. */
typedef struct step {
    double *a;
    size_t n, first, wide; /* the block on the diagonal */
    const broad__device *device;
    double *diagonal; /* R11, wide x wide */
    double *scratch;  /* BLOCK x BLOCK for each worker */
} step;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Columns of R12, as rows of their transpose. */
static void panel_piece(void *context, size_t index, size_t worker)
{
    const step *s = context;
    size_t first = s->first + s->wide + index * BLOCK, count = least(BLOCK, s->n - first), wide = s->wide;
    double *turned = s->scratch + worker * BLOCK * BLOCK;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < wide; j++) turned[i * wide + j] = s->a[(s->first + j) * s->n + first + i];
    s->device->whiten(turned, wide, count, s->diagonal, wide, wide);
    for (size_t j = 0; j < wide; j++)
        for (size_t i = 0; i < count; i++) s->a[(s->first + j) * s->n + first + i] = turned[i * wide + j];
}

/* Tile (i, j) of A22, j >= i, numbered row by row. */
static void trailing_piece(void *context, size_t index, size_t worker)
{
    const step *s = context;
    size_t begin = s->first + s->wide, across = (s->n - begin + BLOCK - 1) / BLOCK, i = 0;
    while (index >= across - i) index -= across - i++;
    size_t row = begin + i * BLOCK, column = begin + (i + index) * BLOCK;
    size_t high = least(BLOCK, s->n - row), across_tile = least(BLOCK, s->n - column);
    double *minus = s->scratch + worker * BLOCK * BLOCK;
    for (size_t k = 0; k < s->wide; k++)
        for (size_t l = 0; l < high; l++) minus[k * high + l] = -s->a[(s->first + k) * s->n + row + l];
    s->device->cross(s->a + row * s->n + column, s->n, minus, high, high, s->a + s->first * s->n + column, s->n,
                     across_tile, s->wide);
}

static size_t factor_diagonal(const step *s)
{
    for (size_t i = 0; i < s->wide; i++)
        memcpy(s->diagonal + i * s->wide, s->a + (s->first + i) * s->n + s->first, s->wide * sizeof(double));
    size_t pivot = s->device->factor(s->diagonal, s->wide);
    for (size_t i = 0; i < s->wide; i++)
        memcpy(s->a + (s->first + i) * s->n + s->first + i, s->diagonal + i * s->wide + i,
               (s->wide - i) * sizeof(double));
    return pivot;
}

int broad__cholesky(size_t *out_pivot, double *a, size_t n, const broad__device *device, broad__pool *pool)
{
    *out_pivot = 0;
    step s = {.a = a, .n = n, .device = device};
    s.diagonal = broad__alloc_doubles(BLOCK, BLOCK);
    s.scratch = broad__alloc_doubles(broad__pool_threads(pool), BLOCK * BLOCK);
    int status = s.diagonal && s.scratch ? BROAD_OK : BROAD_NO_MEMORY;
    for (; status == BROAD_OK && !*out_pivot && s.first < n; s.first += s.wide) {
        s.wide = least(BLOCK, n - s.first);
        size_t pivot = factor_diagonal(&s), across = (n - s.first - s.wide + BLOCK - 1) / BLOCK;
        if (pivot) *out_pivot = s.first + pivot;
        if (pivot || !across) continue;
        broad__pool_run(pool, across, panel_piece, &s);
        broad__pool_run(pool, across * (across + 1) / 2, trailing_piece, &s);
    }
    broad__free(s.diagonal);
    broad__free(s.scratch);
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
