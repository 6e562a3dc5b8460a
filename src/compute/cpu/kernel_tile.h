/*
 * out += a b on tiles whose sums stay in registers. Each sum starts at the number in `out` and takes its products in order.
 * Loops over `rows` and `vectors` have constant ends and are unrolled.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_TILE_H
#define BROAD_COMPUTE_CPU_KERNEL_TILE_H

#include "compute/cpu/kernel_vector.h"

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum { COLUMNS = VECTORS * LANES, WIDE = 8 }; /* WIDE: vectors of a tile of one row */

typedef struct product {
    double *out;
    size_t out_stride;
    const double *a;
    size_t a_row, a_step; /* a's number for row i of out and step k: a[i * a_row + k * a_step] */
    const double *b;
    size_t b_step; /* b's numbers for step k: b[k * b_step + column] */
    size_t depth;  /* steps */
    int diagonal;  /* out starts on the diagonal: what is below it stays */
} product;

INLINE product product_at(product p, size_t row, size_t column)
{
    p.out += row * p.out_stride + column;
    p.a += row * p.a_row;
    p.b += column;
    return p;
}

INLINE void store_row(const product *p, size_t row, const full *sums, size_t vectors, size_t last)
{
    double *out = p->out + row * p->out_stride;
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        size_t end = v + 1 < vectors ? LANES : last;
        size_t from = row > v * LANES ? row - v * LANES : 0;
        if (p->diagonal && from > 0) {
            if (from < end) full_store_masked(out + v * LANES, sums[v], lanes_between(from, end));
        } else if (end < LANES) full_store_masked(out + v * LANES, sums[v], lanes_between(0, end));
        else full_store(out + v * LANES, sums[v]);
    }
}

/* A tile of rows x (vectors full ones, the last with `last` numbers). */
INLINE void tile(product p, const size_t rows, const size_t vectors, size_t last)
{
    full sums[ROWS_MAX][WIDE], b[WIDE];
    mask end = lanes_between(0, last);
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v + 1 < vectors; v++) sums[i][v] = full_load(p.out + i * p.out_stride + v * LANES);
        sums[i][vectors - 1] = full_load_masked(p.out + i * p.out_stride + (vectors - 1) * LANES, end);
    }
    for (size_t k = 0; k < p.depth; k++) {
        UNROLL for (size_t v = 0; v + 1 < vectors; v++) b[v] = full_load(p.b + v * LANES);
        b[vectors - 1] = full_load_masked(p.b + (vectors - 1) * LANES, end);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            full a = full_spread(p.a[i * p.a_row]);
            UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] = full_fma(a, b[v], sums[i][v]);
        }
        p.a += p.a_step;
        p.b += p.b_step;
    }
    UNROLL for (size_t i = 0; i < rows; i++) store_row(&p, i, sums[i], vectors, last);
}

/* The same with a half vector of `last` numbers after the full ones. */
INLINE void tile_half(product p, const size_t rows, const size_t vectors, size_t last)
{
    full sums[ROWS_MAX][WIDE], b[WIDE];
    half ends[ROWS_MAX], b_end;
    size_t at = vectors * LANES;
    mask end = lanes_between(0, last);
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] = full_load(p.out + i * p.out_stride + v * LANES);
        ends[i] = half_load_masked(p.out + i * p.out_stride + at, end);
    }
    for (size_t k = 0; k < p.depth; k++) {
        UNROLL for (size_t v = 0; v < vectors; v++) b[v] = full_load(p.b + v * LANES);
        b_end = half_load_masked(p.b + at, end);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            full a = full_spread(p.a[i * p.a_row]);
            UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] = full_fma(a, b[v], sums[i][v]);
            ends[i] = half_fma(half_of(a), b_end, ends[i]);
        }
        p.a += p.a_step;
        p.b += p.b_step;
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        if (vectors > 0) store_row(&p, i, sums[i], vectors, LANES);
        size_t from = p.diagonal && i > at ? i - at : 0;
        if (from < last) half_store_masked(p.out + i * p.out_stride + at, ends[i], lanes_between(from, last));
    }
}

INLINE void tile_any(product p, const size_t rows, const size_t vectors, const int halved, size_t last)
{
    if (halved) tile_half(p, rows, vectors, last);
    else tile(p, rows, vectors, last);
}

/* All rows of one panel of columns. */
INLINE void panel(product p, size_t rows, const size_t vectors, const int halved, size_t last)
{
    const size_t high = tile_rows(vectors);
    size_t i = 0;
    for (; i + high <= rows; i += high) tile_any(product_at(p, i, 0), high, vectors, halved, last);
    if (high > 4 && rows - i >= 4) {
        tile_any(product_at(p, i, 0), 4, vectors, halved, last);
        i += 4;
    }
    if (rows - i >= 2) {
        tile_any(product_at(p, i, 0), 2, vectors, halved, last);
        i += 2;
    }
    if (rows > i) tile_any(product_at(p, i, 0), 1, vectors, halved, last);
}

/* At most COLUMNS columns. */
INLINE void panel_any(product p, size_t rows, size_t columns)
{
    size_t whole = columns / LANES, rest = columns % LANES;
    if (HALVES && rest > 0 && rest <= LANES / 2) {
        if (whole == 0) panel(p, rows, 0, 1, rest);
        else if (whole == 1) panel(p, rows, 1, 1, rest);
        else panel(p, rows, 2, 1, rest);
        return;
    }
    size_t last = rest ? rest : LANES;
    if (columns > 2 * LANES) panel(p, rows, VECTORS, 0, last);
    else if (columns > LANES) panel(p, rows, 2, 0, last);
    else panel(p, rows, 1, 0, last);
}

#endif
