/*
 * The joint fit over more columns than rows, as it grows:
 *
 *   R'R = AA' + l I, R upper,     L = sqrt(l) R^-T, lower,     E = L'L Y,     1 - h_i = |column i of L|^2
 *
 * Columns K are appended by Householder reflections of [R L; K' 0], row by row of R, which turn it into [R L; 0 .] with
 * the new R and L. Neither AA' nor its inverse is formed.
 */
#ifndef BROAD_MODEL_VERIFY_VERIFY_SWEEP_H
#define BROAD_MODEL_VERIFY_VERIFY_SWEEP_H

#include "compute/pool.h"

typedef struct broad__sweep {
    broad__pool *pool; /* not owned */
    size_t rows;
    double *both;     /* rows x rows: R above the diagonal, L below it and on it */
    double *diagonal; /* rows: R's */
    double *row;      /* a row of K */
    size_t row_capacity;
} broad__sweep;

int broad__sweep_open(broad__sweep *out, broad__pool *pool, size_t rows, double lambda); /* of no columns */
void broad__sweep_close(broad__sweep *sweep);                                            /* accepts a zeroed one */

/* k: rows x width, used up. */
int broad__sweep_add(broad__sweep *sweep, double *k, size_t width);
/* out = L'L y, a column of `rows` numbers. */
void broad__sweep_residual(double *out, const broad__sweep *sweep, const double *y);
/* out: 1 - h_i of every row */
void broad__sweep_rests(double *out, const broad__sweep *sweep);

#endif
