#include "data/table.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "data/photo/photo_rows.h"
#include "data/row_order.h"
#include "data/text.h"

int broad__table_new(broad_data **out, size_t rows, size_t inputs)
{
    *out = NULL;
    broad_data *table = broad__alloc(sizeof *table);
    if (!table) return BROAD_NO_MEMORY;
    table->rows = rows;
    table->inputs = inputs;
    table->format = "memory";
    table->x = broad__alloc_doubles(rows, inputs);
    if (!table->x) {
        broad__table_free(table);
        return BROAD_NO_MEMORY;
    }
    *out = table;
    return BROAD_OK;
}

void broad__table_free(broad_data *table)
{
    if (!table) return;
    int elsewhere = table->x_borrowed || (table->owned && table->owned->block);
    if (table->x_file.bytes) broad__file_unmap(&table->x_file);
    else if (!elsewhere) broad__spill_free(table->spill, table->x);
    broad__owned_free(table->owned);
    broad__spill_free(table->spill, table->classes);
    broad__spill_free(table->spill, table->values);
    broad__spill_free(table->spill, table->groups);
    broad__spill_free(table->spill, table->weights);
    broad__spill_close(table->spill);
    broad__free(table->input_names);
    broad__free(table->output_names);
    broad__free(table->target_name);
    broad__free(table->group_name);
    broad__free(table->weight_name);
    broad__kept_clear(&table->kept);
    broad__categories_clear(&table->categories);
    broad__forms_clear(&table->forms);
    broad__places_clear(&table->places);
    broad__notes_clear(&table->notes);
    broad__photos_clear(&table->photos);
    broad__free(table);
}

int broad__table_divided(const broad_data *table) { return broad__owned_divided(table->owned); }

int broad__table_gather(const broad_data *table) { return broad__owned_gather(table->owned, table->x, table->inputs); }

int broad__table_meet(const broad_data *table)
{
    return broad__comm_ranks() > 1 ? BROAD_OK : broad__table_gather(table);
}

int broad__table_spills(size_t bytes, size_t memory) { return memory && bytes > memory / 4; }

/* Of all arrays with an element per row, for a part with `rows` rows. */
static size_t part_bytes(const broad_data *table, size_t rows)
{
    size_t numbers = table->inputs + (table->values ? table->outputs : 0) + (table->classes != NULL) +
                     (table->groups != NULL) + (table->weights != NULL);
    return rows * numbers * sizeof(double);
}

/* A table of `rows` rows made of `table`, so far without any arrays: it is spilled if they are many and `table` is. */
static int part_new(broad_data **out, const broad_data *table, size_t rows)
{
    size_t memory = broad__spill_memory(table->spill);
    *out = broad__alloc(sizeof **out);
    if (!*out) return BROAD_NO_MEMORY;
    if (!table->spill || !broad__table_spills(part_bytes(table, rows), memory)) return BROAD_OK;
    int status = broad__spill_open(&(*out)->spill, memory);
    if (status < 0) {
        broad__free(*out);
        *out = NULL;
    }
    return status;
}

/* A copy of `names`, or NULL for NULL; *failed is set when memory is short. */
static char **copy_names(char *const *names, size_t count, int *failed)
{
    if (!names) return NULL;
    char **copy = NULL;
    broad__text *texts = broad__alloc_array(count, sizeof *texts);
    if (texts) {
        for (size_t i = 0; i < count; i++) texts[i] = broad__text_of(names[i]);
        copy = broad__names_copy(texts, count);
    }
    broad__free(texts);
    if (!copy) *failed = 1;
    return copy;
}

static char *copy_name(const char *name, int *failed)
{
    if (!name) return NULL;
    char *copy = broad__copy_text(name);
    if (!copy) *failed = 1;
    return copy;
}

static const size_t STEP = BROAD__SPILL_STEP;

typedef struct picking {
    const broad_data *table;
    broad__spill *spill; /* of the part */
    const size_t *rows;  /* may lie in the table's spill */
    size_t count;
    int failed;
} picking;

static void give_back(const picking *p, const char *from, size_t row_bytes, size_t first, size_t end)
{
    if (!p->table->spill || first == end) return;
    size_t min = p->rows[first], max = p->rows[first];
    for (size_t i = first; i < end; i++) {
        if (p->rows[i] < min) min = p->rows[i];
        if (p->rows[i] > max) max = p->rows[i];
    }
    broad__spill_done(p->table->spill, from + min * row_bytes, (max - min + 1) * row_bytes);
    broad__spill_done(p->table->spill, p->rows + first, (end - first) * sizeof *p->rows);
}

/* Elements `rows` of an array with `columns` elements of `bytes` a row; NULL for NULL. Rows that are far apart are given
 * back sooner: the kernel maps more than is asked for. */
static void *pick(picking *p, const void *from, size_t columns, size_t bytes)
{
    if (!from) return NULL;
    size_t row_bytes = columns * bytes, first = 0; /* of an array that exists: it fits */
    char *to = broad__spill_alloc(p->spill, p->count, row_bytes);
    if (!to) p->failed = 1;
    for (size_t i = 0; to && i < p->count; i++) {
        size_t far = (p->rows[i] > p->rows[first] ? p->rows[i] - p->rows[first] : p->rows[first] - p->rows[i]);
        if (far * row_bytes >= STEP || (i - first) * row_bytes >= STEP) {
            give_back(p, from, row_bytes, first, i);
            broad__spill_done(p->spill, to + first * row_bytes, (i - first) * row_bytes);
            first = i;
        }
        memcpy(to + i * row_bytes, (const char *)from + p->rows[i] * row_bytes, row_bytes);
    }
    if (to) give_back(p, from, row_bytes, first, p->count);
    if (to) broad__spill_done(p->spill, to + first * row_bytes, (p->count - first) * row_bytes);
    return to;
}

/* ---- rows that lie at other ranks -------------------------------------------------------------------------------------- */

/* Rows `rows` of the inputs, all of them on every rank. */
static double *collect_inputs(const broad_data *table, const size_t *rows, size_t count)
{
    size_t inputs = table->inputs;
    const broad__owned *owned = table->owned;
    const broad_comm *before = broad__owned_enter(owned);
    double *x = broad__alloc_doubles(count, inputs);
    int status = broad__comm_settle(x ? BROAD_OK : BROAD_NO_MEMORY);
    for (size_t i = 0; status == BROAD_OK && i < count; i++)
        if (rows[i] >= owned->first && rows[i] < owned->end)
            memcpy(x + i * inputs, table->x + rows[i] * inputs, inputs * sizeof *x);
    if (status == BROAD_OK) status = broad__comm_collect(x, rows, count, inputs, owned->rows);
    broad__comm_leave(before);
    if (status == BROAD_OK) return x;
    broad__free(x);
    return NULL;
}

/* Rows of the inputs on their way from the ranks of one table to those of another. */
typedef struct dealing {
    const broad_data *table;
    const size_t *rows; /* rising or not: of each row of the other, its number in the table */
    const broad__owned *to;
    double *x;                /* of the other */
    double *packed;           /* rows that go to one rank, or come from one */
    size_t first, end, count; /* rows of the other that a rank owns; how many of them are packed */
} dealing;

/* The rows of [first, end) of the other table that `rank` has in this one: packed, or with `unpack` put in place. */
static void pack(dealing *d, size_t rank, int unpack)
{
    size_t inputs = d->table->inputs, from, end, bytes = inputs * sizeof *d->x;
    broad__comm_rows_of(&from, &end, rank, d->table->rows);
    d->count = 0;
    for (size_t i = d->first; i < d->end; i++) {
        if (d->rows[i] < from || d->rows[i] >= end) continue;
        double *packed = d->packed + d->count++ * inputs;
        if (unpack) memcpy(d->x + i * inputs, packed, bytes);
        else memcpy(packed, d->table->x + d->rows[i] * inputs, bytes);
    }
}

/* How many rows travel from one rank to another. */
static size_t count_rows(const dealing *d, size_t from_rank)
{
    size_t from, end, count = 0;
    broad__comm_rows_of(&from, &end, from_rank, d->table->rows);
    for (size_t i = d->first; i < d->end; i++) count += d->rows[i] >= from && d->rows[i] < end;
    return count;
}

/* From each rank to each, in one order that all of them keep. */
static int deal_rows(dealing *d)
{
    size_t rank = d->to->comm->rank, ranks = d->to->comm->ranks, inputs = d->table->inputs;
    int status = BROAD_OK;
    for (size_t to = 0; status == BROAD_OK && to < ranks; to++)
        for (size_t from = 0; status == BROAD_OK && from < ranks; from++) {
            if (from != rank && to != rank) continue;
            broad__comm_rows_of(&d->first, &d->end, to, d->to->rows);
            d->count = count_rows(d, from);
            d->packed = broad__alloc_doubles(d->count, inputs);
            if (!d->packed) return BROAD_NO_MEMORY;
            if (from == rank) pack(d, from, 0);
            status = broad__comm_move(d->packed, d->count * inputs, from, to);
            if (status == BROAD_OK && to == rank) pack(d, from, 1);
            broad__free(d->packed);
        }
    return status;
}

static int deal_inputs(broad_data *part, const broad_data *table, const size_t *rows, size_t count)
{
    const broad_comm *before = broad__owned_enter(table->owned);
    int status = broad__comm_settle(broad__owned_new(&part->owned, &part->x, count, table->inputs));
    dealing d = {.table = table, .rows = rows, .to = part->owned, .x = part->x};
    if (status == BROAD_OK) status = deal_rows(&d);
    broad__comm_leave(before);
    return status;
}

/* Inputs of rows that ranks have divided; deal: so are those of the part, if they are enough. */
static int pick_inputs(broad_data *part, const broad_data *table, const size_t *rows, size_t count, int deal)
{
    const broad_comm *before = broad__owned_enter(table->owned);
    int divides = deal && broad__comm_divides(count);
    broad__comm_leave(before);
    if (divides) return deal_inputs(part, table, rows, count);
    part->x = collect_inputs(table, rows, count);
    return part->x ? BROAD_OK : BROAD_NO_MEMORY;
}

static int pick_rows(broad_data **out, const broad_data *table, const size_t *rows, size_t count, int deal)
{
    *out = NULL;
    broad_data *part;
    int status = part_new(&part, table, count), failed = 0;
    if (status < 0) return status;
    picking p = {.table = table, .spill = part->spill, .rows = rows, .count = count};
    *part = *table;
    part->kept = (broad__kept){0};
    part->spill = p.spill;
    part->x_borrowed = 0;
    part->x_file = (broad__mapping){0};
    part->owned = NULL;
    part->rows = count;
    part->x = NULL;
    if (broad__table_divided(table)) failed = pick_inputs(part, table, rows, count, deal) < 0;
    else part->x = pick(&p, table->x, table->inputs, sizeof *table->x);
    part->classes = pick(&p, table->classes, 1, sizeof *table->classes);
    part->values = pick(&p, table->values, table->outputs, sizeof *table->values);
    part->groups = pick(&p, table->groups, 1, sizeof *table->groups);
    part->weights = pick(&p, table->weights, 1, sizeof *table->weights);
    part->input_names = copy_names(table->input_names, table->inputs, &failed);
    part->output_names = copy_names(table->output_names, table->outputs, &failed);
    part->target_name = copy_name(table->target_name, &failed);
    part->group_name = copy_name(table->group_name, &failed);
    part->weight_name = copy_name(table->weight_name, &failed);
    part->notes = (broad__notes){0};
    failed |= broad__categories_copy(&part->categories, &table->categories) < 0;
    failed |= broad__forms_copy(&part->forms, &table->forms) < 0;
    failed |= broad__places_copy(&part->places, &table->places) < 0;
    failed |= broad__photos_pick(&part->photos, &table->photos, rows, count) < 0;
    if (failed || p.failed) {
        broad__table_free(part);
        return BROAD_NO_MEMORY;
    }
    *out = part;
    return BROAD_OK;
}

int broad__table_rows(broad_data **out, const broad_data *table, const size_t *rows, size_t count)
{
    return pick_rows(out, table, rows, count, 0);
}

int broad__table_deal(broad_data **out, const broad_data *table, const size_t *rows, size_t count)
{
    return pick_rows(out, table, rows, count, 1);
}

int broad__table_thin(broad_data **out, const broad_data *table, size_t count)
{
    size_t *rows = broad__alloc_array(count, sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    int status = broad__row_order(rows, count, table, 0, table->rows);
    if (status == BROAD_OK) status = broad__table_rows(out, table, rows, count);
    broad__free(rows);
    return status;
}

static int check_join(const broad_data *a, const broad_data *b)
{
    if (a->inputs != b->inputs)
        return broad__fail(BROAD_BAD_DATA, "%zu inputs in one file and %zu in the other", a->inputs, b->inputs);
    if (a->task != b->task || (a->task == BROAD_TASK_REGRESS && a->outputs != b->outputs))
        return broad__fail(BROAD_BAD_DATA, "the targets of the two files do not agree");
    for (size_t j = 0; a->named && b->named && j < a->inputs; j++)
        if (strcmp(a->input_names[j], b->input_names[j]) != 0)
            return broad__fail(BROAD_BAD_DATA, "input %zu is called '%s' in one file and '%s' in the other", j + 1,
                               a->input_names[j], b->input_names[j]);
    if (a->categories.count && b->categories.count && !broad__categories_same(&a->categories, &b->categories))
        return broad__fail(BROAD_BAD_DATA, "the columns of categories of the two files have different levels; read the "
                                           "second with a model of the first");
    if (!a->photos.spec.maps != !b->photos.spec.maps ||
        memcmp(&a->photos.spec, &b->photos.spec, sizeof a->photos.spec) != 0)
        return broad__fail(BROAD_BAD_DATA, "the photos of the two folders were not read in the same way; read the "
                                           "second with a model of the first");
    if (!a->weights != !b->weights)
        return broad__fail(BROAD_BAD_DATA, "the rows of one file have weights and those of the other do not; give "
                                           "weights to both or neither");
    size_t shared = a->outputs < b->outputs ? a->outputs : b->outputs;
    for (size_t c = 0; a->task == BROAD_TASK_CLASSIFY && c < shared; c++)
        if (strcmp(a->output_names[c], b->output_names[c]) != 0)
            return broad__fail(BROAD_BAD_DATA, "class %zu is '%s' in one file and '%s' in the other", c + 1,
                               a->output_names[c], b->output_names[c]);
    return BROAD_OK;
}

static void copy_part(char *to, broad__spill *to_spill, const char *from, broad__spill *from_spill, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t now = bytes - done < STEP ? bytes - done : STEP;
        memcpy(to + done, from + done, now);
        broad__spill_done(to_spill, to + done, now);
        broad__spill_done(from_spill, from + done, now);
        done += now;
    }
}

typedef struct joining {
    const broad_data *a, *b;
    broad__spill *spill;
    int failed;
} joining;

/* The rows of an array with `row_bytes` a row of both tables. */
static void *join(joining *j, const void *a, const void *b, size_t row_bytes)
{
    if (!a || !b) return NULL;
    char *joined = broad__spill_alloc(j->spill, j->a->rows + j->b->rows, row_bytes);
    if (!joined) {
        j->failed = 1;
        return NULL;
    }
    copy_part(joined, j->spill, a, j->a->spill, j->a->rows * row_bytes);
    copy_part(joined + j->a->rows * row_bytes, j->spill, b, j->b->spill, j->b->rows * row_bytes);
    return joined;
}

/* Writes the groups of a table, from `base` on; returns the first number after them. */
static size_t put_groups(size_t *out, broad__spill *spill, const broad_data *table, size_t base)
{
    const size_t step = STEP / sizeof *out;
    size_t end = base;
    for (size_t first = 0; first < table->rows; first += step) {
        size_t stop = table->rows - first < step ? table->rows : first + step;
        for (size_t i = first; i < stop; i++) {
            out[i] = base + (table->groups ? table->groups[i] : i);
            if (out[i] >= end) end = out[i] + 1;
        }
        broad__spill_done(spill, out + first, (stop - first) * sizeof *out);
        if (table->groups) broad__spill_done(table->spill, table->groups + first, (stop - first) * sizeof *out);
    }
    return end;
}

static size_t *join_groups(joining *j)
{
    if (!j->a->groups && !j->b->groups) return NULL;
    size_t *groups = broad__spill_alloc(j->spill, j->a->rows + j->b->rows, sizeof *groups);
    if (groups) put_groups(groups + j->a->rows, j->spill, j->b, put_groups(groups, j->spill, j->a, 0));
    else j->failed = 1;
    return groups;
}

int broad__table_append(broad_data **out, const broad_data *a, const broad_data *b)
{
    *out = NULL;
    int failed = 0, status = check_join(a, b);
    if (status == BROAD_OK) status = broad__table_gather(a);
    if (status == BROAD_OK) status = broad__table_gather(b);
    if (status < 0) return status;
    broad_data *both;
    const broad_data *wide = a->outputs < b->outputs ? b : a;
    status = part_new(&both, a->spill ? a : b, a->rows + b->rows);
    if (status < 0) return status;
    joining j = {.a = a, .b = b, .spill = both->spill};
    *both = *a;
    both->kept = (broad__kept){0};
    both->spill = j.spill;
    both->x_borrowed = 0;
    both->x_file = (broad__mapping){0};
    both->owned = NULL;
    both->rows = a->rows + b->rows;
    both->outputs = wide->outputs;
    both->x = join(&j, a->x, b->x, a->inputs * sizeof *a->x);
    both->classes = join(&j, a->classes, b->classes, sizeof *a->classes);
    both->values = join(&j, a->values, b->values, a->outputs * sizeof *a->values);
    both->weights = join(&j, a->weights, b->weights, sizeof *a->weights);
    both->groups = join_groups(&j);
    both->weight_name = copy_name(a->weight_name, &failed);
    both->notes = (broad__notes){0};
    failed |= broad__categories_copy(&both->categories, &a->categories) < 0;
    failed |= broad__forms_copy(&both->forms, &a->forms) < 0;
    failed |= broad__places_copy(&both->places, &a->places) < 0;
    failed |= broad__photos_join(&both->photos, &a->photos, a->rows, &b->photos, b->rows) < 0;
    both->group_name = copy_name(a->group_name ? a->group_name : b->group_name, &failed);
    both->input_names = copy_names(a->input_names, a->inputs, &failed);
    both->output_names = copy_names(wide->output_names, wide->outputs, &failed);
    both->target_name = copy_name(a->target_name, &failed);
    if (failed || j.failed) {
        broad__table_free(both);
        return BROAD_NO_MEMORY;
    }
    *out = both;
    return BROAD_OK;
}

void broad__table_target_rows(double *out, const broad_data *table, size_t first, size_t count)
{
    size_t outputs = table->outputs;
    if (table->task == BROAD_TASK_REGRESS) memcpy(out, table->values + first * outputs, count * outputs * sizeof *out);
    if (table->task != BROAD_TASK_CLASSIFY) return;
    memset(out, 0, count * outputs * sizeof *out);
    for (size_t i = 0; i < count; i++) out[i * outputs + table->classes[first + i]] = 1;
}

void broad__table_targets(double *out, const broad_data *table)
{
    const size_t step = STEP / sizeof *out;
    for (size_t first = 0; first < table->rows; first += step) {
        size_t count = table->rows - first < step ? table->rows - first : step;
        broad__table_target_rows(out + first * table->outputs, table, first, count);
        if (table->classes) broad__spill_done(table->spill, table->classes + first, count * sizeof *table->classes);
        if (table->values)
            broad__spill_done(table->spill, table->values + first * table->outputs,
                              count * table->outputs * sizeof *table->values);
    }
}

/* Whether no number is NaN or a zero below 0. As whole numbers, so that the loop vectorises. */
static int is_canonical(const double *numbers, size_t count)
{
    const uint64_t sign = (uint64_t)1 << 63, infinite = (uint64_t)0x7ff << 52;
    uint64_t odd = 0; /* its highest bit is set where one is */
    for (size_t i = 0, n; i < count; i += n) {
        n = broad__min(count - i, BROAD__STRETCH);
        if (n == BROAD__STRETCH) broad__ask_ahead(numbers + i);
        for (size_t k = i; k < i + n; k++) {
            uint64_t bits;
            memcpy(&bits, &numbers[k], sizeof bits);
            uint64_t turned = bits ^ sign;
            odd |= ((turned - 1) & ~turned) | (infinite - (bits & ~sign));
        }
    }
    return !(odd & sign);
}

/* Zeros of either sign are one number, and so are all NaNs. */
static void hash_canonical(broad__hash *hash, const double *numbers, size_t count)
{
    enum { AT_ONCE = 512 };
    double plain[AT_ONCE];
    for (size_t done = 0; done < count; done += AT_ONCE) {
        size_t now = broad__min(count - done, AT_ONCE);
        for (size_t i = 0; i < now; i++) {
            double value = numbers[done + i];
            plain[i] = isnan(value) ? (double)NAN : value + 0.0;
        }
        broad__hash_add(hash, plain, now * sizeof *plain);
    }
}

static void hash_numbers(broad__hash *hash, broad__spill *spill, const double *numbers, size_t count)
{
    enum { CACHED = 4096 };
    size_t released = 0;
    for (size_t done = 0; done < count;) {
        size_t now = broad__min(count - done, CACHED);
        if (is_canonical(numbers + done, now)) broad__hash_add(hash, numbers + done, now * sizeof *numbers);
        else hash_canonical(hash, numbers + done, now);
        done += now;
        if (done < count && (done - released) * sizeof *numbers < STEP) continue;
        if (broad__watch_look((double)STEP)) return;
        broad__spill_done(spill, numbers + released, (done - released) * sizeof *numbers);
        released = done;
    }
}

static void hash_classes(broad__hash *hash, broad__spill *spill, const size_t *classes, size_t count)
{
    const size_t step = STEP / sizeof *classes;
    for (size_t first = 0; first < count && !broad__watch_look((double)STEP); first += step) {
        size_t now = count - first < step ? count - first : step;
        for (size_t i = first; i < first + now; i++) {
            uint64_t class = classes[i];
            broad__hash_add(hash, &class, sizeof class);
        }
        broad__spill_done(spill, classes + first, now * sizeof *classes);
    }
}

/* The inputs of rows in their order, those of each rank by itself. */
typedef struct hashing {
    broad__hash *hash;
    const broad_data *table;
    size_t first, count;
} hashing;

static void hash_own_inputs(void *context)
{
    const hashing *h = context;
    const broad_data *table = h->table;
    size_t from, end, inputs = table->inputs;
    broad__owned_rows(&from, &end, table->owned, h->first, h->count);
    broad__hash_resume(h->hash);
    hash_numbers(h->hash, table->spill, table->x + from * inputs, (end - from) * inputs);
}

static int hash_inputs(hashing *h)
{
    size_t bytes;
    void *state = broad__hash_state(h->hash, &bytes);
    if (!broad__table_divided(h->table)) {
        hash_own_inputs(h);
        return BROAD_OK;
    }
    int status = broad__comm_pass(state, bytes, hash_own_inputs, h);
    if (status == BROAD_OK) status = broad__comm_broadcast_last(state, bytes);
    broad__hash_resume(h->hash);
    return status;
}

int broad__table_fingerprint(char out[33], const broad_data *table, size_t first, size_t count)
{
    hashing h = {broad__hash_open(), table, first, count};
    if (!h.hash) return BROAD_NO_MEMORY;
    /* Classes that no row has do not matter: a model may get further ones. */
    size_t outputs = table->task == BROAD_TASK_CLASSIFY ? 0 : table->outputs;
    uint64_t shape[4] = {count, table->inputs, outputs, (uint64_t)table->task};
    broad__hash_add(h.hash, shape, sizeof shape);
    int status = hash_inputs(&h);
    if (table->values)
        hash_numbers(h.hash, table->spill, table->values + first * table->outputs, count * table->outputs);
    if (table->classes) hash_classes(h.hash, table->spill, table->classes + first, count);
    if (table->weights) hash_numbers(h.hash, table->spill, table->weights + first, count);
    broad__hash_close(out, h.hash);
    return broad__watch_check(status);
}
