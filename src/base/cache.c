#include "base/cache.h"

#include <stdatomic.h>
#include <unistd.h>

/* What the system says of each level, once asked; some systems ask the processor, which takes long. */
static atomic_size_t known[3];

#if defined(_SC_LEVEL1_DCACHE_SIZE)
static const int names[3] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
#endif
static const size_t usual[3] = {(size_t)32 << 10, (size_t)256 << 10, (size_t)4 << 20};

static size_t ask(int level)
{
    long bytes = 0;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    bytes = sysconf(names[level - 1]);
#endif
    return bytes > 0 ? (size_t)bytes : usual[level - 1];
}

size_t broad__cache_bytes(int level)
{
    size_t bytes = atomic_load_explicit(&known[level - 1], memory_order_relaxed);
    if (bytes) return bytes;
    bytes = ask(level);
    atomic_store_explicit(&known[level - 1], bytes, memory_order_relaxed);
    return bytes;
}
