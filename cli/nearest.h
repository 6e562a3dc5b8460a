/* Suggestions for misspelt words. */
#ifndef BROAD_CLI_NEAREST_H
#define BROAD_CLI_NEAREST_H

#include <stddef.h>

enum { CLI_WORD_MAX = 40 }; /* longer words are near to nothing */

/* The candidate nearest to a misspelt word, NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *candidates, size_t count);

#endif
