/*
 * Each operation of the device on a small problem, checked by products with a vector in plain loops: one wrong number changes
 * them, and they cost a hundredth of the operation repeated. Sizes are odd, so that the edges of blocks are seen, and large
 * enough for the kernels that large problems use.
 */
#include "compute/cpu/self_test.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/cpu/kernels.h"
#include "compute/device.h"

enum { N = 109, M = 113, EIGEN = 43, MORE = 5 };
static const double tolerance = 1e-10; /* numbers are about 1, sums about N; rounding stays below 1e-12 */

typedef struct bench {
    double a[M * N], b[N * N], c[M * N], g[N * N], r[N * N], v[M], w[M], x[M], y[M], values[N];
} bench;

/* Between -1 and 1, and the same on every machine. */
static void fill(double *values, size_t count, uint32_t state)
{
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (double)(int32_t)state * 0x1p-31;
    }
}

/* out = a v, a: rows x columns */
static void times(double *out, const double *a, size_t rows, size_t columns, const double *v)
{
    for (size_t i = 0; i < rows; i++) {
        out[i] = 0;
        for (size_t j = 0; j < columns; j++) out[i] += a[i * columns + j] * v[j];
    }
}

/* out = a'v */
static void transposed_times(double *out, const double *a, size_t rows, size_t columns, const double *v)
{
    memset(out, 0, columns * sizeof(double));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) out[j] += a[i * columns + j] * v[i];
}

/* out = a v for a symmetric a of which the upper triangle is there */
static void symmetric_times(double *out, const double *a, size_t n, const double *v)
{
    memset(out, 0, n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            out[i] += a[i * n + j] * v[j];
            if (j > i) out[j] += a[i * n + j] * v[i];
        }
}

/* out = r v, or r'v, of a triangle */
static void triangle_times(double *out, const double *r, size_t n, const double *v, int transposed)
{
    memset(out, 0, n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) out[transposed ? j : i] += r[i * n + j] * v[transposed ? i : j];
}

static int agree(const double *x, const double *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(x[i] - y[i]) <= tolerance * N)) return 0;
    return 1;
}

/* ---- operations of the rows ---- */

static int nodes_right(bench *t, const broad__device *device, double spoil)
{
    fill(t->values, N, 3);
    broad__nodes nodes = {N, N, t->b, t->values, BROAD_ACTIVATION_IDENTITY, 0, NULL, NULL, {0}};
    device->nodes(t->c, N, &nodes, t->a, N, M);
    t->c[N + 1] += spoil;
    times(t->x, t->c, M, N, t->v);
    times(t->w, t->b, N, N, t->v);
    times(t->y, t->a, M, N, t->w);
    double bias = 0;
    for (size_t j = 0; j < N; j++) bias += t->values[j] * t->v[j];
    for (size_t i = 0; i < M; i++) t->y[i] += bias;
    return agree(t->x, t->y, M);
}

static int gram_right(bench *t, const broad__device *device, double spoil)
{
    memset(t->g, 0, sizeof t->g);
    device->gram(t->g, N, t->a, N, M, N);
    t->g[1] += spoil;
    symmetric_times(t->x, t->g, N, t->v);
    times(t->w, t->a, M, N, t->v);
    transposed_times(t->y, t->a, M, N, t->w);
    return agree(t->x, t->y, N);
}

static int cross_right(bench *t, const broad__device *device, double spoil)
{
    memset(t->g, 0, sizeof t->g);
    device->cross(t->g, N, t->a, N, N, t->b, N, N, N);
    t->g[1] += spoil;
    times(t->x, t->g, N, N, t->v);
    times(t->w, t->b, N, N, t->v);
    transposed_times(t->y, t->a, N, N, t->w);
    return agree(t->x, t->y, N);
}

static int apply_right(bench *t, const broad__device *device, double spoil)
{
    memset(t->c, 0, sizeof t->c);
    device->apply(t->c, N, -1, t->a, N, M, t->b, N, N, N);
    t->c[1] += spoil;
    times(t->x, t->c, M, N, t->v);
    times(t->w, t->b, N, N, t->v);
    times(t->y, t->a, M, N, t->w);
    for (size_t i = 0; i < M; i++) t->y[i] = -t->y[i];
    return agree(t->x, t->y, M);
}

static int outer_right(bench *t, const broad__device *device, double spoil)
{
    memset(t->c, 0, sizeof t->c);
    device->outer(t->c, N, t->a, N, M, t->b, N, N, N);
    t->c[1] += spoil;
    times(t->x, t->c, M, N, t->v);
    transposed_times(t->w, t->b, N, N, t->v);
    times(t->y, t->a, M, N, t->w);
    return agree(t->x, t->y, M);
}

/* ---- operations of the sums ---- */

/* g = a'a + 10 I, upper triangle */
static void make_gram(bench *t)
{
    memset(t->g, 0, sizeof t->g);
    for (size_t l = 0; l < M; l++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = i; j < N; j++) t->g[i * N + j] += t->a[l * N + i] * t->a[l * N + j];
    for (size_t i = 0; i < N; i++) t->g[i * N + i] += 10;
}

static int factor_right(bench *t, const broad__device *device, double spoil)
{
    make_gram(t);
    memcpy(t->r, t->g, sizeof t->r);
    if (device->factor(t->r, N)) return 0;
    t->r[1] += spoil;
    symmetric_times(t->x, t->g, N, t->v);
    triangle_times(t->w, t->r, N, t->v, 0);
    triangle_times(t->y, t->r, N, t->w, 1);
    t->r[1] -= spoil;
    return agree(t->x, t->y, N);
}

static int solve_right(bench *t, const broad__device *device, double spoil)
{
    memcpy(t->c, t->a, N * MORE * sizeof(double));
    device->solve(t->c, MORE, t->r, N);
    t->c[1] += spoil;
    times(t->w, t->c, N, MORE, t->v);
    symmetric_times(t->x, t->g, N, t->w);
    times(t->y, t->a, N, MORE, t->v);
    return agree(t->x, t->y, N);
}

static int whiten_right(bench *t, const broad__device *device, double spoil)
{
    memcpy(t->c, t->a, sizeof t->c);
    device->whiten(t->c, N, M, t->r, N, N);
    t->c[1] += spoil;
    triangle_times(t->w, t->r, N, t->v, 0);
    times(t->x, t->c, M, N, t->w);
    times(t->y, t->a, M, N, t->v);
    return agree(t->x, t->y, M);
}

static int update_right(bench *t, const broad__device *device, double spoil)
{
    memcpy(t->c, t->b, N * MORE * sizeof(double));
    int status = device->update(t->r, N, t->c, MORE);
    if (status) return status;
    t->r[1] += spoil;
    triangle_times(t->w, t->r, N, t->v, 0);
    triangle_times(t->x, t->r, N, t->w, 1);
    t->r[1] -= spoil;
    symmetric_times(t->y, t->g, N, t->v);
    times(t->w, t->b, MORE, N, t->v);
    transposed_times(t->values, t->b, MORE, N, t->w);
    for (size_t i = 0; i < N; i++) t->y[i] += t->values[i];
    return agree(t->x, t->y, N);
}

static int invert_right(bench *t, const broad__device *device, double spoil)
{
    triangle_times(t->w, t->r, N, t->v, 0);
    device->invert(t->r, N);
    t->r[1] += spoil;
    triangle_times(t->x, t->r, N, t->w, 0);
    return agree(t->x, t->v, N);
}

static int eigen_right(bench *t, const broad__device *device, double spoil)
{
    for (size_t i = 0; i < EIGEN; i++)
        for (size_t j = 0; j < EIGEN; j++) t->r[i * EIGEN + j] = t->g[i * N + j];
    symmetric_times(t->x, t->r, EIGEN, t->v);
    int status = device->eigen(t->r, t->values, EIGEN);
    if (status) return status;
    t->r[1] += spoil;
    times(t->w, t->r, EIGEN, EIGEN, t->v);
    for (size_t i = 0; i < EIGEN; i++) t->w[i] *= t->values[i];
    transposed_times(t->y, t->r, EIGEN, EIGEN, t->w);
    return agree(t->x, t->y, EIGEN);
}

/* <w, Tw> = <v, Av> for w = Q'v */
static int tridiagonal_right(bench *t, const broad__device *device, double spoil)
{
    double sums[2] = {0, 0};
    for (size_t i = 0; i < EIGEN; i++)
        for (size_t j = 0; j < EIGEN; j++) t->r[i * EIGEN + j] = t->g[i * N + j];
    symmetric_times(t->x, t->r, EIGEN, t->v);
    for (size_t i = 0; i < EIGEN; i++) {
        t->w[i] = t->v[i];
        sums[0] += t->x[i] * t->v[i];
    }
    int status = device->tridiagonal(t->values, t->y, t->r, EIGEN, t->w, 1);
    if (status) return status;
    t->values[1] += spoil;
    for (size_t i = 0; i < EIGEN; i++)
        sums[1] += t->w[i] * (t->values[i] * t->w[i] + (i ? 2 * t->y[i - 1] * t->w[i - 1] : 0));
    return agree(sums, sums + 1, 1);
}

/* In this order: the factor is what those after it work with. */
typedef struct operation {
    const char *name;
    /* 1, 0, or the status with which the operation failed */
    int (*right)(bench *t, const broad__device *device, double spoil);
} operation;

static const operation operations[] = {
    {"nodes", nodes_right},   {"gram", gram_right},     {"cross", cross_right}, {"apply", apply_right},
    {"outer", outer_right},   {"factor", factor_right}, {"solve", solve_right}, {"whiten", whiten_right},
    {"update", update_right}, {"invert", invert_right}, {"eigen", eigen_right}, {"tridiagonal", tridiagonal_right},
};

int broad__self_test(unsigned *out_count, unsigned spoil)
{
    *out_count = sizeof operations / sizeof operations[0];
    bench *t = broad__alloc(sizeof *t);
    if (!t) return BROAD_NO_MEMORY;
    fill(t->a, M * N, 1);
    fill(t->b, N * N, 2);
    fill(t->v, M, 4);
    int right = 1;
    unsigned i = 0;
    while (right > 0 && i < *out_count) {
        right = operations[i].right(t, broad__device_cpu(), i + 1 == spoil ? 1e-3 : 0);
        i++;
    }
    broad__free(t);
    if (right) return right > 0 ? BROAD_OK : right;
    return broad__fail(BROAD_FAILED,
                       "self-test: operation `%s` is wrong on this machine with the %s kernels; try others "
                       "(BROAD_KERNELS=avx2 or BROAD_KERNELS=plain)",
                       operations[i - 1].name, broad__kernels_used()->name);
}
