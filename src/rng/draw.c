#include "rng/draw.h"

#include <math.h>

#include "base/common.h"
#include "base/profile.h"

/* Nodes that are drawn together, so that weights that lie side by side are written together; and inputs at a time. */
enum { GROUP = 8, SPAN = 256 };

/* u: for each node of the group `stride` numbers. */
typedef struct numbers {
    const double *u;
    size_t stride, group;
} numbers;

static void write_inputs(double *weight, size_t nodes, numbers from, size_t inputs, double scale)
{
    for (size_t i = 0; i < inputs; i++, weight += nodes)
        for (size_t j = 0; j < from.group; j++) weight[j] = (2.0 * from.u[j * from.stride + i] - 1.0) * scale;
}

/* `count` numbers of each node of a group; where that is all of them they follow each other, and are drawn in one go.
 * */
static void draw_span(double *u, const broad__stream *stream, uint64_t first, size_t length, size_t group, size_t count)
{
    if (count == length) broad__random_fill(u, stream, first, group * length);
    else
        for (size_t j = 0; j < group; j++)
            broad__random_fill(u + j * count, stream, first + (uint64_t)j * length, count);
}

double broad__draw_scale(const broad__draw *draw)
{
    return draw->unit == BROAD_RANGE_FAN_IN ? draw->range * sqrt(3.0 / (double)draw->inputs) : draw->range;
}

void broad__draw_nodes(double *weight, double *bias, const broad__draw *draw)
{
    size_t inputs = draw->inputs, nodes = draw->nodes, length = inputs + 1; /* with the bias */
    double scale = broad__draw_scale(draw);
    double u[GROUP * SPAN];
    broad__profile_span span = broad__profile_start();
    for (size_t i = 0; i < length; i += SPAN) {
        size_t count = broad__min(length - i, SPAN), weights = broad__min(inputs - i, count);
        for (size_t node = 0; node < nodes; node += GROUP) {
            size_t group = broad__min(nodes - node, GROUP);
            draw_span(u, &draw->stream, (uint64_t)node * length + i, length, group, count);
            write_inputs(weight + i * nodes + node, nodes, (numbers){u, count, group}, weights, scale);
            if (weights < count) write_inputs(bias + node, nodes, (numbers){u + weights, count, group}, 1, draw->range);
        }
    }
    broad__profile_stop(span, BROAD__STAGE_DRAW, 0, (double)length * (double)nodes * sizeof(double));
}
