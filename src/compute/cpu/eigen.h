/* All eigenvalues and eigenvectors of a symmetric matrix, or half the way there. */
#ifndef BROAD_COMPUTE_CPU_EIGEN_H
#define BROAD_COMPUTE_CPU_EIGEN_H

#include <stddef.h>

/* As broad__device.eigen. */
int broad__eigen(double *a, double *values, size_t n);
/* As broad__device.tridiagonal. */
int broad__tridiagonal(double *diagonal, double *beside, double *a, size_t n, double *b, size_t c);

#endif
