/*
 * Arrays that may be larger than memory: they lie in a file without a name, mapped, and the part in memory can be
 * released at any time without losing the content. With a spill of NULL all this is ordinary memory.
 */
#ifndef BROAD_BASE_SPILL_H
#define BROAD_BASE_SPILL_H

#include <stddef.h>

typedef struct broad__spill broad__spill;

/* `memory`: bytes that the process should hold at most. Files lie in $TMPDIR, or in /var/tmp: /tmp is often kept in
 * memory. */
int broad__spill_open(broad__spill **out, size_t memory);
void broad__spill_close(broad__spill *spill);          /* with all that is left in it; accepts NULL */
size_t broad__spill_memory(const broad__spill *spill); /* SIZE_MAX for NULL */

/* Where the files lie, and how many bytes are free there; INFINITY if that is not known. */
const char *broad__spill_folder(void);
double broad__spill_room(void);

/* Zeroed; NULL on failure, with the message set. Any thread. */
void *broad__spill_alloc(broad__spill *spill, size_t count, size_t element_bytes);
void broad__spill_free(broad__spill *spill, void *block); /* accepts NULL */

/* Bytes that are read before their memory is released: few enough for any limit, many enough for it to be cheap. */
enum { BROAD__SPILL_STEP = 4 << 20 };

/* These bytes of a block are not needed for a while: their memory is released and their content kept, also
 * while they or their neighbours are still in use. Cheap for a megabyte and more at a time. Any thread. */
void broad__spill_done(broad__spill *spill, const void *from, size_t bytes);

#endif
