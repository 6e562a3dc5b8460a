#include "base/spill.h"

#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

int broad__spill_open(broad__spill **out, size_t memory)
{
    (void)memory;
    *out = NULL;
    return broad__fail(BROAD_USAGE, "arrays larger than memory are not there yet");
}

void broad__spill_close(broad__spill *spill) { (void)spill; }

size_t broad__spill_memory(const broad__spill *spill)
{
    (void)spill;
    return SIZE_MAX;
}

void *broad__spill_alloc(broad__spill *spill, size_t count, size_t element_bytes)
{
    (void)spill;
    return broad__alloc_array(count, element_bytes);
}

void broad__spill_free(broad__spill *spill, void *block)
{
    (void)spill;
    broad__free(block);
}

void broad__spill_done(broad__spill *spill, const void *from, size_t bytes)
{
    (void)spill;
    (void)from;
    (void)bytes;
}
