/*
 * Random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC11). The number at a place does not depend on what was drawn before, so draws can be made in any order and by any
 * thread. The map from (seed, purpose, layer, step, draw, element) to a number is part of the model format
 * (docs/model-format.md); changing it needs a new BROAD__SEED_MAP.
 *
 *   key      = seed, low and high 32 bits
 *   counter  = { element / 2 (low 32 bits), layer, step << 16 | draw, purpose << 24 | element / 2 (high 24 bits) }
 *   the block's four words give two numbers: words 0, 1 for an even element, words 2, 3 for an odd one
 *   u        = ((word_high << 32 | word_low) >> 11) * 2^-53        in [0, 1), the lower-numbered word is the low one
 */
#ifndef BROAD_RNG_PHILOX_H
#define BROAD_RNG_PHILOX_H

#include <stddef.h>
#include <stdint.h>

enum { BROAD__SEED_MAP = 1 };

typedef enum broad__purpose {
    BROAD__FOR_FEATURES = 1,
    BROAD__FOR_ENHANCEMENT = 2,
    BROAD__FOR_SPLIT = 3,
    BROAD__FOR_DEMO = 4,
    BROAD__FOR_TUNE = 5,
    BROAD__FOR_PILOT = 6,
    BROAD__FOR_WINDOWS = 7,
    BROAD__FOR_AUGMENT = 8,
    BROAD__FOR_PROBES = 9
} broad__purpose;

typedef struct broad__stream {
    uint64_t seed;
    broad__purpose purpose;
    uint32_t layer;
    uint16_t step; /* index of the range tried */
    uint16_t draw;
} broad__stream;

void broad__philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

double broad__random_at(const broad__stream *stream, uint64_t element); /* uniform in [0, 1) */
/* out[i] = the number of element first + i */
void broad__random_fill(double *out, const broad__stream *stream, uint64_t first, size_t count);

#endif
