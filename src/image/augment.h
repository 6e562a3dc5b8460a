/* Augmented copies of a picture to train on, as in the paper's table 1. */
#ifndef BROAD_IMAGE_AUGMENT_H
#define BROAD_IMAGE_AUGMENT_H

#include <stdint.h>

#include "image/image.h"

/* The largest change of each kind; zeroed: no changes. */
typedef struct broad__augmentation {
    double rotation;          /* degrees, either way */
    double shift;             /* part of the side, either way */
    double shear;             /* radians, either way */
    double zoom;              /* factors 1 - zoom to 1 + zoom, each side by itself; below 1 */
    int flip;                 /* left to right and upside down, each in half of the copies */
    double darkest, lightest; /* factor of the brightness; both 0, like both 1: none */
} broad__augmentation;

/* Rotation 40, shift 0.2, shear 0.2, zoom 0.2, flips, brightness 0.75 to 1.25. */
void broad__augmentation_paper(broad__augmentation *out);

/* One change: the picture is flipped, zoomed, sheared and rotated about its centre, and then shifted. */
typedef struct broad__change {
    double rotation, shear;  /* radians, clockwise as seen; to the right below the centre */
    double zoom_x, zoom_y;   /* above 1: larger */
    double shift_x, shift_y; /* parts of the sides, to the right and down */
    int flip_x, flip_y;
    double brightness; /* factor */
} broad__change;

/* What happens to copy number `copy`, from 1, of the picture that `content` (a hash of its file) stands for: the same for
 * the same seed, whatever else is read. */
void broad__change_draw(broad__change *out, const broad__augmentation *how, uint64_t seed, const char *content,
                        size_t copy);

/* The size stays. What comes from outside the picture repeats its edge; between pixel centres it is linear. */
int broad__change_apply(broad__image *out, const broad__image *image, const broad__change *change);

/* Both in one. */
int broad__augment(broad__image *out, const broad__image *image, const broad__augmentation *how, uint64_t seed,
                   const char *content, size_t copy);

#endif
