/* The one allocator. Blocks are zeroed and aligned to 64 bytes; sizes are multiplied with overflow checks. */
#ifndef BROAD_BASE_MEMORY_H
#define BROAD_BASE_MEMORY_H

#include <stddef.h>

/* NULL on failure, with the out-of-memory message set. A size of zero gives a block that can be freed. */
void *broad__alloc(size_t bytes);
void *broad__alloc_array(size_t count, size_t element_bytes);
void *broad__alloc_unset(size_t count, size_t element_bytes); /* not zeroed: for what is written before it is read */
double *broad__alloc_doubles(size_t rows, size_t columns);

/* Makes room for `count` elements: doubles the capacity, keeps the content, zeroes the rest. On failure the old block
 * is untouched. `maximum` is the declared limit in elements; beyond it the growth fails. */
int broad__grow(void *block_pointer, size_t *capacity, size_t count, size_t element_bytes, size_t maximum);

/* Makes room for `count` numbers without keeping the content; *room 0 and *block NULL to begin with and on failure. */
int broad__reserve(double **block, size_t *room, size_t count);
/* The same, for numbers that are written before they are read. */
int broad__reserve_unset(double **block, size_t *room, size_t count);

char *broad__copy_text(const char *text);
char *broad__copy_bytes(const char *bytes, size_t count); /* adds a NUL */
char **broad__copy_texts(char *const *texts, size_t count);
void broad__free_texts(char **texts, size_t count); /* accepts NULL */
void broad__free(void *block);                      /* accepts NULL */

/* 0 and *out = a * b, or -1 if that does not fit. */
int broad__multiply(size_t *out, size_t a, size_t b);

#endif
