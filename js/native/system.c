/* What the predictor asks of the system, on a machine without files. */
#include <sys/mman.h>

#include "base/file.h"
#include "base/memory.h"

/* It is advice. */
int madvise(void *from, size_t bytes, int advice)
{
    (void)from, (void)bytes, (void)advice;
    return 0;
}

/* Nothing is ever mapped. */
void broad__file_unmap(broad__mapping *mapping)
{
    broad__free(mapping->bytes);
    *mapping = (broad__mapping){0};
}
