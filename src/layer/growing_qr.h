/*
 * The joint ridge fit while it grows, block of columns by block of columns, without solving it from scratch: a QR
 * factorisation of
 *
 *   [ A          ]   [ Q ]
 *   [ sqrt(l) I  ] = [ B ] R,     Q'Q + B'B = I
 *
 * to which columns are appended. Each block is made orthogonal to the columns so far, twice over, which keeps Q
 * orthogonal to working precision. The residual of the joint fit is E = Y - Q Q'Y, the leverages are h_i = |q_i|^2, W =
 * R^-1 Q'Y. Once there are more columns than rows the fit goes over to the dual form, whose work does not grow with them.
 */
#ifndef BROAD_LAYER_GROWING_QR_H
#define BROAD_LAYER_GROWING_QR_H

#include "layer/growing_dual.h"
#include "layer/residual.h"

typedef struct broad__growing_qr {
    size_t rows, columns, outputs;
    size_t capacity; /* columns that fit into the arrays */
    double lambda;   /* fixed with the first block */
    double *q;       /* rows x capacity */
    double *bottom;  /* capacity x capacity: B, upper triangle */
    double *r;       /* capacity x capacity, upper triangle */
    double *turned;  /* capacity x outputs: Q'Y */
    double *h;       /* rows: leverages */
    double size;     /* squares of all columns */
    double loo;      /* norm of the leave-one-out residuals of what has been accepted; of Y to begin with */

    /* A block on trial, accepted or forgotten. */
    size_t trial;     /* its columns */
    double *trial_q;  /* rows x trial */
    double *trial_h;  /* rows */
    double *trial_b;  /* (columns + trial) x trial */
    double *trial_r;  /* (columns + trial) x trial: R12 over R22 */
    double *trial_t;  /* trial x outputs */
    double trial_loo; /* norm of the leave-one-out residuals with it */
    double trial_norm;
    double trial_size;

    /* The dual form. With A in it, it is all there is of the fit; without, it is there for the trials alone. */
    broad__growing_dual dual;
} broad__growing_qr;

void broad__growing_qr_clear(broad__growing_qr *qr); /* accepts a zeroed one */
int broad__growing_qr_open(broad__growing_qr *out, size_t rows, size_t outputs, const double *y);

/* Tries the candidate's K, which is stored. Puts the residual of the joint fit with it into residual->next. y: the
 * targets, times the rows' roots. lambda counts for the first block only. */
int broad__growing_qr_try(broad__growing_qr *qr, broad__residual *residual, const double *y, double lambda);
int broad__growing_qr_accept(broad__growing_qr *qr); /* if that fails, the qr may have been cleared */

/* Whether lambda is so small a part of the mean square of a column that columns which depend on each other have no single
 * solution but by rounding. size: squares of all columns. */
int broad__growing_qr_negligible(double lambda, double size, size_t columns);
/* What rounding does to a residual: a last digit of each product of a weight with a column of mean square. squares: of the sums of
 * the weights' sizes, over the outputs. */
double broad__growing_qr_rounding(double squares, double size, size_t columns);
/* Largest part of the square of one of E's columns that the candidate alone leaves, by orthogonal columns; infinite where its
 * weights are so large that rounding decides. Uses residual->next. */
int broad__growing_qr_alone(double *out, broad__residual *residual, double lambda);

/* Scores of every row as if it, and all rows of its group, had been left out; without its root: rows x outputs.
 * residual: E is that of the qr. */
int broad__growing_qr_leave_out(double *out, const broad__growing_qr *qr, const broad__residual *residual,
                                const double *y);

/* W of all columns: columns x outputs. */
int broad__growing_qr_weights(double *out, const broad__growing_qr *qr, const double *y);

#endif
