/*
 * nodes and gram_single of one kernel set in single precision: a chain of fused steps in float over the inputs for nodes, and
 * over BROAD__SINGLE_ROWS rows for gram_single, whose sums are then added in double.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_SINGLE_H
#define BROAD_COMPUTE_CPU_KERNEL_SINGLE_H

#ifndef KERNEL_SINGLE
#define KERNEL_SINGLE
#endif

#include "compute/activation.h"
#include "compute/cpu/kernel_tile.h"
#include "compute/cpu/kernels.h"

/*
 * DEPTH   steps of a packed panel
 * GROUP   rows of `out` that are narrowed together
 * WIDTH   columns of the Gram matrix that are narrowed together; a multiple of LANES, of which one more is read
 */
enum { DEPTH = 128, GROUP = 128, WIDTH = 112, STRIDE = WIDTH + 16, PIECE = 256 };

/* rows x columns numbers as floats, each row filled up with zeros. */
INLINE void narrow_to(float *out, size_t out_stride, const double *from, size_t stride, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) out[i * out_stride + j] = (float)from[i * stride + j];
        for (size_t j = columns; j < out_stride; j++) out[i * out_stride + j] = 0;
    }
}

/* DEPTH steps of at most GROUP rows. */
OUTLINE void nodes_group(product p, const broad__nodes *nodes, const double *x, size_t x_stride, size_t rows,
                         size_t first)
{
    float inputs[GROUP * DEPTH] __attribute__((aligned(64))), weights[DEPTH * COLUMNS] __attribute__((aligned(64)));
    narrow_to(inputs, DEPTH, x + first, x_stride, rows, p.depth);
    for (size_t j = 0; j < nodes->nodes; j += COLUMNS) {
        size_t wide = least(COLUMNS, nodes->nodes - j);
        narrow_to(weights, COLUMNS, nodes->weight + first * nodes->nodes + j, nodes->nodes, p.depth, wide);
        product part = p;
        part.out += j;
        part.a = inputs;
        part.b = weights;
        panel_by_rows(part, rows, wide);
    }
}

INLINE void activate_row(double *row, broad_activation activation, size_t count)
{
    float piece[PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        size_t n = least(PIECE, count - first);
        for (size_t j = 0; j < n; j++) piece[j] = (float)row[first + j];
        broad__activate_single(activation, piece, n);
        for (size_t j = 0; j < n; j++) row[first + j] = (double)piece[j];
    }
}

OUTLINE void kernel_nodes_single(double *out, size_t out_stride, const broad__nodes *nodes, const double *x,
                                 size_t x_stride, size_t rows)
{
    size_t piece = even_piece(nodes->inputs, DEPTH);
    for (size_t i = 0; i < rows; i += GROUP) {
        size_t n = least(GROUP, rows - i);
        product p = {
            .out = out + i * out_stride, .out_stride = out_stride, .a_row = DEPTH, .a_step = 1, .b_step = COLUMNS};
        for (size_t row = 0; row < n; row++)
            for (size_t j = 0; j < nodes->nodes; j++) p.out[row * out_stride + j] = (double)(float)nodes->bias[j];
        for (size_t first = 0; first < nodes->inputs; first += piece) {
            p.depth = least(piece, nodes->inputs - first);
            nodes_group(p, nodes, x + i * x_stride, x_stride, n, first);
        }
        for (size_t row = 0; row < n; row++) activate_row(p.out + row * out_stride, nodes->activation, nodes->nodes);
    }
}

/* Columns of k as floats: at most WIDTH of them, BROAD__SINGLE_ROWS rows. */
typedef struct columns {
    size_t first, count;
    float numbers[BROAD__SINGLE_ROWS * STRIDE] __attribute__((aligned(64)));
} columns;

INLINE void columns_take(columns *out, const double *k, size_t k_stride, size_t rows, size_t first, size_t count)
{
    out->first = first;
    out->count = count;
    narrow_to(out->numbers, STRIDE, k + first, k_stride, rows, count);
}

/* The part of the matrix with columns of one as rows, of the other as columns; both may be the same. */
OUTLINE void gram_part(double *out, size_t out_stride, const columns *high, const columns *wide, size_t rows)
{
    product p = {.out = out + high->first * out_stride + wide->first,
                 .out_stride = out_stride,
                 .a = high->numbers,
                 .a_row = 1,
                 .a_step = STRIDE,
                 .b = wide->numbers,
                 .b_step = STRIDE,
                 .depth = rows};
    for (size_t j = 0; j < wide->count; j += COLUMNS) {
        size_t count = least(COLUMNS, wide->count - j);
        panel_by_columns(product_at(p, 0, j), high == wide ? j : high->count, count);
        if (high == wide) panel_diagonal(product_at(p, j, j), count);
    }
}

OUTLINE void kernel_gram_single(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    columns one, other;
    size_t piece = even_piece(p, WIDTH);
    for (size_t i = 0; i < rows; i += BROAD__SINGLE_ROWS) {
        const double *block = k + i * k_stride;
        size_t n = least(BROAD__SINGLE_ROWS, rows - i);
        for (size_t first = 0; first < p; first += piece) {
            columns_take(&one, block, k_stride, n, first, least(piece, p - first));
            gram_part(out, out_stride, &one, &one, n);
            for (size_t next = first + piece; next < p; next += piece) {
                columns_take(&other, block, k_stride, n, next, least(piece, p - next));
                gram_part(out, out_stride, &one, &other, n);
            }
        }
    }
}

#endif
