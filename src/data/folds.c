/*
 * Rows are dealt like cards: class after class, each in random order, to the folds in turn, without starting anew for the
 * next class. Then folds differ by at most one row in all, and by at most one row of any class. A regression is dealt as
 * one class.
 *
 * Groups cannot be dealt so evenly: the largest goes first, each to the fold that has the fewest rows so far, of its class where
 * the groups are copies of rows. Groups of one size come in random order.
 */
#include "data/folds.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/copies.h"
#include "data/split.h"

/* ---- rows ---- */

/* A class with one row would have none to train on while that row is tested. */
static int check_classes(const size_t *sizes, const broad_data *table)
{
    for (size_t c = 0; c < table->outputs; c++)
        if (sizes[c] == 1)
            return broad__fail(
                BROAD_BAD_DATA,
                "class '%.100s' has only one row, so no fold can both train and test on it; add rows, or "
                "remove it",
                table->output_names[c]);
    return BROAD_OK;
}

/* Where in the order of all rows each class begins. sizes: classes; turned into the beginnings. */
static void begin_classes(size_t *sizes, size_t classes)
{
    size_t before = 0;
    for (size_t c = 0; c < classes; c++) {
        size_t size = sizes[c];
        sizes[c] = before;
        before += size;
    }
}

static int deal_rows(size_t *out, const broad_data *table, size_t count, uint64_t seed)
{
    const size_t *classes = table->task == BROAD_TASK_CLASSIFY ? table->classes : NULL;
    int status = BROAD_NO_MEMORY;
    size_t *places = broad__alloc_array(classes ? table->outputs : 1, sizeof *places);
    size_t *order = broad__shuffled(table->rows, seed);
    if (!places || !order) goto cleanup;
    for (size_t i = 0; i < table->rows; i++) places[classes ? classes[i] : 0]++;
    status = classes ? check_classes(places, table) : BROAD_OK;
    if (status < 0) goto cleanup;
    begin_classes(places, classes ? table->outputs : 1);
    for (size_t i = 0; i < table->rows; i++) out[order[i]] = places[classes ? classes[order[i]] : 0]++ % count;

cleanup:
    broad__free(places);
    broad__free(order);
    return status;
}

/* ---- groups ---- */

typedef struct sized {
    size_t group, size, order;
    size_t class; /* of copies of a row; else 0 */
} sized;

/* Where groups go: rows of each fold, and of each class in each fold. */
typedef struct dealing {
    size_t count; /* folds */
    size_t *rows, *class_rows;
} dealing;

static int compare_sizes(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* To the fold that has the fewest rows of the class, and of those to the one that has the fewest rows. */
static void deal_groups_sorted(size_t *fold_of, const dealing *d, const sized *items, size_t items_count)
{
    for (size_t i = 0; i < items_count; i++) {
        size_t min = 0, *of_class = d->class_rows + items[i].class * d->count;
        for (size_t f = 1; f < d->count; f++)
            if (of_class[f] < of_class[min] || (of_class[f] == of_class[min] && d->rows[f] < d->rows[min])) min = f;
        d->rows[min] += items[i].size;
        of_class[min] += items[i].size;
        fold_of[items[i].group] = min;
    }
}

/* The classes of groups that are copies of rows. */
static int find_classes(sized *items, const broad__group_order *groups, const broad_data *table)
{
    if (!broad__groups_are_copies(table)) return BROAD_OK;
    size_t *class_of = broad__alloc_array(groups->numbers, sizeof *class_of);
    if (!class_of) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < table->rows; i++) class_of[table->groups[i]] = table->classes[i];
    for (size_t i = 0; i < groups->count; i++) items[i].class = class_of[items[i].group];
    broad__free(class_of);
    return BROAD_OK;
}

static int deal_groups(size_t *out, const broad_data *table, size_t count, uint64_t seed)
{
    broad__group_order groups = {0};
    sized *items = NULL;
    size_t *fold_of = NULL, classes = broad__groups_are_copies(table) ? table->outputs : 1;
    dealing d = {.count = count};
    int status = broad__groups_shuffled(&groups, table, seed);
    if (status < 0) return status;
    if (groups.count < count) {
        status = broad__fail(BROAD_BAD_DATA, "%zu folds need as many groups, but %s'%.100s' has %zu; use fewer folds%s",
                             count, table->photos.items || broad__groups_are_copies(table) ? "" : "column ",
                             table->group_name ? table->group_name : "group", groups.count, broad__group_remedy(table));
        goto cleanup;
    }
    status = BROAD_NO_MEMORY;
    items = broad__alloc_array(groups.count, sizeof *items);
    d.rows = broad__alloc_array(count, sizeof *d.rows);
    d.class_rows = broad__alloc_array(classes * count, sizeof *d.class_rows);
    fold_of = broad__alloc_array(groups.numbers, sizeof *fold_of);
    if (!items || !d.rows || !d.class_rows || !fold_of) goto cleanup;
    for (size_t i = 0; i < groups.count; i++) items[i] = (sized){groups.order[i], groups.sizes[groups.order[i]], i, 0};
    status = find_classes(items, &groups, table);
    if (status < 0) goto cleanup;
    qsort(items, groups.count, sizeof *items, compare_sizes);
    deal_groups_sorted(fold_of, &d, items, groups.count);
    for (size_t i = 0; i < table->rows; i++) out[i] = fold_of[table->groups[i]];

cleanup:
    broad__free(items);
    broad__free(d.rows);
    broad__free(d.class_rows);
    broad__free(fold_of);
    broad__group_order_clear(&groups);
    return status;
}

/* ---- either ---- */

int broad__folds(size_t *out, const broad_data *table, size_t count, uint64_t seed)
{
    if (count < 2)
        return broad__fail(BROAD_USAGE, "cross-validation needs at least 2 folds, for example 5; %zu were given",
                           count);
    if (count > table->rows)
        return broad__fail(BROAD_BAD_DATA, "%zu folds need as many rows, but there are %zu; use fewer folds", count,
                           table->rows);
    return table->groups ? deal_groups(out, table, count, seed) : deal_rows(out, table, count, seed);
}

int broad__fold(broad_data **out_train, broad_data **out_test, const broad_data *table, size_t count, size_t index,
                uint64_t seed)
{
    *out_train = *out_test = NULL;
    if (index >= count) return broad__fail(BROAD_USAGE, "there is no fold %zu of %zu; the first is 0", index, count);
    int status = BROAD_NO_MEMORY;
    size_t *folds = broad__alloc_array(table->rows, sizeof *folds);
    unsigned char *apart = broad__alloc(table->rows);
    if (folds && apart) status = broad__folds(folds, table, count, seed);
    for (size_t i = 0; status == BROAD_OK && i < table->rows; i++) apart[i] = folds[i] == index;
    if (status == BROAD_OK) status = broad__cut(out_train, out_test, table, apart);
    broad__free(folds);
    broad__free(apart);
    return status;
}
