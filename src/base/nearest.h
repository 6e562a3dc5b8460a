/* Suggestions for misspelt words. */
#ifndef BROAD_BASE_NEAREST_H
#define BROAD_BASE_NEAREST_H

#include <stddef.h>

enum { BROAD__NEAREST_BYTES = 41 }; /* longer words are near to nothing */

/* The candidate nearest to a misspelt word, NULL if none is near. One that differs only in capitals is the nearest. */
const char *broad__nearest(const char *word, const char *const *candidates, size_t count);

#endif
