/* Regions that look like solar panels, without a trained detector: dark or blue, smooth between straight lines that cross. */
#ifndef BROAD_IMAGE_FINDER_FINDER_H
#define BROAD_IMAGE_FINDER_FINDER_H

#include "image/image.h"

typedef struct broad__region {
    double left, top, right, bottom; /* parts of the sides, 0 to 1 */
    double corners[8]; /* x, y of its four corners from the upper left one clockwise, in parts of the sides */
    double score;      /* 0 to 1: how sure */
} broad__region;

/* The best regions first, `most` at most; *out_count 0: nothing looks like a panel. */
int broad__find_panels(broad__region *out, size_t *out_count, size_t most, const broad__image *image);

/* The region seen from the front, as a rectangle of its mean side lengths. */
int broad__region_rectify(broad__image *out, const broad__region *region, const broad__image *image);

#endif
