#include "base/smallest.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"

static int compare(const void *a, const void *b)
{
    const broad__keyed_row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

void broad__keyed_rows_sort(broad__keyed_row *rows, size_t count)
{
    if (count) qsort(rows, count, sizeof *rows, compare);
}

int broad__smallest_open(broad__smallest *out, size_t count)
{
    *out = (broad__smallest){broad__alloc_array(count, 2 * sizeof *out->kept), count, 0, UINT64_MAX};
    return out->kept ? BROAD_OK : BROAD_NO_MEMORY;
}

/* When there is no room, those so far are sorted. */
void broad__smallest_show(broad__smallest *s, uint64_t key, double weight, size_t row)
{
    if (key > s->limit || !s->count) return;
    s->kept[s->there++] = (broad__keyed_row){key, weight, row};
    if (s->there < 2 * s->count) return;
    broad__keyed_rows_sort(s->kept, s->there);
    s->there = s->count;
    s->limit = s->kept[s->count - 1].key;
}

void broad__smallest_close(size_t *out, broad__smallest *s)
{
    if (out) broad__keyed_rows_sort(s->kept, s->there);
    for (size_t i = 0; out && i < s->count; i++) out[i] = s->kept[i].row;
    broad__free(s->kept);
    *s = (broad__smallest){0};
}
