/* broad__random_batch_* for the vector width of the file that includes this: as many counters side by side as there are
 * lanes, each word in 64 bits, of which the upper ones may hold anything. */
#ifndef BROAD_RNG_PHILOX_SIMD_H
#define BROAD_RNG_PHILOX_SIMD_H

#include "base/simd.h"
#include "rng/philox_batch.h"

enum { WORDS = LANES_BYTES / sizeof(uint64_t), ABREAST = LANES_BYTES == 64 ? 4 : 2 }; /* as registers allow */
#define EACH for (int k = 0; k < ABREAST; k++)

/* ((high << 32 | low) >> 11) * 2^-53: both halves are exact behind the exponents of 2^84 and 2^52, and so is their sum.
 * */
LANES_INLINE doubles unit_interval(words low, words high)
{
    words bits = (high << 32 | (low & 0xffffffffu)) >> 11;
    doubles upper = (doubles)((bits >> 32) | 0x4530000000000000u);
    doubles lower = (doubles)((bits & 0xffffffffu) | 0x4330000000000000u);
    return ((upper - 0x1.00000001p84) + lower) * 0x1p-53;
}

LANES_INLINE void random_batch(double *even, double *odd, const broad__stream *stream, uint64_t block)
{
    words index = {0};
    for (size_t i = 0; i < WORDS; i++) index[i] = i;
    for (size_t at = 0; at < BROAD__BATCH; at += ABREAST * WORDS) {
        words c0[ABREAST], c1[ABREAST], c2[ABREAST], c3[ABREAST];
        EACH c0[k] = index + (block + at + (size_t)k * WORDS);
        EACH c1[k] = (words){0} + stream->layer;
        EACH c2[k] = (words){0} + ((uint32_t)stream->step << 16 | stream->draw);
        EACH c3[k] = ((c0[k] >> 32) & 0xffffffu) | (uint64_t)stream->purpose << 24;
        words k0 = (words){0} + stream->seed, k1 = (words){0} + (stream->seed >> 32);
        for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) EACH
            {
                words p0 = words_product(c0[k], 0xD2511F53u), p1 = words_product(c2[k], 0xCD9E8D57u);
                c0[k] = (p1 >> 32) ^ c1[k] ^ k0;
                c2[k] = (p0 >> 32) ^ c3[k] ^ k1;
                c1[k] = p1;
                c3[k] = p0;
            }
        EACH doubles_store(even + at + (size_t)k * WORDS, unit_interval(c0[k], c1[k]));
        EACH doubles_store(odd + at + (size_t)k * WORDS, unit_interval(c2[k], c3[k]));
    }
}

#endif
