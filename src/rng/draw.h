/* Random weights of a set of nodes, from the counter-based generator. How they follow from the seed is part of the
 * model format. */
#ifndef BROAD_RNG_DRAW_H
#define BROAD_RNG_DRAW_H

#include "broad/broad.h"
#include "rng/philox.h"

typedef struct broad__draw {
    broad__stream stream;
    size_t inputs, nodes;
    double range;
    broad_range_unit unit;
} broad__draw;

/* weight: inputs x nodes, bias: nodes. Node by node, so that node i does not depend on how many nodes there are:
 *   element = node * (inputs + 1) + input; the bias is input number `inputs`
 *   weight  = (2u - 1) * range * unit,  bias = (2u - 1) * range,  unit = 1, or sqrt(3 / inputs) for fan-in */
double broad__draw_scale(const broad__draw *draw); /* range * unit */
void broad__draw_nodes(double *weight, double *bias, const broad__draw *draw);

#endif
