/*
 * Nodes that are drawn where the training rows are. Each turns at a row: its bias is -w.x of a row drawn at random, so that
 * none of them is flat over all the data. A dense node sees every column, a sparse one two of them, drawn by their relevance;
 * sparse nodes find what depends on few inputs, as trees do.
 *
 *   dense    w_j = (2u - 1) range sqrt(3 / columns) s_j       s: relevance, mean square 1
 *   sparse   w_j = (2u - 1) 2 range sqrt(3 / 2)               j with probability 0.9 s_j^2 / sum + 0.1 / columns
 */
#ifndef BROAD_FEATURE_SAMPLE_H
#define BROAD_FEATURE_SAMPLE_H

#include "data/scale.h"
#include "rng/philox.h"

typedef struct broad__sample_task {
    broad__scaling scaling;
    const double *x; /* rows x inputs, as they were read */
    size_t rows;
    const double *relevance; /* columns; NULL: all alike */
    size_t nodes;
    double range;
    int sparse;
    broad__stream stream;
} broad__sample_task;

/* weight: columns x nodes, bias: nodes */
int broad__sample_nodes(double *weight, double *bias, const broad__sample_task *task);

#endif
