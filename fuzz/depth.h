/*
 * Which inputs get the checks that take long: all of them under the address sanitizer; one in eight in the faster build
 * without it, which searches, and whose finds are run under the sanitizer afterwards (scripts/run_fuzz).
 */
#ifndef BROAD_FUZZ_DEPTH_H
#define BROAD_FUZZ_DEPTH_H

#include <stddef.h>
#include <stdint.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

enum { FUZZ_DEEP_EVERY = __has_feature(address_sanitizer) ? 1 : 8 };

/* The same for the same bytes: what libFuzzer keeps must do the same again. */
static inline int fuzz_deep(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * 16777619u;
    return (sum >> 8) % FUZZ_DEEP_EVERY == 0;
}

#endif
