/* A picture in memory, and what can be done to it without knowing where it comes from. */
#ifndef BROAD_IMAGE_IMAGE_H
#define BROAD_IMAGE_IMAGE_H

#include <stddef.h>

/* Rows from the top, without gaps; three bytes per pixel: red, green, blue (sRGB). Zeroed: empty. */
typedef struct broad__image {
    size_t width;
    size_t height;
    unsigned char *pixels;
} broad__image;

int broad__image_init(broad__image *out, size_t width, size_t height); /* black; both sides at least 1 */
void broad__image_free(broad__image *image);                           /* leaves it empty; accepts an empty one */

/* Another size. Each side separately: means over areas if it shrinks, linear between pixel centres if it grows. */
int broad__image_resize(broad__image *out, const broad__image *image, size_t width, size_t height);

/* The size that keeps the proportions and has a longer side of `side`; never larger than the picture. 0: as it is. */
void broad__image_fit(size_t *out_width, size_t *out_height, size_t width, size_t height, size_t side);

/* The part of width x height whose upper left pixel is (x, y). It must lie inside the picture. */
int broad__image_crop(broad__image *out, const broad__image *image, size_t x, size_t y, size_t width, size_t height);

/* Turns and mirrors a picture that was stored with this EXIF orientation, so that it stands upright. 1 to 8; any other
 * value, like 1, leaves it unchanged. On failure the picture is as it was. */
int broad__image_orient(broad__image *image, int orientation);

/* One byte per pixel, the luma of JPEG (ITU-R BT.601), as a block for broad__free(). */
int broad__image_grey(unsigned char **out, const broad__image *image);

#endif
