/* What the files of the windows map share; for windows*.c, their tests and the program that measures the constants. */
#ifndef BROAD_IMAGE_DESCRIPTOR_WINDOWS_WORK_H
#define BROAD_IMAGE_DESCRIPTOR_WINDOWS_WORK_H

#include "image/descriptor/windows.h"
#include "image/image.h"

enum {
    BROAD__WINDOW_SIDE = 32,
    BROAD__WINDOW_PLANES = 6,     /* of colour, with mean and standard deviation each */
    BROAD__WINDOW_LEVELS = 4,     /* of the pyramid */
    BROAD__WINDOW_THRESHOLDS = 2, /* of the texture patterns */
    BROAD__WINDOW_CLASSES = 30,   /* of the 256 patterns, which rotation and mirroring do not change */
    BROAD__WINDOW_INPUTS =
        2 * BROAD__WINDOW_PLANES + BROAD__WINDOW_LEVELS * BROAD__WINDOW_THRESHOLDS * BROAD__WINDOW_CLASSES,
    BROAD__WINDOW_LANES = 16, /* nodes that are computed together */
    BROAD__WINDOW_NODES = 2000,
    BROAD__WINDOW_TOGETHER = 8 /* windows that share a load of weights */
};

/* Of u over the windows of real and of rendered photos: windows_table.c. */
extern const float broad__window_mean[BROAD__WINDOW_INPUTS];
extern const float broad__window_sd[BROAD__WINDOW_INPUTS];

/* weight and bias are in turns, with every constant factor of the angle in the weights: panel p has the nodes from
 * p * BROAD__WINDOW_LANES on, input by input, each with one weight for every node. */
struct broad__window_weights {
    float weight[BROAD__WINDOW_NODES / BROAD__WINDOW_LANES][BROAD__WINDOW_INPUTS][BROAD__WINDOW_LANES];
    float bias[BROAD__WINDOW_NODES / BROAD__WINDOW_LANES][BROAD__WINDOW_LANES];
    unsigned char fold[256]; /* texture pattern -> class */
};

#endif
