/* A symmetric system (A + lambda I) X = B: Cholesky, and where that breaks down the eigendecomposition. */
#ifndef BROAD_LAYER_SPD_H
#define BROAD_LAYER_SPD_H

#include "compute/device.h"

typedef struct broad__spd {
    const broad__device *device; /* not owned */
    size_t n;
    double lambda;
    int spectral;   /* factor holds eigenvectors as rows and values their eigenvalues, else factor is R */
    double *factor; /* n x n */
    double *values; /* n, rising, none below zero */
    double *work;   /* n x columns of the last solve */
    size_t factor_capacity, values_capacity, work_capacity;
} broad__spd;

void broad__spd_clear(broad__spd *spd); /* accepts a zeroed one */

/* BROAD_BAD_DATA where a number of the upper triangle is not finite. */
int broad__spd_check(const double *matrix, size_t n);
/* matrix: n x n, upper triangle, positive semidefinite, left as it is. spectral: go for the eigendecomposition at once.
 * An error if the matrix is not finite. */
int broad__spd_factor(broad__spd *spd, const broad__device *device, const double *matrix, size_t n, double lambda,
                      int spectral);

/* b (n x c) <- (A + lambda I)^-1 b. Directions whose eigenvalue is lost in rounding are left out. Finite for finite b.
 * */
int broad__spd_solve(double *b, size_t c, broad__spd *spd);

/* 1 / (value i + lambda) of a spectral system, 0 for a direction that is lost in rounding. */
double broad__spd_inverse(const broad__spd *spd, size_t i, double lambda);

#endif
