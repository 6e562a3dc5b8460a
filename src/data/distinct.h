/* The different values among many: each row gets the number of its value. */
#ifndef BROAD_DATA_DISTINCT_H
#define BROAD_DATA_DISTINCT_H

#include "data/text.h"

typedef struct broad__distinct {
    size_t *ids; /* rows */
    size_t count;
    broad__text *texts; /* count */
    char **names;       /* what texts point to where they are made here; else NULL */
} broad__distinct;

/* Numbered in the order of first appearance; texts point to the given ones. Stops early with count > maximum. */
int broad__distinct_texts(broad__distinct *out, const broad__text *texts, size_t rows, size_t maximum);

/* Numbered in ascending order; texts are the shortest forms. Stops early with count > maximum. */
int broad__distinct_values(broad__distinct *out, const double *values, size_t rows, size_t maximum);

void broad__distinct_clear(broad__distinct *distinct);

#endif
