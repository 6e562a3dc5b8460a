/* Small things that every folder needs. */
#ifndef BROAD_BASE_COMMON_H
#define BROAD_BASE_COMMON_H

#include <stddef.h>
#include <stdint.h>

static inline size_t broad__min(size_t a, size_t b) { return a < b ? a : b; }

/* The whole part of a number that may be anything: 0 for what is below 0 or no number, at most `most`. */
static inline size_t broad__whole(double number, size_t most)
{
    if (!(number >= 1)) return 0;
    return number < 0x1p63 && (size_t)number < most ? (size_t)number : most;
}

static inline int broad__is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The index of the largest number, the first of equal ones; 0 without numbers. */
static inline size_t broad__largest(const double *numbers, size_t count)
{
    size_t largest = 0;
    for (size_t i = 1; i < count; i++)
        if (numbers[i] > numbers[largest]) largest = i;
    return largest;
}

#endif
