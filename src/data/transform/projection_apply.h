/*
 * The principal components of photo inputs, once fitted (projection.h fits them):
 *
 *   component c = sum_j x_j axes_jc - shift_c
 *
 * Separate from the fit, so that a program that only predicts needs no eigendecomposition.
 */
#ifndef BROAD_DATA_TRANSFORM_PROJECTION_APPLY_H
#define BROAD_DATA_TRANSFORM_PROJECTION_APPLY_H

#include "image/photo.h"

/* Zeroed: none. A photo spec says how many inputs and components there are. */
typedef struct broad__projection {
    double *axes;  /* inputs x components */
    double *shift; /* components */
} broad__projection;

int broad__projection_alloc(broad__projection *out, const broad__photo_spec *spec); /* zeros */
void broad__projection_clear(broad__projection *projection);
int broad__projection_copy(broad__projection *out, const broad__projection *from, const broad__photo_spec *spec);

/* out: rows x components. A row's result does not depend on the others. */
void broad__projection_apply(double *out, const broad__projection *projection, const broad__photo_spec *spec,
                             const double *x, size_t rows);

#endif
