/*
 * What a pass over a spilled array has gone through and will not come back to: given back to the system piece by piece,
 * so that only the last piece of it is in memory. One trail for each array and worker; a zeroed one is ready.
 */
#ifndef BROAD_BASE_PAGE_CURSOR_H
#define BROAD_BASE_PAGE_CURSOR_H

#include "base/spill.h"

typedef struct broad__trail {
    const char *from;
    size_t bytes;
} broad__trail;

/* These bytes have been used. What comes right after the last ones lengthens the trail, anything else begins a new one. */
void broad__trail_step(broad__trail *trail, broad__spill *spill, const void *from, size_t bytes);
/* The pass is over. */
void broad__trail_end(broad__trail *trail, broad__spill *spill);

#endif
