/*
 * Random nodes over windows. The picture, brought to BROAD__WINDOWS_SIDE where it is larger, is cut into windows of 32 x 32
 * pixels. Each has local descriptors u (moments of colour, texture patterns at four scales), and with z = (u - mean) / sd by
 * constants,
 *
 *   node k = mean over the windows of cos(w_k . z + b_k)
 *
 * The weights come from the counter: the same for every picture and every model. docs/photos-maps.md has the formulas.
 */
#ifndef BROAD_IMAGE_DESCRIPTOR_WINDOWS_H
#define BROAD_IMAGE_DESCRIPTOR_WINDOWS_H

#include "image/image.h"

enum { BROAD__WINDOWS_SIDE = 256 }; /* the longer side that a larger picture is brought to */

/* Read-only once made: any number of threads may share them. */
typedef struct broad__window_weights broad__window_weights;
broad__window_weights *broad__window_weights_make(void); /* NULL: out of memory. Freed with broad__free(). */

size_t broad__window_nodes(void);
int broad__windows(float *out, const broad__window_weights *weights, const broad__image *image);

/* What leaving out each cell of a grid in turn gives. */
typedef struct broad__occlusion {
    float *out;           /* for each cell, row by row from the top, a row of inputs */
    size_t stride;        /* from one such row to the next */
    float *whole;         /* the inputs of the whole picture; NULL: not wanted */
    size_t width, height; /* of the grid */
} broad__occlusion;

/* The same with every cell of a grid left out in turn. A window is left out if its centre lies in the cell; a cell without
 * windows changes nothing, and neither does one that holds all of them. */
int broad__windows_occlude(const broad__occlusion *how, const broad__window_weights *weights,
                           const broad__image *image);

#endif
