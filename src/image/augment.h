/* Changed copies of a picture to train on, as in the paper's table 1. */
#ifndef BROAD_IMAGE_AUGMENT_H
#define BROAD_IMAGE_AUGMENT_H

#include <stdint.h>

#include "image/image.h"

/* Most that each change may be; zero: none of it. */
typedef struct broad__augmentation {
    double rotation;          /* degrees, either way */
    double shift;             /* part of the side, either way */
    double shear;             /* radians, either way */
    double zoom;              /* 1 - zoom to 1 + zoom, each side by itself */
    int flip;                 /* left to right and upside down, each in half of the copies */
    double darkest, lightest; /* factor of the brightness; both 1: none */
} broad__augmentation;

/* Rotation 40, shift 0.2, shear 0.2, zoom 0.2, flips, brightness 0.75 to 1.25. */
void broad__augmentation_paper(broad__augmentation *out);

/* Copy number `copy`, from 1, of the picture that `content` (a hash of its file) stands for: the same for the same seed,
 * whatever else is read. What comes from outside the picture repeats its edge. The size stays. */
int broad__augment(broad__image *out, const broad__image *image, const broad__augmentation *how, uint64_t seed,
                   const char *content, size_t copy);

#endif
