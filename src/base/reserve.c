#include "base/reserve.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"

void *broad__reserve_open(size_t bytes)
{
    void *block = mmap(NULL, bytes ? bytes : 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block != MAP_FAILED) return block;
    broad__fail_memory(bytes);
    return NULL;
}

int broad__reserve_use(void *block, size_t from, size_t bytes)
{
    long size = sysconf(_SC_PAGESIZE);
    size_t page = size > 0 ? (size_t)size : 4096, first = from / page * page;
    if (!bytes || mprotect((char *)block + first, from + bytes - first, PROT_READ | PROT_WRITE) == 0) return BROAD_OK;
    return broad__fail_memory(bytes);
}

void broad__reserve_free(void *block, size_t bytes)
{
    if (block) munmap(block, bytes ? bytes : 1);
}
