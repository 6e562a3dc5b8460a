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

/* How a side of a picture is cut: window i covers the pixels from at[i] to before at[i + 1]. */
typedef struct broad__window_cuts {
    size_t count;
    size_t at[BROAD__WINDOW_SIDE + 1];
} broad__window_cuts;

/* Sides of at most BROAD__WINDOW_SIDE^2 pixels. */
void broad__window_cut(broad__window_cuts *out, size_t side);

void broad__window_fold(unsigned char out[256]);

/* u of every window, row by row from the top: windows x BROAD__WINDOW_INPUTS. */
int broad__window_describe(float *out, const broad__image *image, const broad__window_cuts *across,
                           const broad__window_cuts *down, const unsigned char fold[256]);

/* out[i][j] = cos(2 pi (bias_j + sum over the inputs of z[i][input] * weight[input][j])), summed in this order.
 * z: count x BROAD__WINDOW_INPUTS; count is a multiple of BROAD__WINDOW_TOGETHER. */
typedef void broad__window_kernel(float (*out)[BROAD__WINDOW_LANES], const float *z, size_t count,
                                  const float (*weight)[BROAD__WINDOW_LANES], const float *bias);

/* Those that this processor can run, fastest first, and their number. All give the same bits. */
enum { BROAD__WINDOW_KERNELS = 2 };
size_t broad__window_kernels(broad__window_kernel *out[BROAD__WINDOW_KERNELS]);

#endif
