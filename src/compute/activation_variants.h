/* The vector widths of activation.c, each in a file of its own. Sine: arguments that the reduction can take. */
#ifndef BROAD_COMPUTE_ACTIVATION_VARIANTS_H
#define BROAD_COMPUTE_ACTIVATION_VARIANTS_H

#include "broad/broad.h"

void broad__activate_plain(broad_activation activation, double *values, size_t count);
void broad__activate_plain_single(broad_activation activation, float *values, size_t count);
#if defined(__x86_64__)
void broad__activate_avx2(broad_activation activation, double *values, size_t count);
void broad__activate_avx2_single(broad_activation activation, float *values, size_t count);
void broad__activate_avx512(broad_activation activation, double *values, size_t count);
void broad__activate_avx512_single(broad_activation activation, float *values, size_t count);
#endif

#endif
