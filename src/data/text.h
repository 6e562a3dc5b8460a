/* Pieces of text that lie in memory owned elsewhere, and blocks of names. */
#ifndef BROAD_DATA_TEXT_H
#define BROAD_DATA_TEXT_H

#include <stddef.h>

#include "base/utf8.h"

typedef struct broad__text {
    const char *bytes; /* not ended by a NUL */
    size_t count;
} broad__text;

broad__text broad__text_of(const char *text);
int broad__text_same(broad__text a, broad__text b);
broad__text broad__text_trim(broad__text text); /* without blanks at either end */
int broad__text_is_utf8(broad__text text);

/* 'text' in quotation marks for a message: cut to length, control characters shown as '?'. Returns out. */
const char *broad__text_quote(char out[BROAD__QUOTE_BYTES], broad__text text);

/* Names in one block, pointers first, freed with one broad__free(). NULL: out of memory. */
char **broad__names_copy(const broad__text *texts, size_t count);
char **broad__names_number(const char *prefix, size_t first, size_t count); /* "x1", "x2", ... */

/* Text that must outlive its reading; everything is freed at once. */
typedef struct broad__arena_block broad__arena_block;
typedef struct broad__arena {
    broad__arena_block *blocks;
} broad__arena;

char *broad__arena_take(broad__arena *arena, size_t bytes); /* NULL: out of memory */
void broad__arena_clear(broad__arena *arena);

#endif
