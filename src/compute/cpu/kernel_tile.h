/*
 * out += a b on tiles whose sums stay in registers. Each sum starts at the number in `out` and takes its products in order.
 * Loops over `rows` and `vectors` have constant ends and are unrolled.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_TILE_H
#define BROAD_COMPUTE_CPU_KERNEL_TILE_H

#include "compute/cpu/kernel_vector.h"

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* WIDE: vectors of a tile of one row. NARROW: columns of a tile whose vectors run down the rows. */
enum { COLUMNS = VECTORS * LANES, WIDE = 8, NARROW = 3 };

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

INLINE full load_end(const double *p, size_t last, mask end)
{
    return last == LANES ? full_load(p) : full_load_masked(p, end);
}

/* A tile of rows x (vectors full ones, the last with `last` numbers). */
INLINE void tile(product p, const size_t rows, const size_t vectors, size_t last)
{
    full sums[ROWS_MAX][WIDE], b[WIDE];
    mask end = lanes_between(0, last);
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v + 1 < vectors; v++) sums[i][v] = full_load(p.out + i * p.out_stride + v * LANES);
        sums[i][vectors - 1] = load_end(p.out + i * p.out_stride + (vectors - 1) * LANES, last, end);
    }
    for (size_t k = 0; k < p.depth; k++) {
        UNROLL for (size_t v = 0; v + 1 < vectors; v++) b[v] = full_load(p.b + v * LANES);
        b[vectors - 1] = load_end(p.b + (vectors - 1) * LANES, last, end);
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

INLINE half half_load_end(const double *p, size_t last, mask end)
{
    return last == HALF ? half_load(p) : half_load_masked(p, end);
}

INLINE void half_store_row(const product *p, size_t row, const half *sums, size_t vectors, size_t last)
{
    double *out = p->out + row * p->out_stride;
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        size_t end = v + 1 < vectors ? HALF : last;
        size_t from = row > v * HALF ? row - v * HALF : 0;
        if (p->diagonal && from > 0) {
            if (from < end) half_store_masked(out + v * HALF, sums[v], lanes_between(from, end));
        } else if (end < HALF) half_store_masked(out + v * HALF, sums[v], lanes_between(0, end));
        else half_store(out + v * HALF, sums[v]);
    }
}

/* The same of half vectors. */
INLINE void half_tile(product p, const size_t rows, const size_t vectors, size_t last)
{
    half sums[ROWS_MAX][VECTORS], b[VECTORS];
    mask end = lanes_between(0, last);
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v + 1 < vectors; v++) sums[i][v] = half_load(p.out + i * p.out_stride + v * HALF);
        sums[i][vectors - 1] = half_load_end(p.out + i * p.out_stride + (vectors - 1) * HALF, last, end);
    }
    for (size_t k = 0; k < p.depth; k++) {
        UNROLL for (size_t v = 0; v + 1 < vectors; v++) b[v] = half_load(p.b + v * HALF);
        b[vectors - 1] = half_load_end(p.b + (vectors - 1) * HALF, last, end);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            half a = half_spread(p.a[i * p.a_row]);
            UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] = half_fma(a, b[v], sums[i][v]);
        }
        p.a += p.a_step;
        p.b += p.b_step;
    }
    UNROLL for (size_t i = 0; i < rows; i++) half_store_row(&p, i, sums[i], vectors, last);
}

INLINE void tile_any(product p, const size_t rows, const size_t vectors, const int halved, size_t last)
{
    if (halved) half_tile(p, rows, vectors, last);
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

/* `last` is a constant where it can be: a mask would take a register from the sums. */
INLINE void panel_ended(product p, size_t rows, const size_t vectors, const int halved, size_t last)
{
    if (last == (halved ? HALF : LANES)) panel(p, rows, vectors, halved, halved ? HALF : LANES);
    else panel(p, rows, vectors, halved, last);
}

/* At most COLUMNS columns. */
INLINE void panel_any(product p, size_t rows, size_t columns)
{
    const int halved = HALF < LANES && columns <= VECTORS * HALF;
    size_t lanes = halved ? HALF : LANES, vectors = (columns + lanes - 1) / lanes;
    size_t last = columns - (vectors - 1) * lanes;
    if (halved) {
        if (vectors == 3) panel_ended(p, rows, VECTORS, 1, last);
        else if (vectors == 2) panel_ended(p, rows, 2, 1, last);
        else panel_ended(p, rows, 1, 1, last);
    } else if (vectors == 3) panel_ended(p, rows, VECTORS, 0, last);
    else if (vectors == 2) panel_ended(p, rows, 2, 0, last);
    else panel_ended(p, rows, 1, 0, last);
}

/* COLUMNS columns and at most tile_rows(VECTORS) rows, in one tile. */
INLINE void block_any(product p, size_t rows)
{
    switch (rows) {
    case 1: tile(p, 1, VECTORS, LANES); break;
    case 2: tile(p, 2, VECTORS, LANES); break;
    case 3: tile(p, 3, VECTORS, LANES); break;
    case 4: tile(p, 4, VECTORS, LANES); break;
    }
    if (tile_rows(VECTORS) <= 4) return;
    switch (rows) {
    case 5: tile(p, 5, VECTORS, LANES); break;
    case 6: tile(p, 6, VECTORS, LANES); break;
    case 7: tile(p, 7, VECTORS, LANES); break;
    case 8: tile(p, 8, VECTORS, LANES); break;
    }
}

INLINE void row(product p, const size_t vectors, size_t last)
{
    if (last < LANES) tile(p, 1, vectors, last);
    else tile(p, 1, vectors, LANES);
}

/* One row, at most WIDE vectors. */
INLINE void row_any(product p, size_t columns)
{
    size_t vectors = (columns + LANES - 1) / LANES, last = columns - (vectors - 1) * LANES;
    switch (vectors) {
    case 1: row(p, 1, last); break;
    case 2: row(p, 2, last); break;
    case 3: row(p, 3, last); break;
    case 4: row(p, 4, last); break;
    case 5: row(p, 5, last); break;
    case 6: row(p, 6, last); break;
    case 7: row(p, 7, last); break;
    default: row(p, WIDE, last); break;
    }
}

/* Vectors run down the rows, so that no lane is idle where out has a few columns only. a's numbers lie side by side. */
INLINE void narrow_tile(product p, const size_t quads, const size_t columns)
{
    quad sums[NARROW][4], a[2];
    size_t k = 0, down = QUAD * p.a_row;
    UNROLL for (size_t j = 0; j < columns; j++)
    {
        UNROLL for (size_t q = 0; q < quads; q++) sums[j][q] =
            quad_gather(p.out + q * QUAD * p.out_stride + j, p.out_stride);
    }
    for (; k + 2 <= p.depth; k += 2, p.b += 2 * p.b_step) {
        UNROLL for (size_t q = 0; q < quads; q++)
        {
            quad_gather_two(a, p.a + q * down + k, p.a_row);
            UNROLL for (size_t j = 0; j < columns; j++) sums[j][q] = quad_fma(a[0], quad_spread(p.b[j]), sums[j][q]);
            UNROLL for (size_t j = 0; j < columns; j++) sums[j][q] =
                quad_fma(a[1], quad_spread(p.b[p.b_step + j]), sums[j][q]);
        }
    }
    if (k < p.depth) UNROLL for (size_t q = 0; q < quads; q++)
        {
            a[0] = quad_gather(p.a + q * down + k, p.a_row);
            UNROLL for (size_t j = 0; j < columns; j++) sums[j][q] = quad_fma(a[0], quad_spread(p.b[j]), sums[j][q]);
        }
    UNROLL for (size_t j = 0; j < columns; j++)
    {
        UNROLL for (size_t q = 0; q < quads; q++)
            quad_scatter(p.out + q * QUAD * p.out_stride + j, p.out_stride, sums[j][q]);
    }
}

/* Rows in whole quads; how many were done. */
INLINE size_t narrow_rows(product p, size_t rows, const size_t quads, const size_t columns)
{
    size_t i = 0;
    for (; i + quads * QUAD <= rows; i += quads * QUAD) narrow_tile(product_at(p, i, 0), quads, columns);
    for (; i + QUAD <= rows; i += QUAD) narrow_tile(product_at(p, i, 0), 1, columns);
    return i;
}

INLINE size_t narrow_any(product p, size_t rows, size_t columns)
{
    switch (columns) {
    case 1: return narrow_rows(p, rows, 4, 1);
    case 2: return narrow_rows(p, rows, 4, 2);
    default: return narrow_rows(p, rows, 2, NARROW);
    }
}

#endif
