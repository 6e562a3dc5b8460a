/* Cholesky factors R (n x n, upper triangle): made, solved with, inverted. By halves, down to what the kernels take at once;
 * where a triangle is halved depends on its width alone. They end early once the watch is stopped (base/watch.h). */
#ifndef BROAD_COMPUTE_CPU_TRIANGULAR_H
#define BROAD_COMPUTE_CPU_TRIANGULAR_H

#include <stddef.h>

/* As in broad__device. */
size_t broad__triangular_factor(double *a, size_t stride, size_t n);
void broad__triangular_invert(double *r, size_t stride, size_t n);

/* x (n x columns) <- R'^-1 x and R^-1 x */
void broad__triangular_solve_turned(double *x, size_t x_stride, size_t columns, const double *r, size_t stride,
                                    size_t n);
void broad__triangular_solve(double *x, size_t x_stride, size_t columns, const double *r, size_t stride, size_t n);
/* x (rows x n) <- x R^-1 */
void broad__triangular_whiten(double *x, size_t x_stride, size_t rows, const double *r, size_t stride, size_t n);

#endif
