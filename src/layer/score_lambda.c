/*
 * With M = (K'K + lambda I)^-1, B = K'E and the products of the probes B_u = K'U, B_0 = K'U_0:
 *
 *   ||E - KW||^2 = ||E||^2 - <B, MB> - lambda ||MB||^2,    <U_0, U'> = <U_0, U> - <B_0, M B_u>
 *
 * and where K has more columns than rows, with M = (KK' + lambda I)^-1:
 *
 *   ||E - KW||^2 = lambda^2 ||ME||^2,                      <U_0, U'> = lambda <U_0, MU>
 *
 * The matrix becomes tridiagonal once, by an orthogonal Q that B takes along; then each lambda takes a few steps per number of B.
 * All lambda are in step, which fills vectors. Where B has many columns the eigenvectors are Q: the matrix becomes diagonal,
 * and one column stands for all.
 */
#include "layer/score_lambda.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "layer/score.h"
#include "layer/spd.h"

/* The grid of lambda, as powers of ten of the mean eigenvalue. */
enum { GRID = 29, LANES = 32 };
static const double GRID_FIRST = -11.0, GRID_STEP = 0.5;
/* Pivots below this part of the largest number are lost in rounding. */
static const double LOST = 1e-16;

typedef double lanes[LANES];

typedef struct form {
    size_t n, outputs, probes;
    double *diagonal, *beside; /* of T */
    double *b;                 /* n x (outputs + 2 probes): Q'[B | B_u | B_0] */
    lanes lambda;
    lanes *inverse, *factor; /* n: of the pivots of T + lambda I; what a row takes of the one before it */
    lanes *y;                /* 2n */
} form;

/* Of each lambda: <B, MB>, ||lambda MB||^2, <B_0, M B_u>. */
typedef struct sums {
    lanes inner, square, probes;
} sums;

static void form_clear(form *f)
{
    broad__free(f->diagonal);
    broad__free(f->b);
    broad__free(f->inverse);
}

/* ---- the matrix ---------------------------------------------------------------------------------------------------- */

/* b = [E | U | U_0] of the candidate, side by side. */
static void gather(form *f, const broad__residual *residual)
{
    const broad__candidate *candidate = &residual->candidate;
    const double *e = candidate->dual ? residual->e : candidate->cross;
    const double *u = candidate->dual ? residual->probes.u : candidate->probes;
    size_t c = f->outputs, k = 2 * f->probes;
    for (size_t i = 0; i < f->n; i++) {
        memcpy(f->b + i * (c + k), e + i * c, c * sizeof *e);
        memcpy(f->b + i * (c + k) + c, u + i * k, k * sizeof *u);
    }
}

/* Of a diagonal T only the squares and products of each row count: root, product and 1 have the same. */
static void collapse(form *f)
{
    size_t c = f->outputs, k = f->probes;
    for (size_t i = 0; i < f->n; i++) {
        const double *row = f->b + i * (c + 2 * k);
        double square = 0, product = 0;
        for (size_t j = 0; j < c; j++) square += row[j] * row[j];
        for (size_t j = c; j < c + k; j++) product += row[j] * row[j + k];
        double *out = f->b + i * 3; /* never behind the row that is read */
        out[0] = sqrt(square), out[1] = product, out[2] = 1;
    }
    f->outputs = f->probes = 1;
}

static int reduce_spectral(form *f, const broad__device *device, double *matrix)
{
    size_t n = f->n, columns = f->outputs + 2 * f->probes;
    double *turned = broad__alloc_doubles(n, columns);
    int status = turned ? device->eigen(matrix, f->diagonal, n) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        device->apply(turned, columns, 1.0, matrix, n, n, f->b, columns, n, columns);
        memcpy(f->b, turned, n * columns * sizeof *turned);
        /* The matrix is a Gram matrix: what is below zero is rounding. */
        for (size_t i = 0; i < n; i++)
            if (!(f->diagonal[i] > 0)) f->diagonal[i] = 0;
        collapse(f);
    }
    broad__free(turned);
    return status;
}

static int reduce(form *f, const broad__residual *residual)
{
    size_t n = f->n, columns = f->outputs + 2 * f->probes;
    int status = broad__spd_check(residual->candidate.matrix, n);
    double *matrix = status == BROAD_OK ? broad__alloc_doubles(n, n) : NULL;
    if (!matrix) return status < 0 ? status : BROAD_NO_MEMORY;
    memcpy(matrix, residual->candidate.matrix, n * n * sizeof *matrix);
    status = 2 * columns > n ? reduce_spectral(f, residual->device, matrix)
                             : residual->device->tridiagonal(f->diagonal, f->beside, matrix, n, f->b, columns);
    broad__free(matrix);
    return status;
}

static int form_open(form *f, const broad__residual *residual)
{
    size_t n = residual->candidate.dual ? residual->rows : residual->candidate.width;
    *f = (form){.n = n, .outputs = residual->outputs, .probes = residual->probes.count};
    f->diagonal = broad__alloc_doubles(n, 2);
    f->b = broad__alloc_doubles(n, f->outputs + 2 * f->probes > 3 ? f->outputs + 2 * f->probes : 3);
    f->inverse = broad__alloc_array(n, 4 * sizeof(lanes));
    int status = f->diagonal && f->b && f->inverse ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        f->beside = f->diagonal + n;
        f->factor = f->inverse + n;
        f->y = f->factor + n;
        gather(f, residual);
        status = reduce(f, residual);
    }
    if (status < 0) form_clear(f);
    return status;
}

/* ---- all lambda in step -------------------------------------------------------------------------------------------- */

/* Each of these is for all lambda; `restrict` lets them be vectors. */
static void pivot_step(double *restrict factor, double *restrict inverse, double *restrict least,
                       const double *restrict before, const double *restrict lambda, double own, double beside)
{
    for (size_t l = 0; l < LANES; l++) {
        double taken = beside * before[l], pivot = own + lambda[l] - beside * taken;
        factor[l] = taken;
        inverse[l] = 1 / pivot;
        least[l] = pivot < least[l] ? pivot : least[l];
    }
}

static void forward_step(double *restrict y, const double *restrict before, const double *restrict factor, double own)
{
    for (size_t l = 0; l < LANES; l++) y[l] = own - factor[l] * before[l];
}

static void product_step(double *restrict sum, const double *restrict y, const double *restrict inverse,
                         const double *restrict x)
{
    for (size_t l = 0; l < LANES; l++) sum[l] += y[l] * inverse[l] * x[l];
}

static void backward_step(double *restrict x, double *restrict sum, const double *restrict y,
                          const double *restrict inverse, const double *restrict factor, const double *restrict lambda)
{
    for (size_t l = 0; l < LANES; l++) x[l] = y[l] * inverse[l] - factor[l] * x[l];
    for (size_t l = 0; l < LANES; l++) sum[l] += lambda[l] * x[l] * (lambda[l] * x[l]);
}

static const lanes zeros;

/* T + lambda I = L D L'. `usable` becomes 0 for lambda with a pivot that is not positive. */
static void factor(form *f, int usable[LANES])
{
    double largest = 0;
    for (size_t i = 0; i < f->n; i++) largest = fmax(largest, fmax(fabs(f->diagonal[i]), fabs(f->beside[i])));
    lanes least;
    for (size_t l = 0; l < LANES; l++) least[l] = INFINITY;
    for (size_t i = 0; i < f->n; i++)
        pivot_step(f->factor[i], f->inverse[i], least, i ? f->inverse[i - 1] : zeros, f->lambda, f->diagonal[i],
                   i ? f->beside[i - 1] : 0);
    for (size_t l = 0; l < LANES; l++) usable[l] = least[l] > LOST * largest && isfinite(1 / least[l]);
}

/* y = L^-1 of a column of b */
static void forward(lanes *y, const form *f, size_t column)
{
    size_t stride = f->outputs + 2 * f->probes;
    for (size_t i = 0; i < f->n; i++) forward_step(y[i], i ? y[i - 1] : zeros, f->factor[i], f->b[i * stride + column]);
}

/* sum += <D^-1 y, x> */
static void add_products(lanes sum, const form *f, lanes *y, lanes *x)
{
    for (size_t i = 0; i < f->n; i++) product_step(sum, y[i], f->inverse[i], x[i]);
}

/* sum += ||lambda L'^-1 D^-1 y||^2 */
static void add_squares(lanes sum, const form *f, lanes *y)
{
    lanes x = {0};
    for (size_t i = f->n; i-- > 0;)
        backward_step(x, sum, y[i], f->inverse[i], i + 1 < f->n ? f->factor[i + 1] : zeros, f->lambda);
}

static void add_up(sums *out, const form *f)
{
    lanes *y = f->y, *other = f->y + f->n;
    *out = (sums){0};
    for (size_t j = 0; j < f->outputs; j++) {
        forward(y, f, j);
        add_products(out->inner, f, y, y);
        add_squares(out->square, f, y);
    }
    for (size_t j = f->outputs; j < f->outputs + f->probes; j++) {
        forward(y, f, j);
        forward(other, f, j + f->probes);
        add_products(out->probes, f, y, other);
    }
}

static broad__prospect prospect_of(const broad__residual *residual, const sums *s, size_t l, double lambda,
                                   double penalty)
{
    int dual = residual->candidate.dual;
    double square = dual ? s->square[l] : residual->norm * residual->norm - s->inner[l] - s->square[l] / lambda;
    double inner = dual ? lambda * s->probes[l] : residual->probes.inner - s->probes[l];
    double norm = sqrt(fmax(square, 0));
    return (broad__prospect){lambda, norm, inner, broad__score(&residual->probes, norm, inner, penalty)};
}

int broad__score_lambda(broad__prospect *out, const broad__residual *residual, double penalty)
{
    form f;
    sums s;
    int usable[LANES], none = 1;
    int status = form_open(&f, residual);
    if (status < 0) return status;
    double mean = 0;
    for (size_t i = 0; i < f.n; i++) mean += f.diagonal[i] / (double)f.n;
    for (int l = 0; l < LANES; l++)
        f.lambda[l] = (mean > 0 ? mean : 1) * pow(10, GRID_FIRST + GRID_STEP * fmin(l, GRID - 1));
    factor(&f, usable);
    add_up(&s, &f);
    for (size_t l = 0; l < GRID; l++) {
        if (!usable[l]) continue;
        broad__prospect prospect = prospect_of(residual, &s, l, f.lambda[l], penalty);
        if (none || prospect.score < out->score) *out = prospect;
        none = 0;
    }
    form_clear(&f);
    return BROAD_OK;
}
