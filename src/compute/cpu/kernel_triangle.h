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

/* x (rows x vectors) += a b, over `depth` rows of b, which are as far apart as those of x */
INLINE void rows_above(double *x, size_t stride, broad__operand a, const double *b, size_t rows, size_t depth,
                       const size_t vectors)
{
    product p = {.out = x, .out_stride = stride, .a = a.at, .a_row = a.row, .a_step = a.column, .b = b};
    p.b_step = stride;
    p.depth = depth;
    if (rows == HIGH) tile(p, HIGH, vectors, LANES, 1);
    else
        for (size_t i = 0; i < rows; i++) tile(product_at(p, i, 0), 1, vectors, LANES, 1);
}

/* row (vectors) += factor * other */
INLINE void row_add(double *row, double factor, const double *other, const size_t vectors)
{
    full f = full_spread(factor);
    UNROLL for (size_t v = 0; v < vectors; v++)
        full_store(row + v * LANES, full_fma(f, full_load(other + v * LANES), full_load(row + v * LANES)));
}

INLINE void row_divide(double *row, double divisor, const size_t vectors)
{
    full d = full_spread(divisor);
    UNROLL for (size_t v = 0; v < vectors; v++) full_store(row + v * LANES, full_load(row + v * LANES) / d);
}

/* The numbers of an operand from a row and a column on */
INLINE broad__operand operand_at(broad__operand from, size_t row, size_t column)
{
    return (broad__operand){from.at + row * from.row + column * from.column, from.row, from.column};
}

/* HIGH rows, those before them taken off already, in registers. */
INLINE void substitute_tile(double *x, broad__operand minus, const double *diagonal, const size_t vectors)
{
    full row[HIGH][VECTORS];
    UNROLL for (size_t i = 0; i < HIGH; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) row[i][v] = full_load(x + i * COLUMNS + v * LANES);
        UNROLL for (size_t k = 0; k < i; k++)
        {
            full factor = full_spread(minus.at[i * minus.row + k * minus.column]);
            UNROLL for (size_t v = 0; v < vectors; v++) row[i][v] = full_fma(factor, row[k][v], row[i][v]);
        }
        UNROLL for (size_t v = 0; v < vectors; v++)
        {
            row[i][v] = row[i][v] / full_spread(diagonal[i]);
            full_store(x + i * COLUMNS + v * LANES, row[i][v]);
        }
    }
}

INLINE void substitute_vectors(double *x, broad__operand minus, const double *diagonal, size_t n, const size_t vectors)
{
    for (size_t first = 0; first < n; first += HIGH) {
        size_t rows = least(HIGH, n - first);
        rows_above(x + first * COLUMNS, COLUMNS, operand_at(minus, first, 0), x, rows, first, vectors);
        if (rows == HIGH) {
            substitute_tile(x + first * COLUMNS, operand_at(minus, first, first), diagonal + first, vectors);
            continue;
        }
        for (size_t i = first; i < first + rows; i++) {
            for (size_t k = first; k < i; k++)
                row_add(x + i * COLUMNS, *operand_at(minus, i, k).at, x + k * COLUMNS, vectors);
            row_divide(x + i * COLUMNS, diagonal[i], vectors);
        }
    }
}

/* Vectors that so many columns of a panel take */
INLINE size_t vectors_of(size_t columns) { return columns <= LANES ? 1 : columns <= 2 * LANES ? 2 : VECTORS; }

/* x (n x vectors, in rows of COLUMNS) <- L^-1 x; minus: -L below its diagonal, diagonal[i] = L(i, i) */
INLINE void substitute_panel(double *x, size_t vectors, broad__operand minus, const double *diagonal, size_t n)
{
    if (vectors == 1) substitute_vectors(x, minus, diagonal, n, 1);
    else if (vectors == 2) substitute_vectors(x, minus, diagonal, n, 2);
    else substitute_vectors(x, minus, diagonal, n, VECTORS);
}

OUTLINE void substitute_by_rows(double *x, size_t vectors, const double *minus, const double *diagonal, size_t n)
{
    substitute_panel(x, vectors, (broad__operand){minus, SIDE, 1}, diagonal, n);
}

OUTLINE void substitute_by_columns(double *x, size_t vectors, const double *minus, const double *diagonal, size_t n)
{
    substitute_panel(x, vectors, (broad__operand){minus, 1, SIDE}, diagonal, n);
}

/* Where number i, j of a matrix lies whose rows are taken from the last to the first if `backward`. */
INLINE size_t row_of(size_t i, size_t n, int backward) { return backward ? n - 1 - i : i; }

/* -L below its diagonal, line by line as they lie: rows of it, or columns. */
INLINE void pack_triangle(double *minus, double *diagonal, broad__operand l, size_t n, int by_rows, int backward)
{
    const size_t apart = by_rows ? l.row : l.column;
    for (size_t i = 0; i < n; i++) {
        const double *line = l.at + row_of(i, n, backward) * apart, *last = line + n - 1;
        double *out = minus + i * SIDE;
        size_t begin = by_rows ? 0 : i + 1, end = by_rows ? i : n;
        diagonal[i] = line[row_of(i, n, backward)];
        if (backward)
            for (size_t k = begin; k < end; k++) out[k] = -*(last - k);
        else
            for (size_t k = begin; k < end; k++) out[k] = -line[k];
    }
}

OUTLINE void kernel_substitute(broad__target x, size_t columns, broad__operand l, size_t n, int backward)
{
    double minus[SIDE * SIDE] __attribute__((aligned(64))), diagonal[SIDE],
        panel[SIDE * COLUMNS] __attribute__((aligned(64)));
    const int by_rows = l.column == 1;
    pack_triangle(minus, diagonal, l, n, by_rows, backward);
    for (size_t first = 0; first < columns; first += COLUMNS) {
        size_t wide = least(COLUMNS, columns - first), vectors = vectors_of(wide);
        for (size_t i = 0; i < n; i++) {
            const double *row = x.at + row_of(i, n, backward) * x.row + first * x.column;
            for (size_t j = 0; j < wide; j++) panel[i * COLUMNS + j] = row[j * x.column];
            for (size_t j = wide; j < vectors * LANES; j++) panel[i * COLUMNS + j] = 0;
        }
        (by_rows ? substitute_by_rows : substitute_by_columns)(panel, vectors, minus, diagonal, n);
        for (size_t i = 0; i < n; i++) {
            double *row = x.at + row_of(i, n, backward) * x.row + first * x.column;
            for (size_t j = 0; j < wide; j++) row[j * x.column] = panel[i * COLUMNS + j];
        }
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
            row_add(row + j, f->minus[k * f->stripe + i], f->r + k * f->stripe + j, VECTORS);
    if (!(row[i] > 0) || !isfinite(row[i])) return 0;
    double root = sqrt(row[i]);
    for (size_t j = begin; j < f->n; j += COLUMNS) row_divide(row + j, root, VECTORS);
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
            rows_above(f->r + first * stripe + j, stripe, (broad__operand){f->minus + first, 1, stripe}, f->r + j, rows,
                       first, VECTORS);
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
