/*
 * Random nodes over windows. The picture, brought to BROAD__PHOTO_SIDE, is seen through square windows that overlap by half;
 * each window has local descriptors u (texture patterns, gradients, colour moments), standardised with constants, and
 *
 *   node k = mean over the windows of cos(w_k . u + b_k)
 *
 * with weights that the counter draws: the same for every picture and every model.
 */
#ifndef BROAD_IMAGE_WINDOWS_H
#define BROAD_IMAGE_WINDOWS_H

#include "image/image.h"

size_t broad__window_nodes(void);
int broad__windows(float *out, const broad__image *image);

/* The same with every cell of a grid left out in turn: cells x nodes. A window is left out where its centre lies in the cell;
 * a cell without windows changes nothing. `whole` may be NULL. */
int broad__windows_occlude(float *out, float *whole, const broad__image *image, size_t grid_width, size_t grid_height);

#endif
