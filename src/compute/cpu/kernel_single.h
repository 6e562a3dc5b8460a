/*
 * nodes of one kernel set in single precision: a chain of fused steps in float over the inputs.
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
 */
enum { DEPTH = 128, GROUP = 128, PIECE = 256 };

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

#endif
