#if defined(__x86_64__)
#define LANES_AVX2

#include "rng/philox_simd.h"

LANES_CODE void broad__random_batch_avx2(double *even, double *odd, const broad__stream *stream, uint64_t block)
{
    random_batch(even, odd, stream, block);
}
#else
typedef int broad__random_batch_avx2_is_for_x86; /* a file must not be empty */
#endif
