#if defined(__x86_64__)
#define LANES_AVX2

#include "compute/activation_simd.h"
#include "compute/activation_variants.h"

LANES_CODE void broad__activate_avx2(broad_activation activation, double *values, size_t count)
{
    run_any(activation, values, count);
}

LANES_CODE void broad__activate_avx2_single(broad_activation activation, float *values, size_t count)
{
    run_any_single(activation, values, count);
}
#else
typedef int broad__activate_avx2_is_for_x86; /* a file must not be empty */
#endif
