/* All eigenvalues and eigenvectors of a symmetric matrix. */
#ifndef BROAD_COMPUTE_CPU_EIGEN_H
#define BROAD_COMPUTE_CPU_EIGEN_H

#include <stddef.h>

/* As broad__device.eigen. */
int broad__eigen(double *a, double *values, size_t n);

#endif
