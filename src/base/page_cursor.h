/*
 * What a pass over a spilled array has gone through and will not come back to: given back to the system piece by piece,
 * so that only the last piece of it is in memory. One trail for each array and worker; a zeroed one is ready.
 */
#ifndef BROAD_BASE_PAGE_CURSOR_H
#define BROAD_BASE_PAGE_CURSOR_H

#include "base/spill.h"

typedef struct broad__page_cursor {
    const char *from;
    size_t bytes;
} broad__page_cursor;

/* These bytes have been used. What comes right after the last ones lengthens the trail, anything else begins a new one. */
void broad__page_cursor_step(broad__page_cursor *trail, broad__spill *spill, const void *from, size_t bytes);
/* The pass is over. */
void broad__page_cursor_end(broad__page_cursor *trail, broad__spill *spill);

#endif
