#include "base/page_cursor.h"

/* Giving back costs a system call, and less for longer pieces. */
enum { PIECE = 1 << 21 };

void broad__page_cursor_end(broad__page_cursor *trail, broad__spill *spill)
{
    if (trail->bytes) broad__spill_done(spill, trail->from, trail->bytes);
    *trail = (broad__page_cursor){0};
}

void broad__page_cursor_step(broad__page_cursor *trail, broad__spill *spill, const void *from, size_t bytes)
{
    if (!spill || !bytes) return;
    if (from != trail->from + trail->bytes) broad__page_cursor_end(trail, spill);
    if (!trail->bytes) trail->from = from;
    trail->bytes += bytes;
    if (trail->bytes >= PIECE) broad__page_cursor_end(trail, spill);
}
