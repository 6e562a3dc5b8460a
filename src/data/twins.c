#include "data/twins.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/copies.h"
#include "data/row_order.h"

/* check: another hash of the inputs, where they cannot be compared with those of another rank; otherwise 0. */
typedef struct keyed {
    uint64_t key, check;
    size_t row;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows of one hash that follow each other are compared with the first of each kind among them. */
static size_t settle_run(size_t *twins, const broad_data *table, size_t first, const keyed *run, size_t count)
{
    size_t kinds = 0;
    int divided = broad__table_divided(table);
    for (size_t i = 0; i < count; i++) {
        size_t k = 0, row = first + run[i].row;
        while (k < i &&
               (twins[run[k].row] != run[k].row ||
                !(divided ? run[k].check == run[i].check : broad__inputs_same(table, first + run[k].row, row))))
            k++;
        twins[run[i].row] = run[k].row;
        kinds += k == i;
    }
    return kinds;
}

int broad__twins_find(size_t **out, const broad_data *table, size_t first, size_t count)
{
    size_t distinct = 0, *twins = broad__alloc_array(count, sizeof *twins);
    keyed *rows = broad__alloc_array(count, sizeof *rows);
    int status = twins && rows ? BROAD_OK : BROAD_NO_MEMORY;
    *out = NULL;
    size_t from, until;
    int divided = broad__table_divided(table);
    broad__owned_rows(&from, &until, table->owned, first, count);
    for (size_t i = from; status == BROAD_OK && i < until; i++) {
        rows[i - first] = (keyed){broad__inputs_hash(table, i), divided ? broad__inputs_check(table, i) : 0, i - first};
        broad__table_done(table, i, 1);
    }
    if (status == BROAD_OK) status = broad__owned_share(table->owned, rows, first, count, sizeof *rows);
    if (status == BROAD_OK) qsort(rows, count, sizeof *rows, by_key);
    for (size_t i = 0, end; status == BROAD_OK && i < count; i = end) {
        for (end = i + 1; end < count && rows[end].key == rows[i].key;) end++;
        distinct += settle_run(twins, table, first, rows + i, end - i);
    }
    broad__free(rows);
    if (status == BROAD_OK && distinct < count && distinct >= count - distinct) *out = twins;
    else broad__free(twins);
    return status;
}
