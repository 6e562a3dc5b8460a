/*
 * Sums instead of rows. With A = [Z | H_1 | ... | H_m] over all nodes, C = A'A and D = A'Y are all that the chain
 * needs:
 *
 *   K_j' E_{j-1} = D_j - sum_{i<j} C_ji W_i            (columns and rows of layer j and i in C)
 *   W_j = (C_jj + lambda_j I)^-1 (the above)
 *   ||E_j||^2 = ||E_{j-1}||^2 - 2 tr(W_j' K_j'E_{j-1}) + tr(W_j' C_jj W_j)
 *
 * New rows are added to C and D; every layer is then solved again as if trained on all rows, with the nodes, scales and
 * lambdas it has. The sums are kept as unevaluated pairs of doubles, and right-hand sides and residuals are computed in
 * long double, because K_j'E is a small difference of large numbers.
 */
#ifndef BROAD_MODEL_TRAIN_STATS_H
#define BROAD_MODEL_TRAIN_STATS_H

#include "data/table.h"
#include "model/model.h"

struct broad_stats {
    size_t rows, nodes, outputs;
    double *gram, *gram_low;   /* nodes x nodes, upper triangle: C and its rounding error */
    double *cross, *cross_low; /* nodes x outputs: D */
    double *square;            /* 2: ||Y||^2 and its rounding error */
    char model[33];            /* hash of the nodes and training rows these sums belong to */
};

int broad__stats_new(broad_stats **out, const broad_model *model, const broad_data *training, size_t threads);
int broad__stats_learn(broad_stats *stats, broad_model *model, const broad_data *rows, size_t threads);
void broad__stats_free(broad_stats *stats); /* accepts NULL */

/* BROAD_BAD_MODEL unless these sums are of this model's nodes over its training rows. */
int broad__stats_belong(const broad_stats *stats, const broad_model *model);

#endif
