/* Small things that every folder needs. */
#ifndef BROAD_BASE_COMMON_H
#define BROAD_BASE_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline size_t broad__min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t broad__max(size_t a, size_t b) { return a > b ? a : b; }

/* The whole part of a number that may be anything: 0 for what is below 0 or no number, at most `most`. */
static inline size_t broad__whole(double number, size_t most)
{
    if (!(number >= 1)) return 0;
    return number < 0x1p63 && (size_t)number < most ? (size_t)number : most;
}

static inline int broad__is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Numbers that a long loop over `numbers` takes at once, after it has asked for as many a page later: the processor itself
 * stops at the end of a page. */
enum { BROAD__STRETCH = 64 };

static inline void broad__ask_ahead(const double *numbers)
{
    enum { PAGE = 4096, LINE = 64 };
    for (size_t at = 0; at < BROAD__STRETCH * sizeof(double); at += LINE)
        __builtin_prefetch((const void *)((uintptr_t)numbers + PAGE + at), 0, 2);
}

/* Whether all numbers are from -most to most; NaN is not. As whole numbers, of which the order is the same, so that the loop
 * vectorises. */
static inline int broad__all_within(const double *numbers, size_t count, double most)
{
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t limit, outside = 0;
    memcpy(&limit, &most, sizeof limit);
    for (size_t i = 0, n; i < count; i += n) {
        n = broad__min(count - i, BROAD__STRETCH);
        if (n == BROAD__STRETCH) broad__ask_ahead(numbers + i);
        for (size_t k = i; k < i + n; k++) {
            uint64_t bits;
            memcpy(&bits, &numbers[k], sizeof bits);
            outside |= limit - (bits & ~sign);
        }
    }
    return !(outside & sign);
}

/* The index of the largest number, the first of equal ones; 0 without numbers. */
static inline size_t broad__largest(const double *numbers, size_t count)
{
    size_t largest = 0;
    for (size_t i = 1; i < count; i++)
        if (numbers[i] > numbers[largest]) largest = i;
    return largest;
}

#endif
