/* All eigenvalues and eigenvectors of a symmetric tridiagonal matrix, by dividing it. */
#ifndef BROAD_COMPUTE_CPU_DIVIDE_H
#define BROAD_COMPUTE_CPU_DIVIDE_H

#include <stddef.h>

size_t broad__divide_scratch(size_t n); /* numbers that broad__divide() works in */

/* T = V' diag(values) V: row i of z (n x n) becomes eigenvector i. `diagonal` becomes the values, which do not rise: order[i]
 * is where the i-th smallest one is. `beside` (n - 1 numbers beside the diagonal) is used up. Numbers must be about 1 at
 * most. 0, or a status. */
int broad__divide(double *z, double *diagonal, double *beside, size_t *order, size_t n, double *scratch);

#endif
