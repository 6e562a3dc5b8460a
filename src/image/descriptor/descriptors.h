/*
 * Colour and texture of a picture as about a thousand numbers, independent of any training data: histograms, each as the
 * square roots of its shares, so that rare values count. Pixels are whole numbers, and divisions round as IEEE 754 demands,
 * so that a picture has the same bits on every machine.
 *
 *   light_lbp, haze_lbp   local binary patterns of the brightness and of the least of the three colours (haze and dust
 *                         lift it): which of the 8 neighbours are not darker by more than 8 levels ("below"), brighter
 *                         by 2 at least ("above") or by 5 ("beyond"), told apart up to rotation and mirroring; at 4
 *                         sizes, each half the last
 *   red to chroma         colours at half the size; parts are of the sum of the three colours
 *   red_blue_by_light     red minus blue together with the brightness
 *   contrast              of a place against its surroundings of 3 sizes
 *
 * In pictures with many rows every second one is counted. All of these are counts, so a part of the picture is described by
 * the counts of its cells alone.
 */
#ifndef BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_H
#define BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

enum {
    BROAD__DESCRIPTOR_SIDE = 384, /* the longer side that a larger picture is brought to; smaller ones stay */
    BROAD__DESCRIPTOR_NAME_BYTES = 32
};

size_t broad__descriptor_count(void);
/* "saturation_12", "light_lbp0_above_29": the histogram and the bin in it. */
void broad__descriptor_name(char out[BROAD__DESCRIPTOR_NAME_BYTES], size_t index);

/* What the histogram counts, in words: "saturation", "texture of the brightness". */
const char *broad__descriptor_kind(size_t index);

/* Of an upright picture. A histogram without counts, such as patterns in a picture smaller than 3 x 3, is all zeros. */
int broad__descriptors(float *out, const broad__image *image);

/* What is counted in each cell of a grid over the picture. */
typedef struct broad__descriptor_grid {
    size_t width, height; /* in cells */
    uint32_t *counts;     /* descriptors_work.h */
    uint32_t *whole;      /* of all cells; lies behind the counts */
} broad__descriptor_grid;

int broad__descriptor_grid_make(broad__descriptor_grid *out, const broad__image *image, size_t width, size_t height);
void broad__descriptor_grid_free(broad__descriptor_grid *grid); /* accepts an empty one */

/* The cells left <= x < right, top <= y < bottom of a grid. */
typedef struct broad__grid_area {
    size_t left, top, right, bottom;
} broad__grid_area;

/* The descriptors of an area, or with `others` of all cells outside it. A histogram in which these cells have no counts is
 * that of the whole picture. */
void broad__descriptor_grid_read(float *out, const broad__descriptor_grid *grid, broad__grid_area area, int others);

#endif
