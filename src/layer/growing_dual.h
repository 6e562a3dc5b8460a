/*
 * The joint ridge fit while it grows, where there are fewer rows than columns: T (rows x rows) is a root of what the fit
 * leaves of its targets,
 *
 *   T T' = I - H = l (AA' + l I)^-1,     E = T T'Y,     1 - h_i = |t_i|^2,     W = A'E / l
 *
 * and I before there are any columns. A block K adds KK' to AA': with
 *
 *   [ T'K       ]   [ P ]
 *   [ sqrt(l) I ] = [ B ] D,     P'P + B'B = I
 *
 * what is left becomes T (I - PP') T', and I - P (I + B)^-T P' is a root of I - PP'. Neither AA' nor its inverse is
 * formed, so that only the root of its condition is lost, and a leverage near 1 keeps its digits.
 */
#ifndef BROAD_LAYER_GROWING_DUAL_H
#define BROAD_LAYER_GROWING_DUAL_H

#include "layer/residual.h"

typedef struct broad__growing_dual {
    const broad__device *device; /* not owned */
    size_t rows, outputs;
    double lambda;
    double *root;   /* rows x rows: T; NULL: not made */
    double *a;      /* columns x rows: A' */
    size_t columns; /* of A, as far as it is here */
    double *e;      /* rows x outputs */

    /* A block on trial, accepted or forgotten. */
    size_t trial;       /* its columns */
    double *trial_k;    /* rows x trial */
    double *trial_root; /* rows x rows */
    double *trial_e;    /* rows x outputs */
} broad__growing_dual;

/* Orthonormal columns over the rows, with what lies below them: H = QQ', Q'Q + B'B = I. */
typedef struct broad__growing_basis {
    const double *q, *b;    /* rows x columns, and columns x columns, upper triangle */
    size_t columns, stride; /* columns may be 0 */
} broad__growing_basis;

void broad__growing_dual_clear(broad__growing_dual *dual); /* accepts a zeroed one */
/* T for what the basis has; A is to be appended. */
int broad__growing_dual_open(broad__growing_dual *out, const broad__residual *residual, double lambda,
                             const broad__growing_basis *basis);
/* Further columns of A: rows x count. */
int broad__growing_dual_append(broad__growing_dual *dual, const double *k, size_t count);

/* Tries the candidate's K, which is stored. Puts the residual of the joint fit with it into residual->next. y: the
 * targets, times the rows' roots. */
int broad__growing_dual_try(broad__growing_dual *dual, broad__residual *residual, const double *y);
int broad__growing_dual_accept(broad__growing_dual *dual);
void broad__growing_dual_forget(broad__growing_dual *dual); /* the block on trial */

/* 1 - h_i, by a row of T or of the trial's. */
double broad__growing_dual_rest(const double *root, size_t rows, size_t i);
/* W of all columns: columns x outputs. */
int broad__growing_dual_weights(double *out, const broad__growing_dual *dual, const double *y);

#endif
