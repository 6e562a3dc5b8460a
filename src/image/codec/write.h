/* A picture as the bytes of a file. */
#ifndef BROAD_IMAGE_CODEC_WRITE_H
#define BROAD_IMAGE_CODEC_WRITE_H

#include <stddef.h>

#include "image/image.h"

/* A block for broad__free(). Equal pictures give equal bytes: no dates, no names. */
int broad__write_png(void **out, size_t *out_bytes, const broad__image *image);
int broad__write_jpeg(void **out, size_t *out_bytes, const broad__image *image, int quality); /* 1 to 100 */
/* The same picture in about a third of the time, and in some more bytes. */
int broad__write_jpeg_quickly(void **out, size_t *out_bytes, const broad__image *image, int quality);

#endif
