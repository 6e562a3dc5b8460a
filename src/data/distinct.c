#include "data/distinct.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/format/number.h"

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

int broad__text_set_add(broad__text_set *set, broad__text text, size_t max)
{
    int status = 2 * set->count >= set->size ? set_widen(set) : BROAD_OK;
    if (status == BROAD_OK) status = broad__grow(&set->texts, &set->capacity, set->count + 1, sizeof *set->texts, max);
    if (status < 0) return status;
    set->texts[set->count++] = text;
    *set_slot(set, text) = set->count;
    return BROAD_OK;
}

int broad__text_set_keep(broad__text_set *set, broad__text text, size_t max, broad__arena *keep)
{
    if (!keep) return broad__text_set_add(set, text, max);
    char *kept = broad__arena_take(keep, text.count);
    if (!kept) return BROAD_NO_MEMORY;
    if (text.count) memcpy(kept, text.bytes, text.count);
    return broad__text_set_add(set, (broad__text){kept, text.count}, max);
}

void broad__text_set_empty(broad__text_set *set)
{
    if (set->count) memset(set->slots, 0, set->size * sizeof *set->slots);
    set->count = 0;
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
    if (status < 0) broad__distinct_clear(out, NULL);
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

/* Numbers go into a set as the texts of their bytes, zeros of either sign as one. */
static broad__text value_text(double *value)
{
    *value += 0.0;
    return (broad__text){(const char *)value, sizeof *value};
}

static const size_t STEP = BROAD__SPILL_STEP / sizeof(size_t); /* rows */

typedef struct value_set {
    broad__text_set set;
    broad__arena arena; /* of the bytes */
} value_set;

static int number_values(size_t *ids, value_set *all, const double *values, size_t rows, size_t maximum,
                         broad__spill *spill)
{
    for (size_t i = 0; i < rows && all->set.count <= maximum; i++) {
        double value = values[i];
        broad__text text = value_text(&value);
        ids[i] = broad__text_set_find(&all->set, text);
        int status = ids[i] == all->set.count ? broad__text_set_keep(&all->set, text, rows, &all->arena) : BROAD_OK;
        if (status < 0) return status;
        if (i % STEP != STEP - 1) continue;
        broad__spill_done(spill, ids + i + 1 - STEP, STEP * sizeof *ids);
        broad__spill_done(spill, values + i + 1 - STEP, STEP * sizeof *values);
    }
    return BROAD_OK;
}

void broad__ids_map(size_t *ids, size_t rows, const size_t *map, broad__spill *spill)
{
    for (size_t i = 0; i < rows; i++) {
        ids[i] = map[ids[i]];
        if (i % STEP == STEP - 1) broad__spill_done(spill, ids + i + 1 - STEP, STEP * sizeof *ids);
    }
}

/* sorted: the values of the set in order; rank[i]: where value i is among them. */
static void sort_values(double *sorted, size_t *rank, const broad__text_set *set)
{
    for (size_t i = 0; i < set->count; i++) memcpy(&sorted[i], set->texts[i].bytes, sizeof *sorted);
    qsort(sorted, set->count, sizeof *sorted, compare_values);
    for (size_t i = 0; i < set->count; i++) rank[broad__text_set_find(set, value_text(&sorted[i]))] = i;
}

int broad__distinct_values(broad__distinct *out, const double *values, size_t rows, size_t maximum, broad__spill *spill)
{
    *out = (broad__distinct){0};
    value_set all = {0};
    double *sorted = NULL;
    size_t *rank = NULL;
    int status = BROAD_NO_MEMORY;
    out->ids = broad__spill_alloc(spill, rows, sizeof *out->ids);
    if (!out->ids) goto cleanup;
    status = number_values(out->ids, &all, values, rows, maximum, spill);
    if (status < 0) goto cleanup;
    out->count = all.set.count;
    if (out->count > maximum) goto cleanup;
    status = BROAD_NO_MEMORY;
    sorted = broad__alloc_doubles(out->count, 1);
    rank = broad__alloc_array(out->count, sizeof *rank);
    if (!sorted || !rank) goto cleanup;
    sort_values(sorted, rank, &all.set);
    broad__ids_map(out->ids, rows, rank, spill);
    status = name_values(out, sorted);

cleanup:
    broad__text_set_clear(&all.set);
    broad__arena_clear(&all.arena);
    broad__free(sorted);
    broad__free(rank);
    if (status < 0) broad__distinct_clear(out, spill);
    return status;
}

void broad__distinct_clear(broad__distinct *distinct, broad__spill *spill)
{
    broad__spill_free(spill, distinct->ids);
    broad__free(distinct->texts);
    broad__free(distinct->names);
    *distinct = (broad__distinct){0};
}
