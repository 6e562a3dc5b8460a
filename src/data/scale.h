/* Affine scaling of columns: scaled = (value - shift) * factor, statistics from the training rows. */
#ifndef BROAD_DATA_SCALE_H
#define BROAD_DATA_SCALE_H

#include "broad/broad.h"

/* shift and factor: columns. NaN values are left out of the statistics; a column that is constant or empty gets
 * factor 1; one whose spread overflows is divided by its largest magnitude. `none` gives 0 and 1. `fill` gets the
 * means, which replace missing values (NULL: not wanted). */
void broad__scale_fit(double *shift, double *factor, double *fill, broad_scale scale, const double *x, size_t rows,
                      size_t columns);

/* out = scaled rows of x; a NaN becomes fill (in the units of x) before scaling. out may be x. */
void broad__scale_apply(double *out, const double *x, size_t rows, size_t columns, size_t stride, const double *shift,
                        const double *factor, const double *fill);

#endif
