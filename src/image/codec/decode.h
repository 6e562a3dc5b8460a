/* Pictures from the bytes of a file: JPEG, PNG and, where the build has their libraries, HEIC, WebP and TIFF, recognised by
 * their content. */
#ifndef BROAD_IMAGE_CODEC_DECODE_H
#define BROAD_IMAGE_CODEC_DECODE_H

#include <stddef.h>

#include "image/codec/exif.h"
#include "image/image.h"

typedef struct broad__decode_options {
    size_t max_pixels; /* of the picture according to its header; more are refused before anything is allocated */
    size_t max_bytes;  /* of memory for decoding, the result included */
    size_t side;   /* the longer side of the result, with the proportions kept; a smaller picture stays as it is, and
                          0 leaves every picture as it is. Large JPEGs are then decoded at a reduced size. */
    int as_stored; /* 0: turned upright according to EXIF */
    int damaged;   /* 0: a picture whose data end early or are corrupt is an error; 1: what can be decoded is used, and
                          the rest is grey */
} broad__decode_options;

/* The format of a picture or video, such as "a GIF picture", from its first bytes; NULL: it is neither. Static text. */
const char *broad__picture_name(const void *bytes, size_t count);

/* Whether it is a picture of a format that this build reads, by its first bytes. */
int broad__decode_reads(const void *bytes, size_t count);
const char *broad__decode_formats(void); /* "JPEG, PNG, HEIC, WebP, TIFF" */

/* 2^28 pixels, 512 MiB, no target side, upright, nothing damaged. */
void broad__decode_options_init(broad__decode_options *out);

typedef struct broad__decode_facts {
    const char *format;   /* "JPEG", "PNG", "HEIC", "WebP" or "TIFF" */
    size_t width, height; /* as stored: before reducing and turning */
    int damaged;
    broad__exif exif;
} broad__decode_facts;

/*
 * The picture in RGB. Grey, palettes, CMYK (inverted where Adobe's marker says so) and 16 bits are converted; colour
 * profiles are not applied. Transparent areas are blended with white. Of several frames (MPO, APNG) the first is used.
 *
 * Messages say what is wrong but not with which file: callers put its name in front (broad__fail_in). BROAD_BAD_DATA: not a
 * format that is read (others are named), damaged, or beyond a limit; BROAD_NO_MEMORY.
 *
 * `facts` may be NULL. Any number of threads may decode at once.
 */
int broad__decode(broad__image *out, broad__decode_facts *facts, const void *bytes, size_t count,
                  const broad__decode_options *options);

#endif
