/* The local descriptors of windows. */
#ifndef BROAD_IMAGE_DESCRIPTOR_WINDOWS_LOCAL_H
#define BROAD_IMAGE_DESCRIPTOR_WINDOWS_LOCAL_H

#include "image/descriptor/windows_work.h"

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

#endif
