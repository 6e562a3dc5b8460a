#include "data/distinct.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/number.h"

/* FNV-1a with a final mix, so that the low bits depend on all bytes. */
static size_t text_hash(broad__text text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.count; i++) hash = (hash ^ (unsigned char)text.bytes[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0x9E3779B97F4A7C15u;
    return (size_t)(hash ^ hash >> 29);
}

static size_t *set_slot(const broad__text_set *set, broad__text wanted)
{
    size_t at = text_hash(wanted) & (set->size - 1);
    while (set->slots[at] && !broad__text_same(set->texts[set->slots[at] - 1], wanted)) at = (at + 1) & (set->size - 1);
    return &set->slots[at];
}

static int set_widen(broad__text_set *set)
{
    broad__text_set wider = *set;
    wider.size = set->size ? 2 * set->size : 8;
    wider.slots = broad__alloc_array(wider.size, sizeof *wider.slots);
    if (!wider.slots) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < set->count; i++) *set_slot(&wider, set->texts[i]) = i + 1;
    broad__free(set->slots);
    *set = wider;
    return BROAD_OK;
}

size_t broad__text_set_find(const broad__text_set *set, broad__text text)
{
    size_t found = set->size ? *set_slot(set, text) : 0;
    return found ? found - 1 : set->count;
}

int broad__text_set_add(broad__text_set *set, broad__text text, size_t most)
{
    int status = 2 * set->count >= set->size ? set_widen(set) : BROAD_OK;
    if (status == BROAD_OK) status = broad__grow(&set->texts, &set->room, set->count + 1, sizeof *set->texts, most);
    if (status < 0) return status;
    set->texts[set->count++] = text;
    *set_slot(set, text) = set->count;
    return BROAD_OK;
}

void broad__text_set_clear(broad__text_set *set)
{
    broad__free(set->texts);
    broad__free(set->slots);
    *set = (broad__text_set){0};
}

int broad__distinct_texts(broad__distinct *out, const broad__text *texts, size_t rows, size_t maximum)
{
    *out = (broad__distinct){0};
    broad__text_set set = {0};
    int status = BROAD_OK;
    out->ids = broad__alloc_array(rows, sizeof *out->ids);
    if (!out->ids) status = BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < rows && set.count <= maximum; i++) {
        out->ids[i] = broad__text_set_find(&set, texts[i]);
        if (out->ids[i] == set.count) status = broad__text_set_add(&set, texts[i], rows);
    }
    if (status == BROAD_OK) {
        out->texts = set.texts;
        out->count = set.count;
        set.texts = NULL;
    }
    broad__text_set_clear(&set);
    if (status < 0) broad__distinct_clear(out);
    return status;
}

static int compare_values(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int name_values(broad__distinct *out, const double *values)
{
    out->texts = broad__alloc_array(out->count, sizeof *out->texts);
    char *printed = broad__alloc_array(out->count, BROAD__NUMBER_BYTES);
    if (out->texts && printed) {
        for (size_t i = 0; i < out->count; i++) {
            broad__number_print(printed + i * BROAD__NUMBER_BYTES, values[i]);
            out->texts[i] = broad__text_of(printed + i * BROAD__NUMBER_BYTES);
        }
        out->names = broad__names_copy(out->texts, out->count);
    }
    broad__free(printed);
    if (!out->names) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < out->count; i++) out->texts[i].bytes = out->names[i];
    return BROAD_OK;
}

int broad__distinct_values(broad__distinct *out, const double *values, size_t rows, size_t maximum)
{
    *out = (broad__distinct){0};
    int status = BROAD_NO_MEMORY;
    double *sorted = broad__alloc_doubles(rows, 1);
    out->ids = broad__alloc_array(rows, sizeof *out->ids);
    if (!sorted || !out->ids) goto cleanup;
    if (rows) memcpy(sorted, values, rows * sizeof *sorted);
    qsort(sorted, rows, sizeof *sorted, compare_values);
    for (size_t i = 0; i < rows; i++)
        if (i == 0 || sorted[i] != sorted[out->count - 1]) sorted[out->count++] = sorted[i];
    status = BROAD_OK;
    if (out->count > maximum) goto cleanup;
    for (size_t i = 0; i < rows; i++) {
        const double *found = bsearch(&values[i], sorted, out->count, sizeof *sorted, compare_values);
        out->ids[i] = (size_t)(found - sorted);
    }
    status = name_values(out, sorted);

cleanup:
    broad__free(sorted);
    if (status < 0) broad__distinct_clear(out);
    return status;
}

void broad__distinct_clear(broad__distinct *distinct)
{
    broad__free(distinct->ids);
    broad__free(distinct->texts);
    broad__free(distinct->names);
    *distinct = (broad__distinct){0};
}
