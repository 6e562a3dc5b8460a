#include "compute/cpu/triangular.h"

#include "base/watch.h"
#include "compute/cpu/product.h"

/* The upper half, in whole triangles of the kernels. */
static size_t half_of(size_t n) { return (n / 2 + BROAD__TRIANGLE - 1) / BROAD__TRIANGLE * BROAD__TRIANGLE; }

static void negate(double *x, size_t stride, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) x[i * stride + j] = -x[i * stride + j];
}

/* lower -= r'upper. Few columns go through `cross`, which only adds. */
static void subtract_turned(double *lower, double *upper, size_t x_stride, size_t columns, const double *r,
                            size_t stride, size_t top, size_t bottom)
{
    negate(upper, x_stride, top, columns);
    broad__product(lower, x_stride, 1, broad__turned(r, stride), broad__as_is(upper, x_stride), bottom, columns, top);
    negate(upper, x_stride, top, columns);
}

void broad__triangular_solve_turned(double *x, size_t x_stride, size_t columns, const double *r, size_t stride,
                                    size_t n)
{
    if (n <= BROAD__TRIANGLE) {
        broad__kernels_used()->substitute((broad__target){x, x_stride, 1}, columns, broad__turned(r, stride), n, 0);
        return;
    }
    if (broad__watch_stopped()) return;
    size_t top = half_of(n), bottom = n - top;
    double *lower = x + top * x_stride;
    broad__triangular_solve_turned(x, x_stride, columns, r, stride, top);
    subtract_turned(lower, x, x_stride, columns, r + top, stride, top, bottom);
    broad__triangular_solve_turned(lower, x_stride, columns, r + top * stride + top, stride, bottom);
}

void broad__triangular_solve(double *x, size_t x_stride, size_t columns, const double *r, size_t stride, size_t n)
{
    if (n <= BROAD__TRIANGLE) {
        broad__kernels_used()->substitute((broad__target){x, x_stride, 1}, columns, broad__as_is(r, stride), n, 1);
        return;
    }
    if (broad__watch_stopped()) return;
    size_t top = half_of(n), bottom = n - top;
    double *lower = x + top * x_stride;
    broad__triangular_solve(lower, x_stride, columns, r + top * stride + top, stride, bottom);
    broad__product(x, x_stride, -1, broad__as_is(r + top, stride), broad__as_is(lower, x_stride), top, columns, bottom);
    broad__triangular_solve(x, x_stride, columns, r, stride, top);
}

void broad__triangular_whiten(double *x, size_t x_stride, size_t rows, const double *r, size_t stride, size_t n)
{
    if (n <= BROAD__TRIANGLE) {
        broad__kernels_used()->substitute((broad__target){x, 1, x_stride}, rows, broad__turned(r, stride), n, 0);
        return;
    }
    if (broad__watch_stopped()) return;
    size_t left = half_of(n), right = n - left;
    broad__triangular_whiten(x, x_stride, rows, r, stride, left);
    broad__product(x + left, x_stride, -1, broad__as_is(x, x_stride), broad__as_is(r + left, stride), rows, right,
                   left);
    broad__triangular_whiten(x + left, x_stride, rows, r + left * stride + left, stride, right);
}

size_t broad__triangular_factor(double *a, size_t stride, size_t n)
{
    if (n <= BROAD__TRIANGLE) return broad__kernels_used()->factor(a, stride, n);
    if (broad__watch_stopped()) return 0;
    size_t top = half_of(n), bottom = n - top;
    double *right = a + top, *corner = a + top * stride + top;
    size_t broken = broad__triangular_factor(a, stride, top);
    if (broken) return broken;
    broad__triangular_solve_turned(right, stride, bottom, a, stride, top);
    broad__product_upper(corner, stride, -1, broad__turned(right, stride), broad__as_is(right, stride), bottom, top);
    broken = broad__triangular_factor(corner, stride, bottom);
    return broken ? top + broken : 0;
}

static void invert_small(double *r, size_t stride, size_t n)
{
    double inverse[BROAD__TRIANGLE * BROAD__TRIANGLE] = {0};
    for (size_t i = 0; i < n; i++) inverse[i * n + i] = 1;
    broad__triangular_solve(inverse, n, n, r, stride, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) r[i * stride + j] = inverse[i * n + j];
}

/* The corner of the inverse is -R11^-1 R12 R22^-1. */
void broad__triangular_invert(double *r, size_t stride, size_t n)
{
    if (n <= BROAD__TRIANGLE) {
        invert_small(r, stride, n);
        return;
    }
    if (broad__watch_stopped()) return;
    size_t top = half_of(n), bottom = n - top;
    double *right = r + top, *corner = r + top * stride + top;
    broad__triangular_solve(right, stride, bottom, r, stride, top);
    broad__triangular_whiten(right, stride, top, corner, stride, bottom);
    negate(right, stride, top, bottom);
    broad__triangular_invert(r, stride, top);
    broad__triangular_invert(corner, stride, bottom);
}
