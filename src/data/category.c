#include "data/category.h"

#include <string.h>

#include "base/memory.h"
#include "broad/broad.h"

void broad__categories_clear(broad__categories *categories)
{
    for (size_t i = 0; categories->items && i < categories->count; i++) {
        broad__category *category = &categories->items[i];
        for (size_t l = 0; category->levels && l < category->count; l++) broad__free(category->levels[l]);
        broad__free(category->levels);
        broad__free(category->name);
    }
    broad__free(categories->items);
    *categories = (broad__categories){0};
}

static int copy_category(broad__category *out, const broad__category *from)
{
    *out = (broad__category){.first = from->first, .count = from->count};
    out->name = broad__copy_text(from->name);
    out->levels = broad__alloc_array(from->count, sizeof *out->levels);
    if (!out->name || !out->levels) return BROAD_NO_MEMORY;
    for (size_t l = 0; l < from->count; l++) {
        out->levels[l] = broad__copy_text(from->levels[l]);
        if (!out->levels[l]) return BROAD_NO_MEMORY;
    }
    return BROAD_OK;
}

int broad__categories_copy(broad__categories *out, const broad__categories *from)
{
    *out = (broad__categories){0};
    if (!from->count) return BROAD_OK;
    out->items = broad__alloc_array(from->count, sizeof *out->items);
    int status = out->items ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; i < from->count && status == BROAD_OK; i++) {
        out->count++;
        status = copy_category(&out->items[i], &from->items[i]);
    }
    if (status < 0) broad__categories_clear(out);
    return status;
}

int broad__categories_same(const broad__categories *a, const broad__categories *b)
{
    if (a->count != b->count) return 0;
    for (size_t i = 0; i < a->count; i++) {
        const broad__category *x = &a->items[i], *y = &b->items[i];
        if (x->first != y->first || x->count != y->count || strcmp(x->name, y->name) != 0) return 0;
        for (size_t l = 0; l < x->count; l++)
            if (strcmp(x->levels[l], y->levels[l]) != 0) return 0;
    }
    return 1;
}

size_t broad__categories_columns(const broad__categories *categories, size_t inputs)
{
    for (size_t i = 0; i < categories->count; i++) inputs -= categories->items[i].count - 1;
    return inputs;
}
