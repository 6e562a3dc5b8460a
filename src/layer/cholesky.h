/* R'R = A for a large A, block by block, shared out over the pool; the same bits for any number of threads. */
#ifndef BROAD_LAYER_CHOLESKY_H
#define BROAD_LAYER_CHOLESKY_H

#include "compute/device.h"
#include "compute/pool.h"

/* a (n x n, upper triangle) becomes R. *out_pivot: 0, or the number of the first pivot that is not positive. */
int broad__cholesky(size_t *out_pivot, double *a, size_t n, const broad__device *device, broad__pool *pool);

/* b (rows x n) <- b R^-1, the rows shared out. */
void broad__whiten_rows(double *b, size_t rows, const double *r, size_t n, const broad__device *device,
                        broad__pool *pool);

#endif
