#include "rng/draw.h"

#include <math.h>

enum { CHUNK = 512 };

void broad__draw_nodes(double *weight, double *bias, const broad__stream *stream, size_t inputs, size_t nodes,
                       double range, broad_range_unit unit)
{
    double scale = unit == BROAD_RANGE_FAN_IN ? range * sqrt(3.0 / (double)inputs) : range;
    double u[CHUNK];
    for (size_t node = 0; node < nodes; node++) {
        uint64_t first = (uint64_t)node * (inputs + 1);
        for (size_t i = 0; i < inputs; i += CHUNK) {
            size_t count = inputs - i < CHUNK ? inputs - i : CHUNK;
            broad__random_fill(u, stream, first + i, count);
            for (size_t k = 0; k < count; k++) weight[(i + k) * nodes + node] = (2.0 * u[k] - 1.0) * scale;
        }
        bias[node] = (2.0 * broad__random_at(stream, first + inputs) - 1.0) * range;
    }
}
