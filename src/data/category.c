#include "data/category.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "broad/broad.h"
#include "data/text.h"

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

const broad__category *broad__categories_at(const broad__categories *categories, size_t input)
{
    for (size_t k = 0; k < categories->count; k++)
        if (categories->items[k].first == input) return &categories->items[k];
    return NULL;
}

size_t broad__categories_columns(const broad__categories *categories, size_t inputs)
{
    for (size_t i = 0; i < categories->count; i++) inputs -= categories->items[i].count - 1;
    return inputs;
}

char **broad__category_inputs(char **fields, size_t inputs, const broad__categories *categories)
{
    if (!categories->count) return fields;
    char **names = NULL;
    broad__arena arena = {0};
    broad__text *texts = broad__alloc_array(inputs, sizeof *texts);
    for (size_t i = 0, k = 0, f = 0; texts && i < inputs; f++) {
        if (k == categories->count || categories->items[k].first != i) {
            texts[i++] = broad__text_of(fields[f]);
            continue;
        }
        const broad__category *category = &categories->items[k++];
        for (size_t l = 0; l < category->count; l++, i++) {
            size_t bytes = strlen(category->name) + strlen(category->levels[l]) + 2;
            char *name = broad__arena_take(&arena, bytes);
            if (!name) goto cleanup;
            snprintf(name, bytes, "%s=%s", category->name, category->levels[l]);
            texts[i] = broad__text_of(name);
        }
    }
    if (texts) names = broad__names_copy(texts, inputs);

cleanup:
    broad__arena_clear(&arena);
    broad__free(texts);
    return names;
}
