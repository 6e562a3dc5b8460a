/*
 * Plain faults of a picture, whatever is on it. With the luma of its pixels from 0 to 255:
 *
 *   too dark     19 of 20 pixels are below 48
 *   too bright   19 of 20 pixels are above 208
 *   blurred      blur above 0.55, by Crete et al., "The blur effect: perception and estimation with a new no-reference
 *                perceptual blur metric" (SPIE 6492, 2007): with D the differences of neighbours in a row or a column and
 *                B those after a mean over 9 pixels, blur = 1 - sum max(0, D - B) / sum D, the larger of both directions.
 *                A sharp picture loses its differences by the mean, a blurred one has none to lose.
 *   too small    the shorter side has fewer than 48 pixels
 *
 * docs/photos.md says how real photos lie between these limits.
 */
#ifndef BROAD_IMAGE_QUALITY_H
#define BROAD_IMAGE_QUALITY_H

#include "image/image.h"

/* *out: of broad_photo_fault. `shorter`: the shorter side in pixels of the photo, which the picture may be reduced from. */
int broad__image_faults(unsigned *out, const broad__image *image, double shorter);

#endif
