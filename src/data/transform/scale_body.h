/* Scaling of numbers; compiled for several kinds of vector instructions, with the same bits. */
#ifndef BROAD_DATA_TRANSFORM_SCALE_BODY_H
#define BROAD_DATA_TRANSFORM_SCALE_BODY_H

#include <stdint.h>
#include <string.h>

#include "data/transform/scale.h"

/* Finite for every value, so that what is computed from it is. */
static inline double broad__scaled(double value, double shift, double factor)
{
    double at = (value - shift) * factor;
    at = at < BROAD__SCALED_MOST ? at : BROAD__SCALED_MOST; /* and where infinity met a factor of 0 */
    return at > -BROAD__SCALED_MOST ? at : -BROAD__SCALED_MOST;
}

/* 1 where none of the numbers is missing; else 0, and what was written is of no use. As whole numbers, of which the order is
 * the same, so that the loop vectorises. */
static inline int broad__scale_numbers(double *to, const double *from, const double *shift, const double *factor,
                                       size_t count)
{
    const uint64_t sign = (uint64_t)1 << 63, infinity = (uint64_t)0x7ff << 52;
    uint64_t missing = 0;
    for (size_t j = 0; j < count; j++) {
        uint64_t bits;
        memcpy(&bits, &from[j], sizeof bits);
        missing |= infinity - (bits & ~sign);
        to[j] = broad__scaled(from[j], shift[j], factor[j]);
    }
    return !(missing & sign);
}

#endif
