/* nodes of one kernel set; see kernels.h for the order of the sums. */
#ifndef BROAD_COMPUTE_CPU_KERNEL_NODES_H
#define BROAD_COMPUTE_CPU_KERNEL_NODES_H

#include "compute/activation.h"
#include "compute/cpu/kernel_double.h"

/*
 * BLOCK    rows of `out` whose activations are taken while they are in the second cache
 * GROUP    the same for a part of it, where the weights are few enough to be packed as a whole
 */
enum { BLOCK = 256, GROUP = 64 };

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

INLINE void nearing_step(full sums[ROWS][VECTORS], const double *a, size_t a_row, const double *b)
{
    full right[VECTORS];
    UNROLL for (size_t v = 0; v < VECTORS; v++) right[v] = full_load(b + v * LANES);
    UNROLL for (size_t i = 0; i < ROWS; i++)
    {
        full left = full_spread(a[i * a_row]);
        UNROLL for (size_t v = 0; v < VECTORS; v++) sums[i][v] = full_fma(left, right[v], sums[i][v]);
    }
}

/* A whole tile, b packed, that brings near a line with every two steps. */
INLINE void tile_nearing(product p)
{
    full sums[ROWS][VECTORS];
    size_t k = 0;
    UNROLL for (size_t i = 0; i < ROWS; i++)
    {
        UNROLL for (size_t v = 0; v < VECTORS; v++) sums[i][v] = full_load(start_of(&p, i) + v * LANES);
    }
    for (; k + 2 <= p.depth; k += 2, p.b += 2 * COLUMNS) {
        __builtin_prefetch(p.soon + k * NEARING, 0, 2);
        nearing_step(sums, p.a + k, p.a_row, p.b);
        nearing_step(sums, p.a + k + 1, p.a_row, p.b + COLUMNS);
    }
    if (k < p.depth) nearing_step(sums, p.a + k, p.a_row, p.b);
    UNROLL for (size_t i = 0; i < ROWS; i++)
    {
        UNROLL for (size_t v = 0; v < VECTORS; v++) full_store(p.out + i * p.out_stride + v * LANES, sums[i][v]);
    }
}

/* Whole tiles of one panel; b is packed. */
OUTLINE void tiles_nearing(product p, size_t tiles)
{
    for (size_t i = 0; i < tiles; i++) {
        tile_nearing(p);
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
OUTLINE void nodes_grouped(product p, const broad__nodes *nodes, const double *packed, size_t rows)
{
    size_t columns = nodes->nodes, depth = nodes->inputs;
    nearing soon = nearing_begin(nodes->soon);
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

/* With the zeros that fill up the last panel. */
INLINE int fits_packed(const broad__nodes *nodes)
{
    size_t columns = (nodes->nodes + COLUMNS - 1) / COLUMNS * COLUMNS;
    return nodes->inputs <= DEPTH && columns <= BROAD__PACKED && nodes->inputs * columns <= BROAD__PACKED;
}

INLINE void pack_weights(double *out, const broad__nodes *nodes)
{
    product p = {.b = nodes->weight, .b_step = nodes->nodes};
    for (size_t j = 0; j < nodes->nodes; j += COLUMNS) {
        pack(out + j * nodes->inputs, &p, 1.0, nodes->inputs, least(COLUMNS, nodes->nodes - j));
        p.b += COLUMNS;
    }
}

OUTLINE int kernel_pack(double *out, const broad__nodes *nodes)
{
    if (!fits_packed(nodes)) return 0;
    pack_weights(out, nodes);
    return 1;
}

OUTLINE void nodes_packing(product p, const broad__nodes *nodes, size_t rows)
{
    double packed[BROAD__PACKED] __attribute__((aligned(64)));
    pack_weights(packed, nodes);
    nodes_grouped(p, nodes, packed, rows);
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
            if (nodes->packed) nodes_grouped(p, nodes, nodes->packed, n);
            else nodes_packing(p, nodes, n);
            continue;
        }
        start_rows(p.out, out_stride, nodes, n);
        if (n < FEW) few_rows(p, n, nodes->nodes);
        else packed_by_rows(p, 1.0, n, nodes->nodes, NULL);
        activate_rows(p.out, out_stride, nodes, n);
    }
}

#endif
