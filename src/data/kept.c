#include "data/kept.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

int broad__kept_add(broad__kept *kept, broad__text cell)
{
    size_t most = SIZE_MAX / 64;
    int status = broad__grow(&kept->at, &kept->at_capacity, kept->cells + 1, sizeof *kept->at, most);
    if (status == BROAD_OK)
        status = broad__grow(&kept->text, &kept->text_capacity, kept->bytes + cell.count + 1, 1, most);
    if (status < 0) return status;
    kept->at[kept->cells++] = kept->bytes;
    for (size_t i = 0; i < cell.count; i++) /* a NUL would hide the rest of the cell */
        kept->text[kept->bytes++] = cell.bytes[i] ? cell.bytes[i] : ' ';
    kept->text[kept->bytes++] = 0;
    return BROAD_OK;
}

void broad__kept_clear(broad__kept *kept)
{
    broad__free(kept->names);
    broad__free(kept->at);
    broad__free(kept->text);
    broad__free(kept->unknown);
    for (size_t k = 0; kept->first && k < kept->categories; k++) broad__free(kept->first[k]);
    broad__free(kept->first);
    *kept = (broad__kept){0};
}
