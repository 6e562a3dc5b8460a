/* R'R = A for a large A, block by block, shared out over the pool; the same bits for any number of threads. */
#ifndef BROAD_LAYER_CHOLESKY_H
#define BROAD_LAYER_CHOLESKY_H

#include "compute/device.h"
#include "compute/pool.h"

/* Space for a factor of n columns: broad__cholesky_scratch() numbers. */
size_t broad__cholesky_scratch(size_t n, size_t threads);

/* The upper triangle of a (n x n) becomes R; what is below the diagonal is neither read nor changed. Its first `done`
 * rows and columns are R already, and only the columns from there on are A: a border. *out_pivot: 0, or the number of
 * the first pivot that is not positive. */
typedef struct broad__cholesky_task {
    double *a;
    size_t n, done;
    const broad__device *device;
    broad__pool *pool;
} broad__cholesky_task;

int broad__cholesky(size_t *out_pivot, const broad__cholesky_task *task);

/* b (rows x n) <- b R^-1, the rows shared out. */
void broad__whiten_rows(double *b, size_t rows, const double *r, size_t n, const broad__device *device,
                        broad__pool *pool);

#endif
