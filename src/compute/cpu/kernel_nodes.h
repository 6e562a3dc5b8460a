/* nodes of one kernel set; see kernels.h for the order of the sums. */
#ifndef BROAD_COMPUTE_CPU_KERNEL_NODES_H
#define BROAD_COMPUTE_CPU_KERNEL_NODES_H

#include "compute/activation.h"
#include "compute/cpu/kernel_double.h"

/*
 * BLOCK    rows of `out` whose activations are taken while they are in the second cache
 * GROUP    the same for a part of it, where the weights are few enough to be packed as a whole
 * WEIGHTS  numbers that many, zeros that fill up the last panel included
 */
enum { BLOCK = 256, GROUP = 64, WEIGHTS = 12288 };

/* Numbers that are read after the nodes, brought near tile by tile while these are computed. */
typedef struct nearing {
    const broad__soon *soon; /* that is next; NULL: none */
    size_t left;             /* how many there are, with it */
    const char *at, *end;
} nearing;

INLINE nearing nearing_begin(const broad__soon *soon)
{
    nearing n = {soon, soon ? BROAD__SOON : 0, NULL, NULL};
    return n;
}

/* Where tiles of that many steps go on; NULL: nothing is left. */
INLINE const char *nearing_next(nearing *n, size_t steps)
{
    while (n->at >= n->end && n->left) {
        n->at = (const char *)n->soon->at;
        n->end = n->at + n->soon->count * sizeof(double);
        n->soon++;
        n->left--;
    }
    const char *at = n->at;
    if (at >= n->end) return NULL;
    n->at += steps * NEARING;
    return at;
}

/* Whole tiles of one panel; b is packed. */
OUTLINE void tiles_nearing(product p, size_t tiles)
{
    p.a_step = 1;
    p.b_step = COLUMNS;
    for (size_t i = 0; i < tiles; i++) {
        tile_with(p, ROWS, VECTORS, LANES, 1, 1, 1);
        p.out += ROWS * p.out_stride;
        p.a += ROWS * p.a_row;
        p.soon += p.depth * NEARING;
    }
}

/* Some rows of one panel; b is packed. */
INLINE void panel_nearing(product p, nearing *n, size_t rows, size_t columns)
{
    size_t tiles = columns == COLUMNS ? rows / ROWS : 0;
    p.soon = tiles ? nearing_next(n, tiles * p.depth) : NULL;
    if (p.soon) tiles_nearing(p, tiles);
    size_t done = p.soon ? tiles * ROWS : 0;
    if (done < rows) panel_padded(product_at(p, done, 0), rows - done, columns);
}

INLINE void activate_rows(double *out, size_t out_stride, const broad__nodes *nodes, size_t rows)
{
    size_t together = out_stride == nodes->nodes ? rows : 1;
    for (size_t i = 0; i < rows; i += together)
        broad__activate(nodes->activation, out + i * out_stride, together * nodes->nodes);
}

INLINE void start_rows(double *out, size_t out_stride, const broad__nodes *nodes, size_t rows)
{
    for (size_t i = 0; i < rows; i++) memcpy(out + i * out_stride, nodes->bias, nodes->nodes * sizeof(double));
}

/* Few inputs and nodes: all weights are packed, and every group of rows is read once. */
OUTLINE void nodes_grouped(product p, const broad__nodes *nodes, size_t rows)
{
    double packed[WEIGHTS] __attribute__((aligned(64)));
    size_t columns = nodes->nodes, depth = nodes->inputs;
    nearing soon = nearing_begin(nodes->soon);
    for (size_t j = 0; j < columns; j += COLUMNS) {
        product part = product_at(p, 0, j);
        pack(packed + j * depth, &part, 1.0, depth, least(COLUMNS, columns - j));
    }
    p.start = nodes->bias;
    for (size_t i = 0; i < rows; i += GROUP) {
        size_t n = least(GROUP, rows - i);
        product group = product_at(p, i, 0);
        for (size_t j = 0; j < columns; j += COLUMNS) {
            product part = product_at(group, 0, j);
            part.b = packed + j * depth;
            panel_nearing(part, &soon, n, least(COLUMNS, columns - j));
        }
        activate_rows(group.out, p.out_stride, nodes, n);
    }
}

INLINE int fits_packed(const broad__nodes *nodes)
{
    size_t columns = (nodes->nodes + COLUMNS - 1) / COLUMNS * COLUMNS;
    return nodes->inputs <= DEPTH && columns <= WEIGHTS && nodes->inputs * columns <= WEIGHTS;
}

OUTLINE void kernel_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                          size_t rows)
{
    product p = {.out_stride = out_stride,
                 .a_row = x_stride,
                 .a_step = 1,
                 .b = nodes->weight,
                 .b_step = nodes->nodes,
                 .depth = nodes->inputs};
    for (size_t first = 0; first < rows; first += BLOCK) {
        size_t n = least(BLOCK, rows - first);
        p.out = out + first * out_stride;
        p.a = x + first * x_stride;
        if (n >= FEW && fits_packed(nodes)) {
            nodes_grouped(p, nodes, n);
            continue;
        }
        start_rows(p.out, out_stride, nodes, n);
        if (n < FEW) few_rows(p, n, nodes->nodes);
        else packed_by_rows(p, 1.0, n, nodes->nodes, NULL);
        activate_rows(p.out, out_stride, nodes, n);
    }
}

#endif
