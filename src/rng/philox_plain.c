#include "rng/philox_simd.h"

void broad__random_batch_plain(double *even, double *odd, const broad__stream *stream, uint64_t block)
{
    random_batch(even, odd, stream, block);
}
