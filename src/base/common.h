/* Small things that every folder needs. */
#ifndef BROAD_BASE_COMMON_H
#define BROAD_BASE_COMMON_H

#include <stddef.h>

static inline size_t broad__min(size_t a, size_t b) { return a < b ? a : b; }

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
