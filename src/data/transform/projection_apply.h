/*
 * The principal components of photo inputs, once fitted (projection.h fits them):
 *
 *   component c = sum_j x_j axes_jc - shift_c
 *
 * and how far a photo lies from those that they were fitted to. With z the standardised inputs, what the components leave
 * unexplained of it is
 *
 *   v = sum_j z_j^2 - sum_c explained_c component_c^2,   z_j = (x_j - centre_j) factor_j
 *
 * and the distance is sqrt(v / limit): above 1 the photo is not like them (likeness.h has the limit).
 *
 * Separate from the fit, so that a program that only predicts needs no eigendecomposition.
 */
#ifndef BROAD_DATA_TRANSFORM_PROJECTION_APPLY_H
#define BROAD_DATA_TRANSFORM_PROJECTION_APPLY_H

#include "image/photo.h"

/* Zeroed: none. A photo spec says how many inputs and components there are. */
typedef struct broad__projection {
    double *axes;            /* inputs x components */
    double *shift;           /* components */
    double limit;            /* 0: how far a photo lies from the others is not known, and the rest is NULL */
    double *centre, *factor; /* inputs */
    double *explained;       /* components */
} broad__projection;

int broad__projection_alloc(broad__projection *out, const broad__photo_spec *spec, double limit); /* zeros */
void broad__projection_clear(broad__projection *projection);
int broad__projection_copy(broad__projection *out, const broad__projection *from, const broad__photo_spec *spec);

/* out: rows x components. A row's result does not depend on the others. */
void broad__projection_apply(double *out, const broad__projection *projection, const broad__photo_spec *spec,
                             const double *x, size_t rows);
/* Of one photo, from its inputs and its components; NaN: not known. */
double broad__projection_distance(const broad__projection *projection, const broad__photo_spec *spec, const double *x,
                                  const double *components);

#endif
