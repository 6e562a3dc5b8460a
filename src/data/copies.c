/*
 * Each row is looked for in a hash table of the rows before it, first by its inputs, then among the rows with the same inputs by
 * its target. The first row of each kind stands for the others.
 *
 * Copies or chance? If q_j is the chance that two rows agree in column j, then of n rows n (n - 1) / 2 times the product of all
 * q_j pairs agree if the columns are independent. Tables of a few categories have so many equal rows that to leave them out
 * together would be to leave out what was to be learned; only far more than that are copies.
 */
#include "data/copies.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const size_t STEP = BROAD__SPILL_STEP;

typedef struct search {
    const broad_data *table;
    size_t *slots; /* open addressing: 1 + a row, 0 is free */
    size_t size;   /* a power of two, at least twice the rows */
    size_t *first; /* rows: the first row that is equal */
    size_t released;
} search;

static uint64_t mix(uint64_t hash, double value)
{
    uint64_t bits;
    value = isnan(value) ? (double)NAN : value + 0.0; /* zeros of either sign are one number */
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static int same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static int same_inputs(const broad_data *table, size_t a, size_t b)
{
    const double *x = table->x + a * table->inputs, *y = table->x + b * table->inputs;
    for (size_t j = 0; j < table->inputs; j++)
        if (!same_number(x[j], y[j])) return 0;
    return 1;
}

static int same_target(const broad_data *table, size_t a, size_t b)
{
    if (table->classes) return table->classes[a] == table->classes[b];
    for (size_t t = 0; table->values && t < table->outputs; t++)
        if (!same_number(table->values[a * table->outputs + t], table->values[b * table->outputs + t])) return 0;
    return 1;
}

/* Rows with equal inputs follow each other in the hash table, if others lie between them. */
static void look_up(broad__copies *out, search *s, size_t row)
{
    const broad_data *table = s->table;
    const double *x = table->x + row * table->inputs;
    uint64_t hash = 0x243F6A8885A308D3u;
    int known = 0;
    for (size_t j = 0; j < table->inputs; j++) hash = mix(hash, x[j]);
    size_t at = (size_t)(hash ^ hash >> 32) & (s->size - 1);
    s->first[row] = row;
    for (; s->slots[at]; at = (at + 1) & (s->size - 1)) {
        size_t other = s->slots[at] - 1;
        if (!same_inputs(table, row, other)) continue;
        known = 1;
        if (!same_target(table, row, other)) continue;
        s->first[row] = other;
        out->rows++;
        return;
    }
    out->opposed += (size_t)known;
    s->slots[at] = row + 1;
}

static void release(search *s, size_t row)
{
    const broad_data *table = s->table;
    size_t bytes = table->inputs * sizeof *table->x;
    if (!table->spill || (row - s->released) * bytes < STEP) return;
    broad__spill_done(table->spill, table->x + s->released * table->inputs, (row - s->released) * bytes);
    broad__spill_done(table->spill, s->first + s->released, (row - s->released) * sizeof *s->first);
    s->released = row;
}

/* ---- chance ------------------------------------------------------------------------------------------------------------- */

enum { SAMPLE = 1000 };

static int compare_values(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The chance that two of the values agree. */
static double agreement(double *values, size_t count)
{
    double pairs = 0;
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i])) values[i] = INFINITY;
    qsort(values, count, sizeof *values, compare_values);
    for (size_t i = 0, run = 1; i + 1 < count; i++) {
        run = values[i + 1] == values[i] ? run + 1 : 1;
        pairs += (double)(run - 1);
    }
    return 2 * pairs / ((double)count * (double)(count - 1));
}

/* Pairs of equal rows that chance would make, from evenly spaced rows; the inputs of a category count as one column. */
static double pairs_by_chance(const broad_data *table, double *values)
{
    size_t count = table->rows < SAMPLE ? table->rows : SAMPLE, category = 0;
    double pairs = (double)table->rows * (double)(table->rows - 1) / 2;
    for (size_t j = 0; j < table->inputs && pairs > 0;) {
        const broad__category *k =
            category < table->categories.count ? &table->categories.items[category] : NULL;
        size_t width = k && k->first == j ? k->count : 1;
        category += width > 1 || (k && k->first == j);
        for (size_t i = 0; i < count; i++) {
            const double *x = table->x + (size_t)((double)i * (double)table->rows / (double)count) * table->inputs + j;
            values[i] = x[0];
            for (size_t l = 1; l < width; l++)
                if (x[l] == 1) values[i] = (double)(l + 1);
        }
        pairs *= agreement(values, count);
        j += width;
    }
    return pairs;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------- */

/* Pairs of equal rows; counts the groups. sizes: rows, zeroed. */
static double count_pairs(broad__copies *out, const size_t *first, size_t *sizes, size_t rows)
{
    double pairs = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t before = sizes[first[i]]++;
        pairs += (double)before;
        out->groups += before == 1;
    }
    return pairs;
}

static int judge(broad__copies *out, const search *s)
{
    const broad_data *table = s->table;
    double *values = broad__alloc_doubles(SAMPLE, 1);
    size_t *sizes = broad__spill_alloc(table->spill, table->rows, sizeof *sizes);
    int status = values && sizes ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        memset(sizes, 0, table->rows * sizeof *sizes);
        out->by_chance = count_pairs(out, s->first, sizes, table->rows) < 4 * pairs_by_chance(table, values);
    }
    broad__spill_free(table->spill, sizes);
    broad__free(values);
    return status;
}

int broad__copies_group(broad__copies *out, broad_data *table)
{
    search s = {.table = table, .size = 16};
    *out = (broad__copies){0};
    while (s.size < 2 * table->rows) s.size *= 2;
    int status = BROAD_NO_MEMORY;
    s.first = broad__spill_alloc(table->spill, table->rows, sizeof *s.first);
    s.slots = broad__spill_alloc(table->spill, s.size, sizeof *s.slots);
    if (!s.first || !s.slots) goto cleanup;
    memset(s.slots, 0, s.size * sizeof *s.slots);
    for (size_t i = 0; i < table->rows; i++) {
        look_up(out, &s, i);
        release(&s, i);
    }
    status = out->rows ? judge(out, &s) : BROAD_OK;
    if (status < 0 || !out->rows || out->by_chance) goto cleanup;
    table->group_name = broad__copy_text(BROAD__COPIES);
    if (!table->group_name) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        table->groups = s.first;
        s.first = NULL;
    }

cleanup:
    broad__spill_free(table->spill, s.first);
    broad__spill_free(table->spill, s.slots);
    return status;
}
