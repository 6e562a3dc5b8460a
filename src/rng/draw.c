#include "rng/draw.h"

#include <math.h>

#include "base/profile.h"

/* Nodes that are drawn together, so that weights are written as far as possible side by side, and inputs at a time. */
enum { GROUP = 8, PIECE = 256 };

static void write_inputs(double *weight, size_t nodes, const double *u, size_t stride, size_t group, size_t inputs,
                         double scale)
{
    for (size_t i = 0; i < inputs; i++, weight += nodes)
        for (size_t j = 0; j < group; j++) weight[j] = (2.0 * u[j * stride + i] - 1.0) * scale;
}

/* Numbers of a group whose nodes fit in whole are drawn in one go: they follow each other. */
static void draw_piece(double *u, const broad__stream *stream, uint64_t first, size_t length, size_t group,
                       size_t count)
{
    if (count == length) broad__random_fill(u, stream, first, group * length);
    else
        for (size_t j = 0; j < group; j++)
            broad__random_fill(u + j * count, stream, first + (uint64_t)j * length, count);
}

void broad__draw_nodes(double *weight, double *bias, const broad__stream *stream, size_t inputs, size_t nodes,
                       double range, broad_range_unit unit)
{
    double scale = unit == BROAD_RANGE_FAN_IN ? range * sqrt(3.0 / (double)inputs) : range;
    size_t length = inputs + 1; /* with the bias */
    double u[GROUP * PIECE];
    broad__profile_span span = broad__profile_start();
    for (size_t i = 0; i < length; i += PIECE) {
        size_t count = length - i < PIECE ? length - i : PIECE, weights = inputs - i < count ? inputs - i : count;
        for (size_t node = 0; node < nodes; node += GROUP) {
            size_t group = nodes - node < GROUP ? nodes - node : GROUP;
            draw_piece(u, stream, (uint64_t)node * length + i, length, group, count);
            write_inputs(weight + i * nodes + node, nodes, u, count, group, weights, scale);
            if (weights < count) write_inputs(bias + node, nodes, u + weights, count, group, 1, range);
        }
    }
    broad__profile_stop(span, BROAD__STAGE_DRAW, 0, (double)length * (double)nodes * sizeof(double));
}
