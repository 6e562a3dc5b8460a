/*
 * Ridge regression of the residual on a candidate's nodes.
 *
 *   W = (K'K + lambda I)^-1 K'E, or K'(KK' + lambda I)^-1 E where K has more columns than rows
 *   ||E - KW||^2 = ||E||^2 - 2 tr(W'B) + tr(W'GW)                  from the sums: no second pass
 *   leave-one-out residual of row i: r_i / (1 - h_i), h = diag K(K'K + lambda I)^-1 K'; in the dual form a_i / g_i with
 *   a = (KK' + lambda I)^-1 E and g the diagonal of that inverse. One eigendecomposition serves a whole grid of lambda.
 *   ||I - K K+||_2 = 1 where rows > rank, else lambda / (s_min^2 + lambda)
 */
#ifndef BROAD_LAYER_RIDGE_H
#define BROAD_LAYER_RIDGE_H

#include "layer/residual.h"
#include "layer/spd.h"

typedef struct broad__ridge_request {
    int lambda_auto;   /* choose lambda by leave-one-out */
    double lambda;     /* otherwise this one             */
    int relative;      /* which is meant in units of the mean diagonal element of K'K, or KK' */
    int loo;           /* the leave-one-out norm is wanted  */
    int operator_norm; /* the operator norm is wanted       */
    int outputs;       /* what is left of each output is wanted */
    double penalty;    /* above 0: the score of the chain is wanted, and lambda is chosen by it (layer/score.h) */
} broad__ridge_request;

typedef struct broad__ridge {
    double *w; /* width x outputs */
    double lambda;
    double estimate; /* ||E - KW|| from the sums; in the dual form from the residual itself */
    int settled;     /* W is right as the sums have it: another pass over the rows would change nothing that matters */
    int refined;     /* it was refined with the residual of the rows */
    int unsolved;    /* the score has chosen lambda, and W is not there yet: broad__ridge_complete() */
    double norm;     /* ||E - KW||, direct; after broad__ridge_finish() */
    double loo;      /* norm of the leave-one-out residuals, if requested */
    double operator_norm;
    /* Largest part of an output's squared norm that remains, if requested: max_q ||e_q - K w_q||^2 / ||e_q||^2. */
    double worst_output;
    double *probe_w; /* width x probes: the same for the probes, where the score is wanted */
    double inner;    /* <U_0, U> with it, from the sums; direct after broad__ridge_finish() */

    broad__spd spd;
    double *step; /* a correction of w, or the dual solution */
    double *probe_step;
    size_t w_capacity, step_capacity, probe_w_capacity, probe_step_capacity;
} broad__ridge;

void broad__ridge_clear(broad__ridge *ridge); /* accepts a zeroed one */

/* Solves for the candidate in `rows`. */
int broad__ridge_solve(broad__ridge *ridge, broad__residual *residual, const broad__ridge_request *request);

/* The weights, where only lambda, estimate and inner are known so far. */
int broad__ridge_complete(broad__ridge *ridge, broad__residual *residual);

/* Improves W by one step of refinement with the residual of the rows, unless it is settled; in the primal form. If that
 * settles it, the estimate is the norm of that residual. */
int broad__ridge_refine(broad__ridge *ridge, broad__residual *residual);

/* Puts E - KW into next, improves W by one step of iterative refinement with that residual unless it is settled, and
 * gives the norm.
 * The norm never exceeds ||E||: where rounding leaves nothing of the solution, W is zero. */
int broad__ridge_finish(broad__ridge *ridge, broad__residual *residual);

#endif
