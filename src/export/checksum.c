#include "export/checksum.h"

#include "base/memory.h"
#include "store/store.h"

int broad__checksum(char out[BROAD__HASH_TEXT], const broad_model *model)
{
    void *bytes = NULL;
    size_t count = 0;
    int status = broad__store_encode(&bytes, &count, model, 0);
    if (!status) broad__hash_text(out, bytes, count);
    broad__free(bytes);
    return status;
}
