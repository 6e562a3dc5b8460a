/*
 * The part of a spilled array that a pass has read and will not need again: its memory is released piece by piece, so that
 * only the last piece stays in memory. One cursor for each array and worker; a zeroed one is ready.
 */
#ifndef BROAD_BASE_PAGE_CURSOR_H
#define BROAD_BASE_PAGE_CURSOR_H

#include "base/spill.h"

typedef struct broad__page_cursor {
    const char *from;
    size_t bytes;
} broad__page_cursor;

/* These bytes have been used. Bytes that follow the last ones extend the piece; others begin a new one. */
void broad__page_cursor_step(broad__page_cursor *trail, broad__spill *spill, const void *from, size_t bytes);
/* The pass is over. */
void broad__page_cursor_end(broad__page_cursor *trail, broad__spill *spill);

#endif
