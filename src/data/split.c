/*
 * Every row (or group) has a random key, the Philox number of its index; the rows with the smallest keys are held out, of equal ones the
 * first. The choice thus depends on the table, the fraction and the seed alone.
 */
#include "data/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/copies.h"
#include "data/photo/photo_rows.h"
#include "rng/philox.h"

static const size_t ROWS = (size_t)1 << 16; /* whose keys are computed, and whose memory is released, at a time */

/* The last ROWS rows up to this one. */
static void groups_done(const broad_data *table, size_t row)
{
    broad__spill_done(table->spill, table->groups + row + 1 - ROWS, ROWS * sizeof *table->groups);
}

typedef struct keyed {
    double key;
    size_t index;
} keyed;

static int compare_keys(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

size_t *broad__shuffled(size_t count, uint64_t seed)
{
    broad__stream stream = {.seed = seed, .purpose = BROAD__FOR_SPLIT};
    keyed *items = broad__alloc_array(count, sizeof *items);
    size_t *order = broad__alloc_array(count, sizeof *order);
    if (items && order) {
        for (size_t i = 0; i < count; i++) items[i] = (keyed){broad__random_at(&stream, i), i};
        qsort(items, count, sizeof *items, compare_keys);
        for (size_t i = 0; i < count; i++) order[i] = items[i].index;
    } else {
        broad__free(order);
        order = NULL;
    }
    broad__free(items);
    return order;
}

int broad__groups_shuffled(broad__group_order *out, const broad_data *table, uint64_t seed)
{
    size_t numbers = 0;
    for (size_t i = 0; i < table->rows; i++) {
        if (table->groups[i] >= numbers) numbers = table->groups[i] + 1;
        if (i % ROWS == ROWS - 1) groups_done(table, i);
    }
    out->count = 0;
    out->numbers = numbers;
    out->sizes = broad__alloc_array(numbers, sizeof *out->sizes);
    out->order = broad__shuffled(numbers, seed);
    if (!out->sizes || !out->order) {
        broad__group_order_clear(out);
        return BROAD_NO_MEMORY;
    }
    for (size_t i = 0; i < table->rows; i++) {
        out->sizes[table->groups[i]]++;
        if (i % ROWS == ROWS - 1) groups_done(table, i);
    }
    for (size_t i = 0; i < numbers; i++)
        if (out->sizes[out->order[i]]) out->order[out->count++] = out->order[i];
    return BROAD_OK;
}

void broad__group_order_clear(broad__group_order *groups)
{
    broad__free(groups->order);
    broad__free(groups->sizes);
    *groups = (broad__group_order){0};
}

static size_t wanted_rows(size_t rows, double holdout) { return (size_t)floor((double)rows * holdout + 0.5); }

/* Goes through the groups in random order and takes each that brings the number of rows nearer to the one wanted. If
 * every group is too large for that, the smallest is taken: the nearest that keeps anything apart. */
static void take_groups(unsigned char *taken, const broad__group_order *groups, double wanted)
{
    double have = 0, all = 0;
    for (size_t i = 0; i < groups->count; i++) all += (double)groups->sizes[groups->order[i]];
    size_t smallest = groups->order[0];
    for (size_t i = 0; i < groups->count; i++) {
        size_t group = groups->order[i];
        if (groups->sizes[group] < groups->sizes[smallest]) smallest = group;
        double with = have + (double)groups->sizes[group];
        if (with == all || fabs(with - wanted) >= fabs(have - wanted)) continue;
        taken[group] = 1;
        have = with;
    }
    if (have == 0) taken[smallest] = 1;
}

/* Copies of a row are of one class: then the groups of each class are divided by themselves. */
static int take_groups_by_class(unsigned char *taken, const broad__group_order *groups, const broad_data *table,
                                double holdout)
{
    size_t *class_of = broad__alloc_array(groups->numbers, sizeof *class_of);
    double *all = broad__alloc_doubles(2, table->outputs), *have = all ? all + table->outputs : NULL;
    size_t count = 0;
    for (size_t i = 0; class_of && all && i < table->rows; i++) {
        class_of[table->groups[i]] = table->classes[i];
        all[table->classes[i]]++;
        if (i % ROWS != ROWS - 1) continue;
        groups_done(table, i);
        broad__spill_done(table->spill, table->classes + i + 1 - ROWS, ROWS * sizeof *table->classes);
    }
    for (size_t i = 0; class_of && all && i < groups->count; i++) {
        size_t group = groups->order[i], class = class_of[group];
        double with = have[class] + (double)groups->sizes[group], wanted = holdout * all[class];
        if (with == all[class] || fabs(with - wanted) >= fabs(have[class] - wanted)) continue;
        taken[group] = 1;
        have[class] = with;
        count++;
    }
    int status = class_of && all ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK && !count) take_groups(taken, groups, (double)table->rows * holdout);
    broad__free(class_of);
    broad__free(all);
    return status;
}

static int choose_groups(unsigned char *apart, const broad_data *table, double holdout, uint64_t seed)
{
    broad__group_order groups;
    int status = broad__groups_shuffled(&groups, table, seed);
    if (status < 0) return status;
    unsigned char *taken = broad__alloc(groups.numbers);
    if (!taken) status = BROAD_NO_MEMORY;
    else if (groups.count && broad__groups_are_copies(table))
        status = take_groups_by_class(taken, &groups, table, holdout);
    else if (groups.count) take_groups(taken, &groups, (double)table->rows * holdout);
    for (size_t i = 0; status == BROAD_OK && i < table->rows; i++) {
        apart[i] = taken[table->groups[i]];
        if (i % ROWS != ROWS - 1) continue;
        groups_done(table, i);
        broad__spill_done(table->spill, apart + i + 1 - ROWS, ROWS);
    }
    broad__free(taken);
    broad__group_order_clear(&groups);
    return status;
}

typedef struct share {
    size_t class, rows, taken;
    size_t max;  /* that may be held out: all but one row of a class */
    double rest; /* of the exact share, above `taken` */
} share;

static int compare_rests(const void *a, const void *b)
{
    const share *x = a, *y = b;
    if (x->rest != y->rest) return x->rest > y->rest ? -1 : 1;
    return (x->class > y->class) - (x->class < y->class);
}

/* Largest remainders until the whole is right, in rounds over the classes that can still give. */
static void complete_shares(share *shares, size_t classes, size_t wanted)
{
    size_t have = 0, giving = classes;
    for (size_t i = 0; i < classes; i++) have += shares[i].taken;
    qsort(shares, classes, sizeof *shares, compare_rests);
    while (have < wanted && giving) {
        size_t kept = 0;
        for (size_t i = 0; i < giving && have < wanted; i++) {
            if (shares[i].taken == shares[i].max) continue;
            shares[i].taken++;
            have++;
            share swapped = shares[kept];
            shares[kept++] = shares[i];
            shares[i] = swapped;
        }
        giving = kept;
    }
}

/*
 * The `wanted` smallest keys of a class, without sorting them or having them at once: the bits of the last of them are found
 * from the top, some in each pass over the rows, from how many keys of the class have which bits there.
 */
typedef struct selection {
    uint64_t prefix; /* of the key that is looked for, the bits known so far */
    size_t wanted;   /* how many of the keys that begin so are taken */
} selection;

enum { KEY_BITS = 64 };

/* Keys are not negative: their bits rise as they do. */
static void row_keys(uint64_t *out, uint64_t seed, size_t first, size_t count)
{
    broad__stream stream = {.seed = seed, .purpose = BROAD__FOR_SPLIT};
    double keys[256];
    for (size_t done = 0; done < count;) {
        size_t now = count - done < 256 ? count - done : 256;
        broad__random_fill(keys, &stream, first + done, now);
        memcpy(out + done, keys, now * sizeof *out);
        done += now;
    }
}

typedef struct choosing {
    const broad_data *table;
    const size_t *classes; /* NULL: all rows are one class */
    size_t class_count;
    uint64_t seed;
    uint64_t *keys; /* ROWS, or as many as there are */
    selection *selections;
    size_t *counts; /* class_count << bits */
} choosing;

static void classes_done(const choosing *c, size_t first, size_t count)
{
    if (c->classes) broad__spill_done(c->table->spill, c->classes + first, count * sizeof *c->classes);
}

/* One pass: the bits below `shift` + `bits`, down to `shift`. */
static void select_bits(choosing *c, int shift, int bits)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    memset(c->counts, 0, (c->class_count << bits) * sizeof *c->counts);
    for (size_t first = 0; first < c->table->rows; first += ROWS) {
        size_t count = c->table->rows - first < ROWS ? c->table->rows - first : ROWS;
        row_keys(c->keys, c->seed, first, count);
        for (size_t i = 0; i < count; i++) {
            size_t class = c->classes ? c->classes[first + i] : 0;
            uint64_t key = c->keys[i] >> shift;
            if (key >> bits == c->selections[class].prefix) c->counts[(class << bits) + (key & mask)]++;
        }
        classes_done(c, first, count);
    }
    for (size_t k = 0; k < c->class_count; k++) {
        const size_t *counts = c->counts + (k << bits);
        selection *s = &c->selections[k];
        uint64_t digit = 0;
        while (digit < mask && counts[digit] < s->wanted) s->wanted -= counts[digit++];
        s->prefix = s->prefix << bits | digit;
    }
}

/* Of equal keys the first rows are taken. */
static void mark_selected(unsigned char *apart, choosing *c)
{
    for (size_t first = 0; first < c->table->rows; first += ROWS) {
        size_t count = c->table->rows - first < ROWS ? c->table->rows - first : ROWS;
        row_keys(c->keys, c->seed, first, count);
        for (size_t i = 0; i < count; i++) {
            selection *s = &c->selections[c->classes ? c->classes[first + i] : 0];
            int equal = c->keys[i] == s->prefix && s->wanted;
            apart[first + i] = c->keys[i] < s->prefix || equal;
            if (equal) s->wanted--;
        }
        classes_done(c, first, count);
        broad__spill_done(c->table->spill, apart + first, count);
    }
}

/* wanted: how many rows of each class are held out. */
static int choose_smallest(unsigned char *apart, const broad_data *table, const size_t *classes, size_t class_count,
                           const size_t *wanted, uint64_t seed)
{
    /* Few rows are passed over more often, rather than counted in tables that are larger than they are. */
    const int bits = class_count <= 256 && table->rows >= (size_t)1 << 12 ? 16 : 4;
    choosing c = {.table = table, .classes = classes, .class_count = class_count, .seed = seed};
    int status = BROAD_NO_MEMORY;
    c.keys = broad__alloc_array(table->rows < ROWS ? table->rows : ROWS, sizeof *c.keys);
    c.selections = broad__alloc_array(class_count, sizeof *c.selections);
    c.counts = broad__alloc_array(class_count, sizeof *c.counts << bits);
    if (!c.keys || !c.selections || !c.counts) goto cleanup;
    for (size_t k = 0; k < class_count; k++) c.selections[k].wanted = wanted[k];
    for (int shift = KEY_BITS - bits; shift >= 0; shift -= bits) select_bits(&c, shift, bits);
    mark_selected(apart, &c);
    status = BROAD_OK;

cleanup:
    broad__free(c.keys);
    broad__free(c.selections);
    broad__free(c.counts);
    return status;
}

static int choose_random(unsigned char *apart, const broad_data *table, double holdout, uint64_t seed)
{
    size_t wanted = wanted_rows(table->rows, holdout);
    return choose_smallest(apart, table, NULL, 1, &wanted, seed);
}

static int choose_by_class(unsigned char *apart, const broad_data *table, double holdout, uint64_t seed)
{
    int status = BROAD_NO_MEMORY;
    share *shares = broad__alloc_array(table->outputs, sizeof *shares);
    size_t *wanted = broad__alloc_array(table->outputs, sizeof *wanted);
    if (!shares || !wanted) goto cleanup;
    for (size_t i = 0; i < table->rows; i++) {
        shares[table->classes[i]].rows++;
        if (i % ROWS == ROWS - 1)
            broad__spill_done(table->spill, table->classes + i + 1 - ROWS, ROWS * sizeof *table->classes);
    }
    for (size_t c = 0; c < table->outputs; c++) {
        share *s = &shares[c];
        double exact = holdout * (double)s->rows;
        s->class = c;
        s->max = s->rows ? s->rows - 1 : 0;
        s->taken = (size_t)exact < s->max ? (size_t)exact : s->max;
        s->rest = exact - (double)s->taken;
    }
    complete_shares(shares, table->outputs, wanted_rows(table->rows, holdout));
    for (size_t c = 0; c < table->outputs; c++) wanted[shares[c].class] = shares[c].taken;
    status = choose_smallest(apart, table, table->classes, table->outputs, wanted, seed);

cleanup:
    broad__free(shares);
    broad__free(wanted);
    return status;
}

static int is_copy(const broad_data *table, size_t row)
{
    return table->photos.items && table->photos.items[row].copy > 0;
}

/* The rows that `apart` puts on this side; returns how many. */
static size_t list_rows(size_t *out, const broad_data *table, const unsigned char *apart, unsigned char side)
{
    size_t count = 0, released = 0;
    for (size_t i = 0; i < table->rows; i++) {
        if (apart[i] == side && !(side && is_copy(table, i))) out[count++] = i;
        if (i % ROWS != ROWS - 1) continue;
        broad__spill_done(table->spill, apart + i + 1 - ROWS, ROWS);
        broad__spill_done(table->spill, out + released, (count - released) * sizeof *out);
        released = count;
    }
    return count;
}

int broad__cut(broad_data **out_train, broad_data **out_test, const broad_data *table, const unsigned char *apart)
{
    *out_train = *out_test = NULL;
    size_t *rows = broad__spill_alloc(table->spill, table->rows, sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    size_t train = list_rows(rows, table, apart, 0);
    int status = broad__table_deal(out_train, table, rows, train);
    if (status == BROAD_OK) status = broad__table_deal(out_test, table, rows, list_rows(rows, table, apart, 1));
    broad__spill_free(table->spill, rows);
    if (status < 0) {
        broad__table_free(*out_train);
        *out_train = NULL;
        return status;
    }
    (*out_train)->split_holdout = (*out_test)->split_holdout = 0;
    (*out_train)->split_seed = (*out_test)->split_seed = 0;
    return BROAD_OK;
}

const char *broad__group_remedy(const broad_data *table)
{
    if (!table->groups || !table->group_name || strcmp(table->group_name, BROAD__NEAR_DUPLICATES) != 0) return "";
    return "; photos that look alike stay together: group by a column of option labels instead (option group), or "
           "treat each photo separately (option no-groups)";
}

static int check_parts(const broad_data *table, const unsigned char *apart, double holdout)
{
    size_t count = 0;
    for (size_t i = 0; i < table->rows; i++) count += apart[i];
    const char *unit = table->groups ? "rows in whole groups" : "rows", *remedy = broad__group_remedy(table);
    if (count == 0)
        return broad__fail(BROAD_BAD_DATA,
                           "a holdout of %g of %zu %s holds out nothing; use a larger part, or more rows%s", holdout,
                           table->rows, unit, remedy);
    if (count == table->rows)
        return broad__fail(BROAD_BAD_DATA,
                           "a holdout of %g of %zu %s leaves nothing to train on; use a smaller part, or more rows%s",
                           holdout, table->rows, unit, remedy);
    return BROAD_OK;
}

int broad__split(broad_data **out_train, broad_data **out_test, const broad_data *table, double holdout, uint64_t seed)
{
    *out_train = *out_test = NULL;
    if (!(holdout > 0 && holdout < 1))
        return broad__fail(BROAD_USAGE, "the holdout is %g; it must lie between 0 and 1, for example 0.3", holdout);
    int status = BROAD_NO_MEMORY;
    unsigned char *apart = broad__spill_alloc(table->spill, table->rows, 1);
    if (!apart) goto cleanup;
    if (table->groups) status = choose_groups(apart, table, holdout, seed);
    else if (table->task == BROAD_TASK_CLASSIFY) status = choose_by_class(apart, table, holdout, seed);
    else status = choose_random(apart, table, holdout, seed);
    if (status == BROAD_OK) status = check_parts(table, apart, holdout);
    if (status == BROAD_OK) status = broad__cut(out_train, out_test, table, apart);

cleanup:
    broad__spill_free(table->spill, apart);
    if (status < 0) return status;
    (*out_train)->split_holdout = holdout;
    (*out_train)->split_seed = seed;
    return BROAD_OK;
}
