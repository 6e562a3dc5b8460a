/*
 * Nodes in single precision, in plain C: what they are. Inputs, weights and biases are rounded to float; each node is one
 * chain of fused multiply-adds from its bias on, over its inputs in order, then the activation in float. So its bits are the
 * same on every machine, whatever rows it comes with, and anyone can check them.
 */
#ifndef BROAD_COMPUTE_SINGLE_H
#define BROAD_COMPUTE_SINGLE_H

#include "compute/device.h"

/* As broad__device.nodes, for nodes->single. */
void broad__nodes_single(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                         size_t rows);

#endif
