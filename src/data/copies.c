/*
 * Each row is looked for in a hash table of the rows before it, first by its inputs, then, where a row has these, by its inputs
 * and its target. The first row of each kind stands for the others.
 *
 * Copies or chance? If q_j is the chance that two rows of a class agree in column j, then of its n rows n (n - 1) / 2 times the
 * product of all q_j pairs agree if the columns are independent within the class. Tables of a few categories have so many equal rows that to leave them out
 * together would be to leave out what was to be learned; only far more than that are copies.
 */
#include "data/copies.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "data/row_order.h"

static const size_t STEP = BROAD__SPILL_STEP;
enum { FEW_INPUTS = 8 };

/* A slot of the hash table: 1 + a row, a part of its hash, and whether the row has copies; 0: it is free. */
static const uint64_t ROW = 0x000000FFFFFFFFFF, TAG = 0x7FFFFF0000000000, COPIED = 0x8000000000000000;

/* What a row is compared by if it lies in a file or at another rank: two hashes of 64 bits, as the rows themselves would have to be fetched. */
typedef struct row_key {
    uint64_t inputs, target;
} row_key;

/* A row and the first that is equal. */
typedef struct copy_pair {
    size_t row, first;
} copy_pair;

typedef struct search {
    const broad_data *table;
    uint64_t *slots;    /* open addressing */
    row_key *keys;      /* of the rows in them; NULL: the rows are in memory */
    size_t size;        /* a power of two, at least twice the rows of a part */
    size_t part, parts; /* rows are looked for in parts, by their hash, so that the slots of one fit in memory */
    size_t *first;      /* rows: the first row that is equal; NULL at first where ranks look for them */
    copy_pair *pairs;   /* then: the copies that this rank has found, in the order of the rows */
    size_t pairs_capacity;
    int failed;     /* to keep one of them */
    size_t hashed;  /* inputs that the hash is made of: the first ones mostly tell rows apart */
    size_t in_vain; /* rows of one hash that were compared and differ */
    size_t filled;  /* slots */
    size_t released;
} search;

static uint64_t mix(uint64_t hash, double value)
{
    uint64_t bits;
    value += 0.0; /* zeros of either sign are one number */
    memcpy(&bits, &value, sizeof bits);
    return (hash ^ bits ^ hash >> 31) * 0x9E3779B97F4A7C15u;
}

static int same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

int broad__inputs_same(const broad_data *table, size_t a, size_t b)
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

/* Several chains at once, as each has to wait for its products. */
static uint64_t hash_inputs(const double *x, size_t inputs)
{
    enum { CHAINS = 4 };
    uint64_t hash[CHAINS] = {0x243F6A8885A308D3u, 0x13198A2E03707344u, 0xA4093822299F31D0u, 0x082EFA98EC4E6C89u};
    size_t j = 0;
    for (; j + CHAINS <= inputs; j += CHAINS)
        for (size_t k = 0; k < CHAINS; k++) hash[k] = mix(hash[k], x[j + k]);
    for (; j < inputs; j++) hash[0] = mix(hash[0], x[j]);
    uint64_t all = 0;
    for (size_t k = 0; k < CHAINS; k++) all = (all ^ hash[k] ^ all >> 29) * 0xD6E8FEB86659FD93u;
    return all ^ all >> 32;
}

uint64_t broad__inputs_hash(const broad_data *table, size_t row)
{
    return hash_inputs(table->x + row * table->inputs, table->inputs);
}

/* Of the target, for keys. */
static uint64_t hash_target(const broad_data *table, size_t row)
{
    if (table->classes) return mix(0x452821E638D01377u, (double)table->classes[row]);
    return table->values ? hash_inputs(table->values + row * table->outputs, table->outputs) : 0;
}

/* A row that is looked for: the hash of its inputs, or of these and its target. */
typedef struct wanted {
    size_t row;
    uint64_t hash;
    row_key key;
    int known; /* another row has these inputs */
} wanted;

/* *out_at: the slot of an equal row, or the free one at the end of the chain. 1: it is that of an equal row. by_inputs: the
 * first row with these inputs suffices to end the search. */
static int find(size_t *out_at, search *s, wanted *w, int by_inputs)
{
    uint64_t tag = w->hash * 0x9E3779B97F4A7C15u & TAG;
    size_t at = (size_t)w->hash & (s->size - 1);
    for (; s->slots[at]; at = (at + 1) & (s->size - 1)) {
        if ((s->slots[at] & TAG) != tag) continue;
        size_t other = (size_t)(s->slots[at] & ROW) - 1;
        int same = s->keys ? s->keys[at].inputs == w->key.inputs : broad__inputs_same(s->table, w->row, other);
        s->in_vain += (size_t)!same;
        if (!same) continue;
        w->known = 1;
        *out_at = at;
        if (s->keys ? s->keys[at].target == w->key.target : same_target(s->table, w->row, other)) return 1;
        if (by_inputs) return 0;
    }
    *out_at = at;
    return 0;
}

/* The `count`-th copy, from 0. */
static void keep_copy(search *s, size_t count, copy_pair pair)
{
    if (s->first) s->first[pair.row] = pair.first;
    else if (s->failed || broad__grow(&s->pairs, &s->pairs_capacity, count + 1, sizeof *s->pairs, SIZE_MAX) < 0)
        s->failed = 1;
    else s->pairs[count] = pair;
}

/* The first row with certain inputs lies where their hash says; others with the same inputs, where the hash of inputs and
 * target says: however many there are, none has to be compared with all of them. */
static void look_for(broad__copies *out, search *s, wanted *w)
{
    size_t at = 0;
    if (s->first) s->first[w->row] = w->row;
    int equal = find(&at, s, w, 1);
    if (!equal && w->known) {
        w->hash = (w->hash ^ hash_target(s->table, w->row)) * 0xD6E8FEB86659FD93u;
        w->hash ^= w->hash >> 32;
        equal = find(&at, s, w, 0);
    }
    if (equal) {
        keep_copy(s, out->rows++, (copy_pair){w->row, (size_t)(s->slots[at] & ROW) - 1});
        out->groups += !(s->slots[at] & COPIED);
        s->slots[at] |= COPIED;
        return;
    }
    out->opposed += (size_t)w->known;
    s->filled++;
    s->slots[at] = (w->hash * 0x9E3779B97F4A7C15u & TAG) | (w->row + 1);
    if (s->keys) s->keys[at] = w->key;
}

/* Chains must end, and be short. */
static int is_crowded(const search *s) { return s->filled > s->size / 4 * 3; }

static int is_other_part(const search *s, uint64_t hash) { return s->parts > 1 && (hash >> 20) % s->parts != s->part; }

static void look_up(broad__copies *out, search *s, size_t row)
{
    const broad_data *table = s->table;
    const double *x = table->x + row * table->inputs;
    wanted w = {.row = row, .hash = hash_inputs(x, s->hashed)};
    if (is_other_part(s, w.hash)) return;
    w.key = (row_key){mix(w.hash, x[0]), s->keys ? hash_target(table, row) : 0};
    look_for(out, s, &w);
}

static void release(search *s, size_t row)
{
    const broad_data *table = s->table;
    size_t bytes = table->inputs * sizeof *table->x;
    if (!table->spill || (row - s->released) * (bytes + sizeof *s->first) < STEP) return;
    broad__spill_done(table->spill, table->x + s->released * table->inputs, (row - s->released) * bytes);
    broad__spill_done(table->spill, s->first + s->released, (row - s->released) * sizeof *s->first);
    if (table->classes)
        broad__spill_done(table->spill, table->classes + s->released, (row - s->released) * sizeof *table->classes);
    if (table->values)
        broad__spill_done(table->spill, table->values + s->released * table->outputs,
                          (row - s->released) * table->outputs * sizeof *table->values);
    s->released = row;
}

typedef enum looked { LOOKED_ALL, LOOKED_IN_VAIN, LOOKED_FULL } looked;

/* With the hash of the first inputs, of which too many rows may have the same; or one part may have too many rows for the slots,
 * since those with the same inputs are all in one. */
static looked look_up_all(broad__copies *out, search *s, size_t hashed)
{
    *out = (broad__copies){0};
    s->hashed = hashed;
    s->in_vain = 0;
    for (s->part = 0; s->part < s->parts; s->part++) {
        memset(s->slots, 0, s->size * sizeof *s->slots);
        s->released = s->filled = 0;
        for (size_t i = 0; i < s->table->rows; i++) {
            look_up(out, s, i);
            release(s, i);
            if (s->in_vain > s->table->rows && hashed < s->table->inputs) return LOOKED_IN_VAIN;
            if (is_crowded(s) && s->parts > 1) return LOOKED_FULL;
        }
    }
    return LOOKED_ALL;
}

/* ---- ranks -------------------------------------------------------------------------------------------------------------- */

/* What its rank tells of a row's inputs. */
typedef struct told_row {
    uint64_t hash, check;
} told_row;

static void look_up_told(broad__copies *out, search *s, size_t row, told_row told)
{
    wanted w = {.row = row, .hash = told.hash, .key = {told.check, hash_target(s->table, row)}};
    /* Many targets for one row of inputs all come to one rank. */
    if (is_other_part(s, w.hash) || is_crowded(s)) return;
    look_for(out, s, &w);
}

/* Each rank looks for the rows of which the hash is its own, among all that the ranks tell of, in their order. */
static int look_up_ranks(broad__copies *out, search *s)
{
    const broad_data *table = s->table;
    const broad__owned *owned = table->owned;
    size_t first, end, most = 0;
    for (size_t rank = 0; rank < owned->comm->ranks; rank++) {
        broad__comm_rows_of(&first, &end, rank, table->rows);
        if (end - first > most) most = end - first;
    }
    told_row *told = broad__alloc_unset(most + 1, sizeof *told);
    int status = broad__comm_settle(told ? BROAD_OK : BROAD_NO_MEMORY);
    for (size_t rank = 0; status == BROAD_OK && rank < owned->comm->ranks; rank++) {
        broad__comm_rows_of(&first, &end, rank, table->rows);
        for (size_t i = first; rank == owned->comm->rank && i < end; i++)
            told[i - first] = (told_row){broad__inputs_hash(table, i), broad__inputs_check(table, i)};
        status = broad__comm_broadcast(rank, told, (end - first) * sizeof *told);
        for (size_t i = first; status == BROAD_OK && i < end; i++) look_up_told(out, s, i, told[i - first]);
    }
    broad__free(told);
    return status;
}

/* As long as no row is a copy, nothing of all rows has to be here. */
static int open_first(search *s)
{
    s->first = broad__spill_alloc(s->table->spill, s->table->rows, sizeof *s->first);
    for (size_t i = 0; s->first && i < s->table->rows; i++) s->first[i] = i;
    return broad__comm_settle(s->first ? BROAD_OK : BROAD_NO_MEMORY);
}

/* The copies that each rank has found, on all of them. own: how many are this one's. */
static int share_first(search *s, size_t own)
{
    size_t rank = 0, ranks = broad__comm_ranks();
    int status = open_first(s);
    for (; status == BROAD_OK && rank < ranks; rank++) {
        int here = rank == s->table->owned->comm->rank;
        size_t count = own;
        status = broad__comm_broadcast(rank, &count, sizeof count);
        copy_pair *from = here ? s->pairs : broad__alloc_array(count + 1, sizeof *from);
        if (!from && count) status = BROAD_NO_MEMORY;
        if (status == BROAD_OK) status = broad__comm_broadcast(rank, from, count * sizeof *from);
        for (size_t i = 0; status == BROAD_OK && i < count; i++) s->first[from[i].row] = from[i].first;
        if (!here) broad__free(from);
    }
    return status;
}

/* *out_done: 0 if one rank has too many rows to look for. */
static int find_by_ranks(int *out_done, broad__copies *out, search *s)
{
    memset(s->slots, 0, s->size * sizeof *s->slots);
    int status = look_up_ranks(out, s);
    if (status == BROAD_OK) status = broad__comm_settle(s->failed ? BROAD_NO_MEMORY : BROAD_OK);
    if (status < 0) return status;
    *out_done = !broad__comm_most(is_crowded(s));
    size_t own = out->rows, counts[3] = {out->rows, out->groups, out->opposed};
    if (!*out_done) return BROAD_OK;
    status = broad__comm_add_counts(counts, 3);
    *out = (broad__copies){.rows = counts[0], .groups = counts[1], .opposed = counts[2]};
    return status == BROAD_OK && out->rows ? share_first(s, own) : status;
}

/* ---- chance ------------------------------------------------------------------------------------------------------------- */

enum { SAMPLE = 1000, SAMPLE_LEAST = 50, SAMPLE_NUMBERS = 1 << 18 };

/* One column of some rows: they are compared within their class. */
typedef struct cell {
    size_t class;
    double value;
} cell;

static int compare_cells(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Evenly spaced rows of the table. */
typedef struct sample {
    size_t rows, classes;
    double *x;     /* rows x inputs */
    size_t *class; /* of each row; of a regression: 0 */
    size_t *sizes; /* of each class: how many of the rows */
    double *pairs; /* of each class: how many pairs of all its rows agree in the inputs so far */
    cell *cells;   /* rows */
} sample;

static void sample_clear(sample *s)
{
    broad__free(s->x);
    broad__free(s->class);
    broad__free(s->sizes);
    broad__free(s->pairs);
    broad__free(s->cells);
}

/* Inputs of the sampled rows, of which `rows` has the numbers. */
static int sample_inputs(sample *out, const broad_data *table, const size_t *rows)
{
    size_t row_bytes = table->inputs * sizeof *out->x;
    const broad__owned *owned = table->owned;
    for (size_t i = 0; i < out->rows; i++) {
        const double *x = table->x + rows[i] * table->inputs;
        if (broad__owned_divided(owned) && (rows[i] < owned->first || rows[i] >= owned->end)) continue;
        memcpy(out->x + i * table->inputs, x, row_bytes);
        broad__spill_done(table->spill, x, row_bytes);
    }
    return broad__owned_divided(owned) ? broad__comm_collect(out->x, rows, out->rows, table->inputs, table->rows)
                                       : BROAD_OK;
}

static int sample_make(sample *out, const broad_data *table)
{
    size_t most = SAMPLE_NUMBERS / table->inputs, numbers[SAMPLE];
    most = most < SAMPLE_LEAST ? SAMPLE_LEAST : most > SAMPLE ? SAMPLE : most;
    *out = (sample){.rows = table->rows < most ? table->rows : most, .classes = table->classes ? table->outputs : 1};
    out->x = broad__alloc_doubles(out->rows, table->inputs);
    out->class = broad__alloc_array(out->rows, sizeof *out->class);
    out->sizes = broad__alloc_array(out->classes, sizeof *out->sizes);
    out->pairs = broad__alloc_doubles(out->classes, 1);
    out->cells = broad__alloc_array(out->rows, sizeof *out->cells);
    if (!out->x || !out->class || !out->sizes || !out->pairs || !out->cells) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < out->rows; i++) {
        size_t row = (size_t)((double)i * (double)table->rows / (double)out->rows);
        numbers[i] = row;
        out->class[i] = table->classes ? table->classes[row] : 0;
        out->sizes[out->class[i]]++;
    }
    int status = sample_inputs(out, table, numbers);
    for (size_t c = 0; c < out->classes; c++) {
        double rows = (double)out->sizes[c] * (double)table->rows / (double)out->rows;
        out->pairs[c] = out->sizes[c] > 1 ? rows * (rows - 1) / 2 : 0;
    }
    return status;
}

/* Fewer pairs agree also in the inputs j ... j + width - 1, of which at most one is 1. */
static void narrow(sample *s, size_t inputs, size_t j, size_t width)
{
    for (size_t i = 0; i < s->rows; i++) {
        const double *x = s->x + i * inputs + j;
        s->cells[i] = (cell){s->class[i], isnan(x[0]) ? INFINITY : x[0]};
        for (size_t l = 1; l < width; l++)
            if (x[l] == 1) s->cells[i].value = (double)(l + 1);
    }
    qsort(s->cells, s->rows, sizeof *s->cells, compare_cells);
    for (size_t i = 0; i < s->rows;) {
        size_t c = s->cells[i].class, end = i + s->sizes[c];
        double agree = 0;
        for (size_t run = 0; i < end; i++) {
            run = run && compare_cells(&s->cells[i - 1], &s->cells[i]) == 0 ? run + 1 : 1;
            agree += (double)(run - 1);
        }
        if (s->sizes[c] > 1) s->pairs[c] *= 2 * agree / ((double)s->sizes[c] * (double)(s->sizes[c] - 1));
    }
}

/* Pairs of equal rows that chance would make; the inputs of a category count as one column. */
static int pairs_by_chance(double *out, const broad_data *table)
{
    sample s;
    int status = sample_make(&s, table);
    const broad__categories *all = &table->categories; /* without any, items is NULL */
    for (size_t j = 0, k = 0, width; status == BROAD_OK && j < table->inputs; j += width) {
        width = k < all->count && all->items[k].first == j ? all->items[k++].count : 1;
        narrow(&s, table->inputs, j, width);
    }
    *out = 0;
    for (size_t c = 0; status == BROAD_OK && c < s.classes; c++) *out += s.pairs[c];
    sample_clear(&s);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------- */

/* As many parts as it takes for slots in a sixteenth of the memory; hashes do not divide the rows quite evenly. */
static void size_slots(search *s)
{
    size_t memory = broad__spill_memory(s->table->spill) / 16, rows = s->table->rows;
    s->parts = s->table->spill && memory ? 1 + rows * 4 * (sizeof *s->slots + sizeof *s->keys) / memory : 1;
    if (broad__table_divided(s->table)) s->parts = s->table->owned->comm->ranks, s->part = s->table->owned->comm->rank;
    if (s->parts > 1) rows = rows / s->parts + rows / s->parts / 8 + 1024;
    for (s->size = 16; s->size < 2 * rows;) s->size *= 2;
}

static int judge(broad__copies *out, const broad_data *table)
{
    enum { MORE = 4 };
    double pairs = 0;
    int status = pairs_by_chance(&pairs, table);
    out->by_chance = (double)out->rows < MORE * pairs;
    if ((double)out->opposed < MORE * pairs) out->opposed = 0;
    return status;
}

static int open_slots(search *s)
{
    int keyed = s->table->spill || broad__table_divided(s->table);
    broad__free(s->slots);
    broad__free(s->keys);
    s->slots = broad__alloc_unset(s->size, sizeof *s->slots);
    s->keys = keyed ? broad__alloc_unset(s->size, sizeof *s->keys) : NULL;
    return s->slots && (s->keys || !keyed) ? BROAD_OK : BROAD_NO_MEMORY;
}

/* *out_done: 0 if ranks cannot share it out. */
static int find_copies(int *out_done, broad__copies *out, search *s)
{
    const broad_data *table = s->table;
    *out_done = 1;
    if (broad__table_divided(table)) return find_by_ranks(out_done, out, s);
    size_t few = table->spill || table->inputs < FEW_INPUTS ? table->inputs : FEW_INPUTS;
    looked how = look_up_all(out, s, few);
    if (how == LOOKED_IN_VAIN) how = look_up_all(out, s, table->inputs);
    int status = BROAD_OK;
    while (how == LOOKED_FULL && status == BROAD_OK) {
        s->size *= 2;
        status = open_slots(s);
        if (status == BROAD_OK) how = look_up_all(out, s, table->inputs);
    }
    return status;
}

int broad__copies_group(broad__copies *out, broad_data *table)
{
    search s = {.table = table};
    *out = (broad__copies){0};
    size_slots(&s);
    int status = open_slots(&s), done = 1, divided = broad__table_divided(table);
    if (!divided) s.first = broad__spill_alloc(table->spill, table->rows, sizeof *s.first);
    if (status == BROAD_OK && !s.first && !divided) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = find_copies(&done, out, &s);
    if (status < 0 || !done) goto cleanup;
    status = out->rows || out->opposed ? judge(out, table) : BROAD_OK;
    if (status < 0 || !out->rows || out->by_chance) goto cleanup;
    table->group_name = broad__copy_text(BROAD__COPIES);
    if (!table->group_name) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        table->groups = s.first;
        s.first = NULL;
    }

cleanup:
    broad__spill_free(table->spill, s.first);
    broad__free(s.pairs);
    broad__free(s.slots);
    broad__free(s.keys);
    if (done) return status;
    status = broad__table_gather(table);
    return status == BROAD_OK ? broad__copies_group(out, table) : status;
}

int broad__groups_are_copies(const broad_data *table)
{
    return table->classes && table->groups && table->group_name && strcmp(table->group_name, BROAD__COPIES) == 0;
}
