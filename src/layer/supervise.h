/*
 * Supervision: the schedule of bounds and the test a candidate must pass.
 *
 *   bound_m = gamma_m + mu_m,  mu_m = (1 - gamma_m) / (m + 1)
 *   harmonic: gamma_m = 1 - c / (m + 1); the product of the bounds falls like m^-c, so norm convergence follows
 *   relaxed:  gamma <- gamma + tau (1 - gamma)
 */
#ifndef BROAD_LAYER_SUPERVISE_H
#define BROAD_LAYER_SUPERVISE_H

#include "broad/broad.h"
#include "layer/ridge.h"

typedef struct broad__bound {
    double gamma, mu, sum;
} broad__bound;

/* Of layer m (from 1), relaxed this many times. Without supervision the bound is 1. */
broad__bound broad__schedule(const broad_options *options, size_t m, size_t relaxed);

/* What the ridge solution must bring along for the test. */
broad__ridge_request broad__supervise_request(const broad_options *options);

/* What is compared with the bound, before the direct residual is known. */
double broad__supervise_value(const broad_options *options, const broad__ridge *ridge, const broad__residual *residual);

/* BROAD_USAGE with the reason where the test can never hold: `operator` with more rows than columns of K. */
int broad__supervise_possible(const broad_options *options, size_t rows, size_t width);

#endif
