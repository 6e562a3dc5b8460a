/* The different values among many: each row gets the number of its value. */
#ifndef BROAD_DATA_DISTINCT_H
#define BROAD_DATA_DISTINCT_H

#include "base/spill.h"
#include "data/text.h"

/* Different texts, numbered in the order in which they come. The bytes they point to must outlive the set. */
typedef struct broad__text_set {
    broad__text *texts; /* count */
    size_t count, capacity;
    size_t *slots; /* open addressing: 1 + the number of a text, 0 is free; at most half full */
    size_t size;   /* a power of two */
} broad__text_set;

size_t broad__text_set_find(const broad__text_set *set, broad__text text); /* its number; count: it is not in the set */
/* Adds one that is not in the set, as number count; at most `max` in all. */
int broad__text_set_add(broad__text_set *set, broad__text text, size_t max);
/* The same with a copy of its bytes in `keep`; NULL: as they are. */
int broad__text_set_keep(broad__text_set *set, broad__text text, size_t max, broad__arena *keep);
void broad__text_set_empty(broad__text_set *set); /* keeps the memory */
void broad__text_set_clear(broad__text_set *set);

typedef struct broad__distinct {
    size_t *ids; /* rows; may lie in a spill */
    size_t count;
    broad__text *texts; /* count */
    char **names;       /* what texts point to where they are made here; else NULL */
} broad__distinct;

/* Numbered in the order of first appearance; texts point to the given ones. Stops early with count > maximum. */
int broad__distinct_texts(broad__distinct *out, const broad__text *texts, size_t rows, size_t maximum);

/* Numbered in ascending order; texts are the shortest forms. Stops early with count > maximum. Values and ids lie in `spill`;
 * NULL: in memory. */
int broad__distinct_values(broad__distinct *out, const double *values, size_t rows, size_t maximum,
                           broad__spill *spill);

/* ids[i] becomes map[ids[i]]. */
void broad__ids_map(size_t *ids, size_t rows, const size_t *map, broad__spill *spill);

void broad__distinct_clear(broad__distinct *distinct, broad__spill *spill);

#endif
