/* Scaling of numbers none of which is missing; compiled for several kinds of vector instructions, with the same bits. */
#ifndef BROAD_DATA_TRANSFORM_SCALE_BODY_H
#define BROAD_DATA_TRANSFORM_SCALE_BODY_H

#include "data/transform/scale.h"

/* Finite for every value, so that what is computed from it is. */
static inline double broad__scaled(double value, double shift, double factor)
{
    double at = (value - shift) * factor;
    at = at < BROAD__SCALED_MOST ? at : BROAD__SCALED_MOST; /* and where infinity met a factor of 0 */
    return at > -BROAD__SCALED_MOST ? at : -BROAD__SCALED_MOST;
}

static inline void broad__scale_numbers(double *to, const double *from, const double *shift, const double *factor,
                                        size_t count)
{
    for (size_t j = 0; j < count; j++) to[j] = broad__scaled(from[j], shift[j], factor[j]);
}

#endif
