/* The caches of the processor, for sizes of blocks; results do not depend on them. */
#ifndef BROAD_BASE_CACHE_H
#define BROAD_BASE_CACHE_H

#include <stddef.h>

/* Bytes of the data cache of level 1, 2 or 3; where the system does not say, what is little for any processor. */
size_t broad__cache_bytes(int level);

#endif
