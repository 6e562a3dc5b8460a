/* What the JSON library does when memory gives out while it reads. */
#ifndef BROAD_BASE_JSON_FAULT_H
#define BROAD_BASE_JSON_FAULT_H

#include <stddef.h>

/* Text of `count` bytes as the second item of ["xxx...", text], the first, of *out_first letters, being as long as any token of
 * the text; freed with broad__free(). jansson's scanner drops characters where its buffer cannot grow; with the longest token
 * first, a lack of memory shows there, as a first item that is too short, and the buffer need not grow again. */
char *broad__json_wrap(size_t *out_bytes, size_t *out_first, const void *text, size_t count);

/* 1: it was no fault of the text, which has `count` bytes. `fault` is jansson's message, "" where it has none, and `position`
 * what it has read so far. Besides, its own code for that must be looked at. */
int broad__json_fault_is_memory(const char *fault, int position, const char *text, size_t count);

#endif
