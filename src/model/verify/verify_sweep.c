#include "model/verify/verify_sweep.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "model/verify/verify_nodes.h"

/* Numbers of K that one piece of work is about. */
enum { PIECE = 1 << 15 };

int broad__sweep_open(broad__sweep *out, broad__pool *pool, size_t rows, double lambda)
{
    *out = (broad__sweep){.pool = pool, .rows = rows};
    out->both = broad__alloc_doubles(rows, rows);
    out->diagonal = broad__alloc_doubles(rows, 1);
    if (!out->both || !out->diagonal) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < rows; i++) {
        out->diagonal[i] = sqrt(lambda);
        out->both[i * rows + i] = 1;
    }
    return BROAD_OK;
}

void broad__sweep_close(broad__sweep *sweep)
{
    broad__free(sweep->both);
    broad__free(sweep->diagonal);
    broad__free(sweep->row);
    memset(sweep, 0, sizeof *sweep);
}

/* Reflection j: x is what K' has in column j, of squared length `square`, and rho the new element of R's diagonal. The
 * rows of k before j have become those of what lies below L. */
typedef struct reflection {
    broad__sweep *sweep;
    double *k;
    size_t j, width;
    const double *x;
    double square, rho;
} reflection;

static size_t rows_of_piece(size_t width) { return width < PIECE ? PIECE / width : 1; }

/* [a; z] of column i becomes [(r a + x'z) / rho; z + (a - (r + rho) x'z / |x|^2) x / rho], r being R's diagonal. */
static void reflect_piece(void *context, size_t piece, size_t worker)
{
    (void)worker;
    const reflection *f = context;
    size_t n = f->sweep->rows, each = rows_of_piece(f->width), first = piece * each;
    size_t end = first + each < n ? first + each : n;
    double r = f->sweep->diagonal[f->j], *row = f->sweep->both + f->j * n;
    for (size_t i = first; i < end; i++) {
        if (i == f->j) continue;
        double *z = f->k + i * f->width, dot = broad__verify_dot(f->x, z, f->width);
        double factor = (row[i] - (r + f->rho) * dot / f->square) / f->rho;
        row[i] = (r * row[i] + dot) / f->rho;
        for (size_t a = 0; a < f->width; a++) z[a] += factor * f->x[a];
    }
}

static void reflect(broad__sweep *sweep, double *k, size_t j, size_t width)
{
    size_t n = sweep->rows, each = rows_of_piece(width);
    double *own = k + j * width, r = sweep->diagonal[j], square = broad__verify_dot(own, own, width);
    if (square < DBL_MIN) return;
    memcpy(sweep->row, own, width * sizeof(double));
    reflection f = {sweep, k, j, width, sweep->row, square, sqrt(r * r + square)};
    broad__pool_run(sweep->pool, (n + each - 1) / each, reflect_piece, &f);
    double *lower = sweep->both + j * n + j;
    for (size_t a = 0; a < width; a++) own[a] *= *lower / f.rho;
    *lower *= r / f.rho;
    sweep->diagonal[j] = f.rho;
}

int broad__sweep_add(broad__sweep *sweep, double *k, size_t width)
{
    int status = broad__reserve(&sweep->row, &sweep->row_capacity, width);
    for (size_t j = 0; status == BROAD_OK && j < sweep->rows; j++) {
        status = broad__watch_poll(j, sweep->rows);
        if (status == BROAD_OK) reflect(sweep, k, j, width);
    }
    return status;
}

void broad__sweep_residual(double *out, const broad__sweep *sweep, const double *y)
{
    size_t n = sweep->rows;
    memset(out, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++) {
        const double *lower = sweep->both + j * n;
        double turned = broad__verify_dot(lower, y, j + 1);
        for (size_t i = 0; i <= j; i++) out[i] += lower[i] * turned;
    }
}

void broad__sweep_rests(double *out, const broad__sweep *sweep)
{
    size_t n = sweep->rows;
    memset(out, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++) {
        const double *lower = sweep->both + j * n;
        for (size_t i = 0; i <= j; i++) out[i] += lower[i] * lower[i];
    }
}
