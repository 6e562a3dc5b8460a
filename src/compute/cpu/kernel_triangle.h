/*
 * Small triangles, at most BROAD__TRIANGLE wide: Cholesky, and X <- L^-1 X. Both work on packed copies, so that one loop
 * serves every layout. Each number is one chain of fused steps in the order of the columns of L, then one division.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_TRIANGLE_H
#define BROAD_COMPUTE_CPU_KERNEL_TRIANGLE_H

#include <math.h>

#include "compute/cpu/kernel_product.h"

/* SIDE of a triangle; STRIPE: numbers in a packed row of a factor, at most */
enum { SIDE = BROAD__TRIANGLE, STRIPE = (SIDE + COLUMNS - 1) / COLUMNS * COLUMNS };

/* x (rows x COLUMNS) += a b; a's number for row i and step k is a[k * a_step + i] */
INLINE void rows_above(double *x, size_t stride, const double *a, size_t a_step, const double *b, size_t rows,
                       size_t depth)
{
    product p = {.out = x, .out_stride = stride, .a = a, .a_row = 1, .a_step = a_step, .b = b, .b_step = stride};
    p.depth = depth;
    if (rows == HIGH) tile(p, HIGH, VECTORS, LANES, 1);
    else
        for (size_t i = 0; i < rows; i++) tile(product_at(p, i, 0), 1, VECTORS, LANES, 1);
}

/* row (COLUMNS numbers) += factor * other */
INLINE void row_add(double *row, double factor, const double *other)
{
    full f = full_spread(factor);
    UNROLL for (size_t v = 0; v < VECTORS; v++)
        full_store(row + v * LANES, full_fma(f, full_load(other + v * LANES), full_load(row + v * LANES)));
}

INLINE void row_divide(double *row, double divisor)
{
    full d = full_spread(divisor);
    UNROLL for (size_t v = 0; v < VECTORS; v++) full_store(row + v * LANES, full_load(row + v * LANES) / d);
}

/* x (n x COLUMNS) <- L^-1 x; minus[k * SIDE + i] = -L(i, k) for k < i, diagonal[i] = L(i, i) */
OUTLINE void substitute_panel(double *x, const double *minus, const double *diagonal, size_t n)
{
    for (size_t first = 0; first < n; first += HIGH) {
        size_t rows = least(HIGH, n - first);
        rows_above(x + first * COLUMNS, COLUMNS, minus + first, SIDE, x, rows, first);
        for (size_t i = first; i < first + rows; i++) {
            for (size_t k = first; k < i; k++) row_add(x + i * COLUMNS, minus[k * SIDE + i], x + k * COLUMNS);
            row_divide(x + i * COLUMNS, diagonal[i]);
        }
    }
}

/* Where number i, j of a matrix lies whose rows are taken from the last to the first if `backward`. */
INLINE size_t row_of(size_t i, size_t n, int backward) { return backward ? n - 1 - i : i; }

OUTLINE void kernel_substitute(broad__target x, size_t columns, broad__operand l, size_t n, int backward)
{
    double minus[SIDE * SIDE] __attribute__((aligned(64))), diagonal[SIDE],
        panel[SIDE * COLUMNS] __attribute__((aligned(64)));
    for (size_t i = 0; i < n; i++) {
        const double *row = l.at + row_of(i, n, backward) * l.row;
        for (size_t k = 0; k < i; k++) minus[k * SIDE + i] = -row[row_of(k, n, backward) * l.column];
        diagonal[i] = row[row_of(i, n, backward) * l.column];
    }
    for (size_t first = 0; first < columns; first += COLUMNS) {
        size_t wide = least(COLUMNS, columns - first);
        memset(panel, 0, n * COLUMNS * sizeof(double));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < wide; j++)
                panel[i * COLUMNS + j] = x.at[row_of(i, n, backward) * x.row + (first + j) * x.column];
        substitute_panel(panel, minus, diagonal, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < wide; j++)
                x.at[row_of(i, n, backward) * x.row + (first + j) * x.column] = panel[i * COLUMNS + j];
    }
}

/* R, and -R beside it, in rows of `stripe` numbers; what is below the diagonal is of no use. */
typedef struct factoring {
    double *r, *minus;
    size_t stripe, n;
} factoring;

/* Row i from its pivot on; rows before `first` are taken off already. 0 where the pivot is not positive. */
INLINE int factor_row(const factoring *f, size_t i, size_t first)
{
    double *row = f->r + i * f->stripe;
    size_t begin = i / COLUMNS * COLUMNS;
    for (size_t k = first; k < i; k++)
        for (size_t j = begin; j < f->n; j += COLUMNS)
            row_add(row + j, f->minus[k * f->stripe + i], f->r + k * f->stripe + j);
    if (!(row[i] > 0) || !isfinite(row[i])) return 0;
    double root = sqrt(row[i]);
    for (size_t j = begin; j < f->n; j += COLUMNS) row_divide(row + j, root);
    row[i] = root;
    for (size_t j = i + 1; j < f->n; j++) f->minus[i * f->stripe + j] = -row[j];
    return 1;
}

INLINE size_t factor_packed(const factoring *f)
{
    size_t stripe = f->stripe;
    for (size_t first = 0; first < f->n; first += HIGH) {
        size_t rows = least(HIGH, f->n - first);
        for (size_t j = first / COLUMNS * COLUMNS; j < f->n; j += COLUMNS)
            rows_above(f->r + first * stripe + j, stripe, f->minus + first, stripe, f->r + j, rows, first);
        for (size_t i = first; i < first + rows; i++)
            if (!factor_row(f, i, first)) return i + 1;
    }
    return 0;
}

OUTLINE size_t kernel_factor(double *a, size_t stride, size_t n)
{
    double r[SIDE * STRIPE] __attribute__((aligned(64))), minus[SIDE * STRIPE];
    factoring f = {r, minus, (n + COLUMNS - 1) / COLUMNS * COLUMNS, n};
    memset(r, 0, n * f.stripe * sizeof(double));
    memset(minus, 0, n * f.stripe * sizeof(double));
    for (size_t i = 0; i < n; i++) memcpy(r + i * f.stripe + i, a + i * stride + i, (n - i) * sizeof(double));
    size_t broken = factor_packed(&f);
    for (size_t i = 0; i < n; i++) memcpy(a + i * stride + i, r + i * f.stripe + i, (n - i) * sizeof(double));
    return broken;
}

#endif
