/* Tiles of doubles for few rows or few columns of out. */
#ifndef BROAD_COMPUTE_CPU_KERNEL_NARROW_H
#define BROAD_COMPUTE_CPU_KERNEL_NARROW_H

#include "compute/cpu/kernel_tile.h"

enum { NARROW = 3 }; /* columns of a tile whose vectors run down the rows */

/* COLUMNS columns and at most tile_rows(VECTORS) rows, in one tile. */
INLINE void block_any(product p, size_t rows)
{
    switch (rows) {
    case 1: tile(p, 1, VECTORS, LANES, 1); break;
    case 2: tile(p, 2, VECTORS, LANES, 1); break;
    case 3: tile(p, 3, VECTORS, LANES, 1); break;
    case 4: tile(p, 4, VECTORS, LANES, 1); break;
    }
    if (tile_rows(VECTORS) <= 4) return;
    switch (rows) {
    case 5: tile(p, 5, VECTORS, LANES, 1); break;
    case 6: tile(p, 6, VECTORS, LANES, 1); break;
    case 7: tile(p, 7, VECTORS, LANES, 1); break;
    case 8: tile(p, 8, VECTORS, LANES, 1); break;
    }
}

INLINE void row(product p, const size_t vectors, size_t last)
{
    if (last < LANES) tile(p, 1, vectors, last, 0);
    else tile(p, 1, vectors, last, 1);
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
    if (k < p.depth) {
        UNROLL for (size_t q = 0; q < quads; q++)
        {
            a[0] = quad_gather(p.a + q * down + k, p.a_row);
            UNROLL for (size_t j = 0; j < columns; j++) sums[j][q] = quad_fma(a[0], quad_spread(p.b[j]), sums[j][q]);
        }
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
