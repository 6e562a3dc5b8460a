#include "serve/heap.h"

#include <malloc.h>

/*
 * Every connection has a thread, and the C library keeps as many heaps as threads were ever busy at once, up to eight for each
 * processor. Each would stay as large as the longest answer that was ever made in it.
 *
 * What is large is mapped, and goes back to the system when it is freed. Left to itself the library takes ever larger pieces, up to
 * 32 MB, from its heaps, as soon as one of that size was freed; models, photos and lists then leave gaps there between small pieces
 * that stay. A decoder needs the same large pieces for every photo: mapping them anew would take a tenth of its time and more.
 */
enum { HEAPS = 2, SERVER_MAPS = 128 << 10, DECODER_MAPS = 32 << 20 };

void serve_heap_share(void)
{
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, HEAPS);
    mallopt(M_MMAP_THRESHOLD, SERVER_MAPS);
#endif
}

void serve_heap_keep(void)
{
#ifdef M_ARENA_MAX
    mallopt(M_MMAP_THRESHOLD, DECODER_MAPS);
    mallopt(M_TRIM_THRESHOLD, 2 * DECODER_MAPS);
#endif
}
