/* What a reader did that its user may want to know: one sentence each. */
#ifndef BROAD_DATA_NOTES_H
#define BROAD_DATA_NOTES_H

#include <stddef.h>

#include "data/text.h"

typedef struct broad__notes {
    char **lines; /* each a block of its own */
    size_t count, capacity;
} broad__notes;

/* Adds a line; `notes` may be NULL. */
int broad__note(broad__notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes `count` lines out, from `first` on. */
void broad__notes_remove(broad__notes *notes, size_t first, size_t count);
void broad__notes_clear(broad__notes *notes);

/* A list of names for a note: "'a', 'b' and 4 more". */
enum { BROAD__LIST_SHOWN = 6, BROAD__LIST_BYTES = (BROAD__LIST_SHOWN + 1) * (BROAD__QUOTE_BYTES + 32) };
typedef struct broad__list {
    char text[BROAD__LIST_BYTES];
    size_t used, count;
} broad__list;

/* `detail` follows the name in brackets; NULL: none. */
void broad__list_add(broad__list *list, const char *name, const char *detail);
const char *broad__list_end(broad__list *list);

#endif
