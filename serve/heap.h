/* How the C library keeps memory that is free. It is left to itself where it has no settings for that. */
#ifndef BROAD_SERVE_HEAP_H
#define BROAD_SERVE_HEAP_H

/* In the server, before it has threads: few heaps, and what is large goes back to the system when it is freed. */
void serve_heap_share(void);
/* In a process that decodes photos: what is large is kept for the next photo. */
void serve_heap_keep(void);

#endif
