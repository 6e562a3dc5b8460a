/*
 * out += sign a b for large matrices of any layout: both operands are packed so that the tiles read them in order. Where out
 * has many rows and columns this is near the processor's peak; kernel_double.h is better at what is narrow or small.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_PRODUCT_H
#define BROAD_COMPUTE_CPU_KERNEL_PRODUCT_H

#include "compute/cpu/kernel_tile.h"
#include "compute/cpu/kernels.h"

/*
 * HIGH    rows of a tile, and of a packed panel of a
 * STEPS   steps of packed panels: one of b and one of a stay in the first cache
 * TALL    rows of a packed at once, which stay in the second cache
 */
enum { HIGH = ROWS, STEPS = 256, TALL = 192 };

/* out[k * width + i] = factor * in[i * row + k * step] for i < count and k < steps; one of row and step is 1. */
INLINE void pack_panel(double *out, const size_t width, double factor, const double *in, size_t row, size_t step,
                       size_t count, size_t steps)
{
    size_t whole = count - count % QUAD, even = steps - steps % 2;
    if (row == 1 && count == width && width % LANES == 0) {
        for (size_t k = 0; k < steps; k++)
            UNROLL for (size_t v = 0; v < width / LANES; v++)
                full_store(out + k * width + v * LANES, full_spread(factor) * full_load(in + k * step + v * LANES));
        return;
    }
    if (row == 1) {
        for (size_t k = 0; k < steps; k++)
            for (size_t l = 0; l < count; l++) out[k * width + l] = factor * in[k * step + l];
        return;
    }
    for (size_t i = 0; i < whole; i += QUAD) {
        quad pair[2];
        for (size_t k = 0; k < even; k += 2) {
            quad_gather_two(pair, in + i * row + k, row);
            quad_store(out + k * width + i, quad_times(pair[0], factor));
            quad_store(out + (k + 1) * width + i, quad_times(pair[1], factor));
        }
        for (size_t k = even; k < steps; k++)
            for (size_t l = i; l < i + QUAD; l++) out[k * width + l] = factor * in[l * row + k];
    }
    for (size_t i = whole; i < count; i++)
        for (size_t k = 0; k < steps; k++) out[k * width + i] = factor * in[i * row + k];
}

OUTLINE void pack_a(double *out, double sign, const double *a, size_t row, size_t step, size_t rows, size_t steps)
{
    for (size_t i = 0; i < rows; i += HIGH)
        pack_panel(out + i * steps, HIGH, sign, a + i * row, row, step, least(HIGH, rows - i), steps);
}

OUTLINE void pack_b(double *out, const double *b, size_t step, size_t column, size_t columns, size_t steps)
{
    if (columns == COLUMNS) pack_panel(out, COLUMNS, 1.0, b, column, step, COLUMNS, steps);
    else pack_panel(out, COLUMNS, 1.0, b, column, step, columns, steps);
}

/* What is read next, brought near while tiles are computed: `count` runs of `length` numbers. */
typedef struct ahead {
    const double *at;
    size_t stride, count, length;
} ahead;

INLINE ahead ahead_of(broad__operand b, size_t steps, size_t columns)
{
    if (b.column == 1) return (ahead){b.at, b.row, steps, columns};
    return (ahead){b.at, b.column, columns, steps};
}

INLINE void fetch(const ahead *next, size_t first, size_t end)
{
    enum { LINE = 8 };
    for (size_t i = first; i < least(end, next->count); i++)
        for (size_t j = 0; j < next->length; j += LINE) __builtin_prefetch(next->at + i * next->stride + j, 0, 2);
}

/* One packed panel of b against all packed panels of a. */
OUTLINE void panel_packed(product p, size_t rows, size_t columns, ahead next)
{
    size_t depth = p.depth, share = (next.count * HIGH + rows - 1) / rows;
    p.a_row = 1;
    p.a_step = HIGH;
    p.b_step = COLUMNS;
    for (size_t i = 0, n = 0; i < rows; i += HIGH, n += share) {
        ahead below = {p.out + HIGH * p.out_stride, p.out_stride, rows - i > HIGH ? least(HIGH, rows - i - HIGH) : 0,
                       columns};
        fetch(&below, 0, HIGH);
        fetch(&next, n, n + share);
        if (columns == COLUMNS && rows - i >= HIGH) tile(p, HIGH, VECTORS, LANES, 1);
        else panel_any(p, least(HIGH, rows - i), columns, 0);
        p.a += HIGH * depth;
        p.out += HIGH * p.out_stride;
    }
}

OUTLINE void kernel_product(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b,
                            size_t rows, size_t columns, size_t depth)
{
    double packed_a[STEPS * TALL] __attribute__((aligned(64))), packed_b[STEPS * COLUMNS] __attribute__((aligned(64)));
    size_t piece = even_piece(depth, STEPS), high = (even_piece(rows, TALL) + HIGH - 1) / HIGH * HIGH;
    for (size_t k = 0; k < depth; k += piece)
        for (size_t i = 0; i < rows; i += high) {
            product p = {.out = out + i * out_stride, .out_stride = out_stride, .a = packed_a, .b = packed_b};
            size_t tall = least(high, rows - i);
            p.depth = least(piece, depth - k);
            pack_a(packed_a, sign, a.at + i * a.row + k * a.column, a.row, a.column, tall, p.depth);
            for (size_t j = 0; j < columns; j += COLUMNS, p.out += COLUMNS) {
                size_t wide = least(COLUMNS, columns - j);
                broad__operand next = {b.at + k * b.row + (j + wide) * b.column, b.row, b.column};
                pack_b(packed_b, b.at + k * b.row + j * b.column, b.row, b.column, wide, p.depth);
                panel_packed(p, tall, wide, ahead_of(next, p.depth, least(COLUMNS, columns - j - wide)));
            }
        }
}

#endif
