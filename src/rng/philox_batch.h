/* BROAD__BATCH blocks of philox.h at once: even[i] and odd[i] are the two numbers of block + i. One file per vector
 * width. */
#ifndef BROAD_RNG_PHILOX_BATCH_H
#define BROAD_RNG_PHILOX_BATCH_H

#include "rng/philox.h"

enum { BROAD__BATCH = 32 };

void broad__random_batch_plain(double *even, double *odd, const broad__stream *stream, uint64_t block);
#if defined(__x86_64__)
void broad__random_batch_avx2(double *even, double *odd, const broad__stream *stream, uint64_t block);
void broad__random_batch_avx512(double *even, double *odd, const broad__stream *stream, uint64_t block);
#endif

#endif
