/* Products with a matrix that has a row for each row of the data, shared out over the pool; the same bits for any number
 * of threads. */
#ifndef BROAD_LAYER_ROW_PRODUCT_H
#define BROAD_LAYER_ROW_PRODUCT_H

#include "compute/device.h"
#include "compute/pool.h"

typedef struct broad__row_product {
    const broad__device *device;
    broad__pool *pool;
    double *out; /* p x c */
    const double *left;
    size_t stride, p; /* of left: rows x p */
    double *right;    /* rows x c */
    size_t c, rows;
} broad__row_product;

/* out += left'right */
void broad__row_product_cross(const broad__row_product *product);
/* right -= left out */
void broad__row_product_subtract(const broad__row_product *product);

#endif
