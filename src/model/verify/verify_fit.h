/*
 * The joint fit of some layers, as it grows, by plain Gram-Schmidt on the columns of
 *
 *   [ A         ]   [ Q ]
 *   [ sqrt(l) I ] = [ B ] R,     Q'Q + B'B = I
 *
 * every column twice where necessary. E = Y - Q Q'Y is the residual of the joint fit, h_i = |q_i|^2 are its leverages,
 * R W = Q'Y. With more columns than rows, and no W asked for, by a sweep over the rows (verify_sweep.h).
 */
#ifndef BROAD_MODEL_VERIFY_VERIFY_FIT_H
#define BROAD_MODEL_VERIFY_VERIFY_FIT_H

#include "model/verify/verification.h"
#include "model/verify/verify_sweep.h"

/* Columns lie one after the other, `length` numbers each: the rows, then B's, of which column l has l + 1. */
typedef struct broad__verify_fit {
    const broad__verification *v;
    size_t from, rows, length;
    size_t capacity, columns;
    double lambda;
    double *q;      /* capacity columns */
    double *left;   /* a column per output: the residual */
    double *r;      /* capacity x capacity, upper triangle */
    double *turned; /* capacity x outputs: Q'Y */
    double *part;   /* capacity: what one pass of Gram-Schmidt subtracts */
    double *h;      /* rows */
    double *k;      /* a row of K */
    double off;     /* how far rounding may have moved a row's residual */

    int swept; /* the sweep stands for q, r, turned and part */
    broad__sweep sweep;
    double *target; /* a column per output: Y */
} broad__verify_fit;

/* For at most `columns` columns. target: of the rows of `record`, rows x outputs. */
int broad__verify_fit_open(broad__verify_fit *out, const broad__verification *v, const broad__certificate *record,
                           size_t columns, const double *target, int weights);
void broad__verify_fit_close(broad__verify_fit *fit); /* accepts a zeroed one */

int broad__verify_fit_add(broad__verify_fit *fit, const broad__layer *layer);

double broad__verify_fit_square(const broad__verify_fit *fit, size_t output); /* of its residual */
double broad__verify_fit_norm(const broad__verify_fit *fit);                  /* of the residual */
/* sums: leave-one-out square of all rows, and how far rounding may have moved it. */
void broad__verify_fit_leave_out(double sums[2], const broad__verify_fit *fit);
/* out: rows x outputs */
void broad__verify_fit_residual(double *out, const broad__verify_fit *fit);
/* out: columns x outputs, by R W = Q'Y; only if they were asked for. */
void broad__verify_fit_weights(double *out, const broad__verify_fit *fit);

#endif
