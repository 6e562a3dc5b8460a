/* Scaling by AVX-512, for processors that have it; x86-64 only. */
#ifndef BROAD_DATA_TRANSFORM_SCALE_AVX512_H
#define BROAD_DATA_TRANSFORM_SCALE_AVX512_H

#include <stddef.h>

int broad__scale_numbers_avx512(double *to, const double *from, const double *shift, const double *factor,
                                size_t count);

#endif
