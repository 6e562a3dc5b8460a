/*
 * Nodes that are drawn where the training rows are. Each turns at a row: its bias is -w.x of a row drawn at random, so
 * that none of them is flat over all the data. Its direction:
 *
 *   dense        w_j = (2u - 1) range sqrt(3 / columns) s_j       s: relevance, mean square 1
 *   sparse       w_j = (2u - 1) 2 range sqrt(3 / 2) for two columns, drawn with probability
 *                0.9 s_j^2 / sum + 0.1 / columns; such nodes find what depends on few inputs, as trees do
 *   difference   w = (x_a - x_b) o s of two rows, scaled so that w.x has a standard deviation of `range` over the rows:
 *                directions in which the data differ. For images within a rectangle of a quarter to half of their sides
 */
#ifndef BROAD_FEATURE_SAMPLE_H
#define BROAD_FEATURE_SAMPLE_H

#include "data/transform/scale.h"
#include "rng/philox.h"

typedef enum broad__direction { BROAD__DENSE, BROAD__SPARSE, BROAD__DIFFERENCE } broad__direction;

typedef struct broad__sample_task {
    broad__scaling scaling;
    const double *x; /* rows x inputs, as they were read */
    size_t rows;
    const double *relevance;        /* columns; NULL: all alike */
    size_t grid_height, grid_width; /* of images; 0: the rows are no images */
    size_t nodes;
    double range;
    broad__direction direction;
    broad__stream stream;
} broad__sample_task;

/* weight: columns x nodes, bias: nodes */
int broad__sample_nodes(double *weight, double *bias, const broad__sample_task *task);

#endif
