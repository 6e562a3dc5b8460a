/* The device contract by own kernels: the best that this processor has (kernels.h), and what stands on them. */
#include <string.h>

#include "base/status.h"
#include "base/vector.h"
#include "compute/cpu/eigen.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/product.h"
#include "compute/cpu/triangular.h"
#include "compute/cpu/update.h"
#include "compute/device.h"
#include "compute/single.h"

enum { LARGE = 192 }; /* sides of a result of `cross` from which on it is packed */

static void cpu_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                      size_t rows)
{
    const broad__kernels *kernels = broad__kernels_used();
    /* Without fused steps a kernel would give other bits. */
    if (nodes->single && !broad__fused()) broad__nodes_single(out, out_stride, nodes, x, x_stride, rows);
    else (nodes->single ? kernels->single->nodes : kernels->nodes)(out, out_stride, nodes, x, x_stride, rows);
}

static int cpu_pack(double *out, const broad__nodes *nodes)
{
    const broad__kernels *kernels = broad__kernels_used();
    return !nodes->single && kernels->pack && kernels->pack(out, nodes);
}

static void cpu_gram(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    broad__kernels_used()->gram(out, out_stride, k, k_stride, rows, p);
}

static void cpu_cross(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                      size_t b_stride, size_t c, size_t rows)
{
    if (p > LARGE && c > LARGE)
        broad__product(out, out_stride, 1, broad__turned(a, a_stride), broad__as_is(b, b_stride), p, c, rows);
    else broad__kernels_used()->cross(out, out_stride, a, a_stride, p, b, b_stride, c, rows);
}

static void cpu_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                      const double *w, size_t w_stride, size_t p, size_t c)
{
    broad__kernels_used()->apply(out, out_stride, sign, k, k_stride, rows, w, w_stride, p, c);
}

static void cpu_apply_ahead(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows,
                            const double *w, size_t w_stride, size_t p, size_t c, const broad__ahead ahead[2])
{
    broad__kernels_used()->apply_ahead(out, out_stride, k, k_stride, rows, w, w_stride, p, c, ahead);
}

static void cpu_outer(double *out, size_t out_stride, const double *a, size_t a_stride, size_t rows, const double *b,
                      size_t b_stride, size_t count, size_t p)
{
    broad__product(out, out_stride, 1, broad__as_is(a, a_stride), broad__turned(b, b_stride), rows, count, p);
}

/* Side by side, so that the additions need not wait for each other. */
static void cpu_squares(double *out, const double *a, size_t count)
{
    double parts[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t j = 0; j < 8; j++) parts[j] += a[i + j] * a[i + j];
    for (size_t j = 0; i < count; i++, j++) parts[j] += a[i] * a[i];
    *out += ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

static void cpu_inner(double *out, const double *a, size_t a_stride, const double *b, size_t b_stride, size_t rows,
                      size_t columns)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        double of_row = 0;
        for (size_t j = 0; j < columns; j++) of_row += a[i * a_stride + j] * b[i * b_stride + j];
        sum += of_row;
    }
    *out += sum;
}

static void cpu_copy(double *out, size_t out_stride, const double *from, size_t from_stride, size_t rows,
                     size_t columns)
{
    int together = out_stride == columns && from_stride == columns;
    size_t each = together ? rows * columns : columns;
    for (size_t i = 0; i < (together ? 1 : rows); i++)
        memcpy(out + i * out_stride, from + i * from_stride, each * sizeof(double));
}

static void cpu_scale(double *k, size_t k_stride, size_t rows, size_t columns, const double *root)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) k[i * k_stride + j] *= root[i];
}

static size_t cpu_factor(double *a, size_t n) { return broad__triangular_factor(a, n, n); }

static void cpu_solve(double *b, size_t c, const double *r, size_t n)
{
    broad__triangular_solve_turned(b, c, c, r, n, n);
    broad__triangular_solve(b, c, c, r, n, n);
}

static void cpu_invert(double *r, size_t n) { broad__triangular_invert(r, n, n); }

/* Nothing to prepare: kernels keep no state. */
static int cpu_hold(void) { return BROAD_OK; }

static void cpu_release(void) {}

static const broad__device cpu = {
    .name = "cpu",
    .hold = cpu_hold,
    .release = cpu_release,
    .nodes = cpu_nodes,
    .pack = cpu_pack,
    .gram = cpu_gram,
    .cross = cpu_cross,
    .apply = cpu_apply,
    .apply_ahead = cpu_apply_ahead,
    .outer = cpu_outer,
    .squares = cpu_squares,
    .inner = cpu_inner,
    .copy = cpu_copy,
    .scale = cpu_scale,
    .factor = cpu_factor,
    .solve = cpu_solve,
    .whiten = broad__triangular_whiten,
    .invert = cpu_invert,
    .update = broad__factor_update,
    .eigen = broad__eigen,
    .tridiagonal = broad__tridiagonal,
};

const broad__device *broad__device_cpu_uncounted(void) { return &cpu; }
