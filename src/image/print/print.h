/*
 * What a picture is recognised by: as a copy, or as the same picture saved again, resized, brightened, marked or cropped
 * to not less than about 80 percent of each side.
 */
#ifndef BROAD_IMAGE_PRINT_PRINT_H
#define BROAD_IMAGE_PRINT_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "image/image.h"

enum {
    BROAD__PRINT_SIDE = 40,
    BROAD__PRINT_STEP = 2, /* 5 percent of the side: how windows are spaced */
    BROAD__PRINT_WINDOWS = 55,
};

typedef struct broad__print {
    char content[BROAD__HASH_TEXT]; /* of the file */
    unsigned char flat;             /* nothing to be recognised by: only the same bytes make a copy */
    float aspect;                   /* width over height */
    uint64_t hash;
    unsigned char grey[BROAD__PRINT_SIDE * BROAD__PRINT_SIDE];
} broad__print;

/* Of the upright picture, at whatever size it was decoded, and of the bytes of its file. */
int broad__print_make(broad__print *out, const broad__image *image, const void *bytes, size_t count);

/* Where window w < BROAD__PRINT_WINDOWS lies in `grey`: a square. Window 0 is all of it. */
typedef struct broad__print_window {
    unsigned char x, y, side;
} broad__print_window;

/* Cosines for every window size. */
typedef struct broad__print_basis broad__print_basis;
broad__print_basis *broad__print_basis_make(void); /* NULL: out of memory. Freed with broad__free(). */

/* The hash of every window; that of window 0 is the picture's. `windows` may be NULL. */
void broad__print_hashes(uint64_t out[BROAD__PRINT_WINDOWS], broad__print_window windows[BROAD__PRINT_WINDOWS],
                         const broad__print *print, const broad__print_basis *basis);

#endif
