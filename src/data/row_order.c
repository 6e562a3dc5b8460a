#include "data/row_order.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"

enum { AT_ONCE = 128 };

typedef struct entry {
    uint64_t hash;
    double weight;
    size_t row;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Zeros of either sign are one number, and so are all NaNs. */
static uint64_t hash_numbers(uint64_t seed, const double *numbers, size_t count)
{
    double plain[AT_ONCE];
    for (size_t done = 0; done < count; done += AT_ONCE) {
        size_t now = count - done < AT_ONCE ? count - done : AT_ONCE;
        for (size_t i = 0; i < now; i++) plain[i] = isnan(numbers[done + i]) ? (double)NAN : numbers[done + i] + 0.0;
        seed = broad__hash_number(plain, now * sizeof *plain, seed);
    }
    return seed;
}

static uint64_t hash_row(const broad_data *table, size_t row)
{
    uint64_t hash = hash_numbers(0, table->x + row * table->inputs, table->inputs);
    if (table->classes) {
        const char *label = table->output_names[table->classes[row]];
        hash = broad__hash_number(label, strlen(label), hash);
    }
    if (table->values) hash = hash_numbers(hash, table->values + row * table->outputs, table->outputs);
    return hash;
}

static void release(const broad_data *t, size_t row, size_t count)
{
    broad__spill_done(t->spill, t->x + row * t->inputs, count * t->inputs * sizeof *t->x);
    if (t->classes) broad__spill_done(t->spill, t->classes + row, count * sizeof *t->classes);
    if (t->values) broad__spill_done(t->spill, t->values + row * t->outputs, count * t->outputs * sizeof *t->values);
    if (t->weights) broad__spill_done(t->spill, t->weights + row, count * sizeof *t->weights);
}

/* The smallest `count` so far are kept, and as many that may be among them; when there is no room, these are sorted. */
static void find_first(entry *kept, size_t count, const broad_data *table, size_t first, size_t rows)
{
    size_t there = 0, step = 1 + BROAD__SPILL_STEP / (table->inputs * sizeof *table->x);
    uint64_t limit = UINT64_MAX;
    for (size_t i = 0; i < rows; i++) {
        uint64_t hash = hash_row(table, first + i);
        if (hash <= limit) kept[there++] = (entry){hash, table->weights ? table->weights[first + i] : 1, i};
        if (there == 2 * count) {
            qsort(kept, there, sizeof *kept, compare_entries);
            there = count;
            limit = kept[count - 1].hash;
        }
        if ((i + 1) % step && i + 1 < rows) continue;
        release(table, first + i - i % step, i % step + 1);
        if (broad__watch_look((double)BROAD__SPILL_STEP)) return;
    }
    qsort(kept, there, sizeof *kept, compare_entries);
}

int broad__row_order(size_t *out, size_t count, const broad_data *table, size_t first, size_t rows)
{
    if (!count) return BROAD_OK;
    entry *kept = broad__alloc_array(count, 2 * sizeof *kept);
    if (!kept) return BROAD_NO_MEMORY;
    find_first(kept, count, table, first, rows);
    for (size_t i = 0; i < count; i++) out[i] = kept[i].row;
    broad__free(kept);
    return broad__watch_check(BROAD_OK);
}
