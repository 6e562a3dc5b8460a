/*
 * Nodes that are drawn where the training rows are. Each turns at a row: its bias is -w.x of a row drawn at random, so
 * that none of them is flat over all the data. Its direction:
 *
 *   dense        all columns, each uniform in +-1, times the root of the metric or the relevance s of each column; as long
 *                that w.x has the standard deviation `range` over the rows, in the mean square of all such directions
 *   sparse       one, two or three columns, drawn with probability 0.9 s_j^2 / sum + 0.1 / columns among those with any
 *                relevance; such nodes find what depends on few inputs, as trees do. The deviation of w.x is 1.5 range times
 *                a number between 0.55 and 1.8, so that some are steep
 *   difference   x_a - x_b of two rows, times the metric or the relevance: directions in which the data differ. For images
 *                within a rectangle of a quarter to half of their sides. The deviation of w.x is `range`
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
    const size_t *order; /* the rows that nodes may look at, in this order (data/row_order.h); NULL: all, as they lie */
    size_t order_count;
    const double *relevance;        /* columns, mean square 1; NULL: all alike */
    const double *root;             /* of the metric, columns x columns: feature/metric.h; NULL: there is none */
    size_t grid_height, grid_width; /* of images; 0: the rows are no images */
    size_t nodes;
    double range;
    broad__direction direction;
    broad__stream stream;
} broad__sample_task;

/* weight: columns x nodes, bias: nodes */
int broad__sample_nodes(double *weight, double *bias, const broad__sample_task *task);

#endif
