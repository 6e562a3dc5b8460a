/* The score (layer/score.h) of a candidate for many lambda, from its sums. */
#ifndef BROAD_LAYER_SCORE_LAMBDA_H
#define BROAD_LAYER_SCORE_LAMBDA_H

#include "layer/residual.h"

/* What a candidate would come to, from the sums. */
typedef struct broad__prospect {
    double lambda, norm, inner, score;
} broad__prospect;

/* The lambda of the least score for the candidate, over a grid of multiples of the mean eigenvalue. */
int broad__score_lambda(broad__prospect *out, const broad__residual *residual, double penalty);

#endif
