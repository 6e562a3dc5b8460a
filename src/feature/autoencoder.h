/*
 * Feature nodes by a sparse autoencoder (Chen, Liu, "Broad Learning System", IEEE TNNLS 29(1), 2018): one group of k
 * nodes that is fitted to the inputs of the training rows instead of drawn. With T = [X 1], X the scaled inputs:
 *
 *   A = T W0, W0 uniform in [-1, 1], each column of A then scaled to [-1, 1] over the rows
 *   W = argmin ||A W - T||^2 / 2 + lambda ||W||_1                  k x (inputs + 1)
 *   features = T W', each then scaled to [0, 1] over the rows
 *
 * W comes from a given number of steps of ADMM with rho = 1, from zero:
 *
 *   V <- (A'A + I)^-1 (A'T + W - U),   W <- soft threshold of V + U by lambda,   U <- U + V - W
 *
 * The rows enter by A'A and A'T alone. The columns of W are found one by one, and the one for the 1 in T would only
 * move each feature by a constant, which the last scaling removes: it is left out. All scaling is folded into weight
 * and bias: afterwards it is a group like any other.
 */
#ifndef BROAD_FEATURE_AUTOENCODER_H
#define BROAD_FEATURE_AUTOENCODER_H

#include "compute/device.h"
#include "compute/pool.h"
#include "data/transform/scale.h"
#include "rng/philox.h"

typedef struct broad__autoencoder_task {
    const broad__device *device;
    broad__pool *pool;
    const double *x; /* rows x scaling.inputs, as they were read */
    size_t rows;
    broad__scaling scaling; /* its columns are the inputs here */
    size_t nodes;
    double lambda;
    size_t steps;
    broad__stream stream; /* W0 as broad__draw_nodes() has it, range 1 */
} broad__autoencoder_task;

/* weight: inputs x nodes, bias: nodes. Always finite: a node that is the same for all rows gets zeros. The bits do not
 * depend on the number of threads. Scaled inputs are never too large for their sums of squares: see scale.h. */
int broad__autoencoder(double *weight, double *bias, const broad__autoencoder_task *task);

#endif
