#include "data/format/matrix_rows.h"

#include <float.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "compute/pool.h"

/* Numbers that a thread takes at a time: they stay in its cache while they are looked at. */
enum { PIECE = 1 << 16 };

/* Columns side by side in the file and in the table. */
typedef struct run {
    size_t column, count, to;
} run;

typedef struct filling {
    const broad__matrix *matrix;
    double *x; /* NULL: what is in place is looked at */
    size_t inputs;
    run *runs;
    size_t run_count;
    size_t first, end, piece; /* rows that are filled, and how many at a time */
    atomic_int odd;
} filling;

static int is_plain_double(const broad__matrix *matrix)
{
    return matrix->type == 'f' && matrix->item == sizeof(double) && !matrix->swapped;
}

const double *broad__matrix_in_place(const broad__matrix *matrix, const broad__roles *roles)
{
    if (!is_plain_double(matrix) || matrix->fortran || roles->inputs != matrix->columns) return NULL;
    if (!broad__source_lasts(matrix->source)) return NULL;
    if ((uintptr_t)matrix->bytes % sizeof(double)) return NULL;
    for (size_t c = 0; c < matrix->columns; c++)
        if (roles->role[c] != BROAD__ROLE_INPUT || roles->index[c] != c) return NULL;
    return (const void *)matrix->bytes;
}

static void widen(double *out, const broad__matrix *matrix, const unsigned char *from, size_t count)
{
    if (is_plain_double(matrix)) memcpy(out, from, count * sizeof *out);
    else if (matrix->type == 'u' && matrix->item == 1)
        for (size_t i = 0; i < count; i++) out[i] = from[i];
    else if (matrix->type == 'f' && matrix->item == sizeof(float) && !matrix->swapped)
        for (size_t i = 0; i < count; i++) {
            float number;
            memcpy(&number, from + i * sizeof number, sizeof number);
            out[i] = (double)number;
        }
    else
        for (size_t i = 0; i < count; i++) out[i] = broad__matrix_number(matrix, from + i * matrix->item);
}

static void fill_piece(void *context, size_t piece, size_t worker)
{
    (void)worker;
    filling *f = context;
    const broad__matrix *matrix = f->matrix;
    size_t first = f->first + piece * f->piece, n = broad__min(f->piece, f->end - first), bytes = matrix->item;
    const unsigned char *from = matrix->bytes + first * matrix->columns * bytes;
    double *x = f->x ? f->x + first * f->inputs : NULL;
    for (size_t i = 0; x && i < n; i++)
        for (size_t k = 0; k < f->run_count; k++)
            widen(x + i * f->inputs + f->runs[k].to, matrix, from + (i * matrix->columns + f->runs[k].column) * bytes,
                  f->runs[k].count);
    if (!broad__all_within(x ? x : (const void *)from, n * f->inputs, DBL_MAX)) atomic_store(&f->odd, 1);
}

static void find_runs(filling *f, const broad__roles *roles)
{
    for (size_t c = 0; c < f->matrix->columns; c++) {
        if (roles->role[c] != BROAD__ROLE_INPUT) continue;
        run *last = f->run_count ? &f->runs[f->run_count - 1] : NULL;
        if (last && last->column + last->count == c && last->to + last->count == roles->index[c]) last->count++;
        else f->runs[f->run_count++] = (run){c, 1, roles->index[c]};
    }
}

int broad__matrix_inputs(int *out_finite, double *x, const broad__matrix *matrix, const broad__roles *roles,
                         size_t first, size_t end, size_t threads)
{
    filling f = {.matrix = matrix, .x = x, .inputs = roles->inputs, .piece = PIECE / matrix->columns + 1};
    f.first = first;
    f.end = end;
    size_t pieces = (end - first + f.piece - 1) / f.piece;
    broad__pool *pool = NULL;
    f.runs = broad__alloc_array(matrix->columns, sizeof *f.runs);
    if (!f.runs) return BROAD_NO_MEMORY;
    find_runs(&f, roles);
    int status = broad__pool_open(&pool, pieces < 2 ? 1 : threads);
    if (status == BROAD_OK) status = broad__pool_run_watched(pool, pieces, fill_piece, &f);
    *out_finite = !atomic_load(&f.odd);
    broad__pool_close(pool);
    broad__free(f.runs);
    return status;
}
