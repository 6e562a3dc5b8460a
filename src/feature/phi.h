/* phi: from inputs, scaled as the training rows asked for, to feature nodes. Z = phi(scaled(X) W + b). */
#ifndef BROAD_FEATURE_PHI_H
#define BROAD_FEATURE_PHI_H

#include "compute/device.h"
#include "compute/pool.h"
#include "data/transform/scale.h"

typedef struct broad__phi {
    const broad__device *device;
    broad__nodes nodes; /* groups side by side; weight NULL: Z is the scaled inputs themselves */
    broad__scaling scaling;
} broad__phi;

/* Numbers of scratch for Z of up to `rows` rows with this many scaled columns. whole: for scaling by ranks, single precision
 * or no weights. */
size_t broad__phi_scratch(size_t columns, size_t rows, int whole);
/* Z of at most BROAD__BLOCK_ROWS rows of x, with scratch for as many. */
void broad__phi_block(double *z, size_t z_stride, const broad__phi *phi, const double *x, size_t rows, double *scratch);

/* The same for any number of rows, shared out over the pool. */
int broad__phi_rows(double *z, size_t z_stride, const broad__phi *phi, broad__pool *pool, const double *x, size_t rows);

#endif
