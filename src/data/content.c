#include "data/content.h"

#include <stdio.h>

#include "base/memory.h"
#include "data/plan.h"

const char *broad__content_where(char out[BROAD__WHERE_BYTES], const broad__content *content, size_t row)
{
    if (content->line_of)
        snprintf(out, BROAD__WHERE_BYTES, "%.255s:%zu", content->file, content->line_of(content->reader, row));
    else snprintf(out, BROAD__WHERE_BYTES, "%.255s: row %zu", content->file, row + 1);
    return out;
}

int broad__content_dense(size_t rows, size_t inputs, size_t file_bytes)
{
    const size_t always = (size_t)64 << 20, ratio = 1000;
    size_t cells, bytes;
    if (inputs > BROAD__COLUMNS_MAX || broad__multiply(&cells, rows, inputs) < 0 ||
        broad__multiply(&bytes, cells, sizeof(double)) < 0)
        return 0;
    return bytes <= always || bytes / ratio <= file_bytes;
}

void broad__content_clear(broad__content *content)
{
    broad__free(content->x);
    broad__free(content->weights);
    for (size_t i = 0; content->levels && i < content->level_sets; i++) broad__text_set_clear(&content->levels[i]);
    broad__free(content->levels);
    broad__free(content->targets.texts);
    broad__free(content->targets.values);
    broad__free(content->groups.texts);
    broad__free(content->groups.values);
    broad__arena_clear(&content->arena);
    *content = (broad__content){0};
}
