/*
 * Fits the principal components of photo inputs: thousands of inputs that vary together become about a hundred that do not,
 * which is all that a network of dense nodes can see in so few rows.
 *
 * Columns are standardised, and those of a map are divided by the square root of their number, so that all maps have the same
 * weight. The components have a mean variance of 1 and keep their proportions.
 */
#ifndef BROAD_DATA_TRANSFORM_PROJECTION_H
#define BROAD_DATA_TRANSFORM_PROJECTION_H

#include "data/transform/projection_apply.h"

/* How many components this number of rows warrants. */
size_t broad__projection_components(size_t rows);

/* Fits spec->components of them, or as many as there are; the spec then says how many. x: rows x inputs, of which an evenly
 * spaced sample is used. groups, of each row: those of one group look alike; NULL: every row is a group of its own. threads: 0: one
 * per processor; nothing but the time depends on them. */
int broad__projection_fit(broad__projection *out, broad__photo_spec *spec, const double *x, const size_t *groups,
                          size_t rows, size_t threads);
/* The same axes without what distances are made of, which takes most of the time. */
int broad__projection_fit_axes(broad__projection *out, broad__photo_spec *spec, const double *x, size_t rows,
                               size_t threads);

#endif
