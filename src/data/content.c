#include "data/content.h"

#include <stdio.h>

#include "base/memory.h"

const char *broad__content_where(char out[BROAD__WHERE_BYTES], const broad__content *content, size_t row)
{
    if (content->line_of)
        snprintf(out, BROAD__WHERE_BYTES, "%.255s:%zu", content->file, content->line_of(content->reader, row));
    else snprintf(out, BROAD__WHERE_BYTES, "%.255s: row %zu", content->file, row + 1);
    return out;
}

void broad__content_clear(broad__content *content)
{
    broad__free(content->x);
    broad__free(content->targets.texts);
    broad__free(content->targets.values);
    broad__free(content->groups.texts);
    broad__free(content->groups.values);
    broad__arena_clear(&content->arena);
    *content = (broad__content){0};
}
