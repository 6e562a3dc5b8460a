/* The feature map: inputs, scaled as the training rows asked for, through all feature nodes. Z = phi(scaled(X) W + b). */
#ifndef BROAD_FEATURE_FEATURE_H
#define BROAD_FEATURE_FEATURE_H

#include "compute/device.h"
#include "compute/pool.h"
#include "data/transform/scale.h"

typedef struct broad__feature_map {
    broad__nodes nodes; /* all groups side by side; weight NULL: Z is the scaled inputs themselves */
    broad__scaling scaling;
} broad__feature_map;

/* z (rows x nodes) for at most BROAD__BLOCK_ROWS rows of x; scratch: rows x columns of the scaling. */
void broad__feature_block(double *z, size_t z_stride, const broad__feature_map *map, const broad__device *device,
                          const double *x, size_t x_stride, size_t rows, double *scratch);

/* The same for any number of rows, shared out over the pool. */
int broad__feature_rows(double *z, size_t z_stride, const broad__feature_map *map, const broad__device *device,
                        broad__pool *pool, const double *x, size_t rows);

#endif
