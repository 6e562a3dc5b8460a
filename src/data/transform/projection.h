/*
 * The principal components of what the maps make of photos: thousands of inputs that move together become a hundred that do
 * not, which is all that a network of dense nodes can see in so few rows.
 *
 *   component c = sum_j x_j axes_jc - shift_c
 *
 * Columns are standardised, and those of a map divided by the root of their number, so that the maps count alike; the components
 * have a mean variance of 1 and keep their proportions.
 */
#ifndef BROAD_DATA_TRANSFORM_PROJECTION_H
#define BROAD_DATA_TRANSFORM_PROJECTION_H

#include "image/photo.h"

/* Zeroed: none. The numbers of inputs and components are those of a spec. */
typedef struct broad__projection {
    double *axes;  /* inputs x components */
    double *shift; /* components */
} broad__projection;

int broad__projection_alloc(broad__projection *out, const broad__photo_spec *spec); /* zeros */
void broad__projection_clear(broad__projection *projection);
int broad__projection_copy(broad__projection *out, const broad__projection *from, const broad__photo_spec *spec);

/* Components that so many rows warrant. */
size_t broad__projection_components(size_t rows);

/* Fits spec->components of them, or as many as there are; the spec then says how many. x: rows x inputs, of which some at equal
 * distances are looked at. */
int broad__projection_fit(broad__projection *out, broad__photo_spec *spec, const double *x, size_t rows);

/* out: rows x components. A row's result does not depend on the others. */
void broad__projection_apply(double *out, const broad__projection *projection, const broad__photo_spec *spec,
                             const double *x, size_t rows);

#endif
