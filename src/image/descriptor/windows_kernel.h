/* The nodes of many windows, by the instructions that this processor has. */
#ifndef BROAD_IMAGE_DESCRIPTOR_WINDOWS_KERNEL_H
#define BROAD_IMAGE_DESCRIPTOR_WINDOWS_KERNEL_H

#include "image/descriptor/windows_work.h"

/* out[i][j] = cos(2 pi (bias_j + sum over the inputs of z[i][input] * weight[input][j])), summed in this order.
 * z: count x BROAD__WINDOW_INPUTS; count is a multiple of BROAD__WINDOW_TOGETHER. */
typedef void broad__window_kernel(float (*out)[BROAD__WINDOW_LANES], const float *z, size_t count,
                                  const float (*weight)[BROAD__WINDOW_LANES], const float *bias);

/* Those that this processor can run, fastest first, and their number. All give the same bits. */
enum { BROAD__WINDOW_KERNELS = 3 };
size_t broad__window_kernels(broad__window_kernel *out[BROAD__WINDOW_KERNELS]);

#endif
