#include "data/distinct.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/number.h"

/* Open addressing; a slot holds 1 + the number of a text, 0 is free. At most half full. */
typedef struct text_index {
    size_t *slots;
    size_t size; /* a power of two */
} text_index;

/* FNV-1a with a final mix, so that the low bits depend on all bytes. */
static size_t text_hash(broad__text text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.count; i++) hash = (hash ^ (unsigned char)text.bytes[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0x9E3779B97F4A7C15u;
    return (size_t)(hash ^ hash >> 29);
}

static size_t *index_slot(const text_index *index, const broad__text *texts, broad__text wanted)
{
    size_t at = text_hash(wanted) & (index->size - 1);
    while (index->slots[at] && !broad__text_same(texts[index->slots[at] - 1], wanted))
        at = (at + 1) & (index->size - 1);
    return &index->slots[at];
}

static int index_grow(text_index *index, const broad__text *texts, size_t count)
{
    text_index larger = {.size = index->size ? 2 * index->size : 64};
    larger.slots = broad__alloc_array(larger.size, sizeof *larger.slots);
    if (!larger.slots) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) *index_slot(&larger, texts, texts[i]) = i + 1;
    broad__free(index->slots);
    *index = larger;
    return BROAD_OK;
}

int broad__distinct_texts(broad__distinct *out, const broad__text *texts, size_t rows, size_t maximum)
{
    *out = (broad__distinct){0};
    text_index index = {0};
    size_t capacity = 0;
    int status = BROAD_OK;
    out->ids = broad__alloc_array(rows, sizeof *out->ids);
    if (!out->ids) status = BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < rows && out->count <= maximum; i++) {
        if (2 * out->count >= index.size) status = index_grow(&index, out->texts, out->count);
        if (status < 0) break;
        size_t *slot = index_slot(&index, out->texts, texts[i]);
        if (!*slot) {
            status = broad__grow(&out->texts, &capacity, out->count + 1, sizeof *out->texts, rows);
            if (status < 0) break;
            out->texts[out->count++] = texts[i];
            *slot = out->count;
        }
        out->ids[i] = *slot - 1;
    }
    broad__free(index.slots);
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
