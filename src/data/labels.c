#include "data/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/format/number.h"

typedef struct sorted_label {
    broad__text text;
    double number;
    size_t id;
} sorted_label;

static int compare_bytes(const void *a, const void *b)
{
    const sorted_label *x = a, *y = b;
    size_t common = x->text.count < y->text.count ? x->text.count : y->text.count;
    int order = common ? memcmp(x->text.bytes, y->text.bytes, common) : 0;
    return order ? order : (x->text.count > y->text.count) - (x->text.count < y->text.count);
}

static int compare_numbers(const void *a, const void *b)
{
    const sorted_label *x = a, *y = b;
    int order = (x->number > y->number) - (x->number < y->number);
    return order ? order : compare_bytes(a, b);
}

static int all_numbers(sorted_label *labels, size_t count)
{
    int numbers = 1;
    for (size_t i = 0; i < count; i++)
        numbers &= broad__number_read(&labels[i].number, labels[i].text) == BROAD__NUMBER;
    return numbers;
}

/* The table takes names and ids over; class_of turns these into classes. */
static void install(broad_data *table, char **names, size_t count, broad__distinct *labels, const size_t *class_of)
{
    broad__free(table->output_names);
    broad__spill_free(table->spill, table->classes);
    broad__ids_map(labels->ids, table->rows, class_of, table->spill);
    table->task = BROAD_TASK_CLASSIFY;
    table->outputs = count;
    table->output_names = names;
    table->classes = labels->ids;
    labels->ids = NULL;
}

static int check_labels(const broad__distinct *labels, const char *target, size_t least)
{
    char quoted[BROAD__QUOTE_BYTES];
    if (labels->count > BROAD__CLASSES_MAX)
        return broad__fail(
            BROAD_BAD_DATA,
            "%s: more than %d different labels; is this the target? Choose it with option target, or set "
            "option task to regress if it is a number",
            target, BROAD__CLASSES_MAX);
    for (size_t i = 0; i < labels->count; i++) {
        if (!labels->texts[i].count) return broad__fail(BROAD_BAD_DATA, "%s: a label is empty", target);
        if (!broad__text_is_utf8(labels->texts[i]))
            return broad__fail(BROAD_BAD_DATA, "%s: the label %s is not UTF-8 text; convert the file with iconv",
                               target, broad__text_quote(quoted, labels->texts[i]));
    }
    if (labels->count && labels->count < least)
        return broad__fail(BROAD_BAD_DATA, "%s: only one class, %s; a classification needs two or more", target,
                           broad__text_quote(quoted, labels->texts[0]));
    return BROAD_OK;
}

int broad__labels_order(size_t *rank, const broad__text *texts, size_t count)
{
    sorted_label *sorted = broad__alloc_array(count, sizeof *sorted);
    if (!sorted) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) sorted[i] = (sorted_label){.text = texts[i], .id = i};
    qsort(sorted, count, sizeof *sorted, all_numbers(sorted, count) ? compare_numbers : compare_bytes);
    for (size_t i = 0; i < count; i++) rank[sorted[i].id] = i;
    broad__free(sorted);
    return BROAD_OK;
}

int broad__labels_sort(broad_data *table, broad__distinct *labels, const char *target, size_t least)
{
    int status = check_labels(labels, target, least);
    if (status < 0) return status;
    size_t count = labels->count;
    size_t *rank = broad__alloc_array(count, sizeof *rank);
    broad__text *texts = broad__alloc_array(count, sizeof *texts);
    char **names = NULL;
    status = BROAD_NO_MEMORY;
    if (!rank || !texts) goto cleanup;
    status = broad__labels_order(rank, labels->texts, count);
    if (status < 0) goto cleanup;
    for (size_t i = 0; i < count; i++) texts[rank[i]] = labels->texts[i];
    names = broad__names_copy(texts, count);
    status = names ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) install(table, names, count, labels, rank);

cleanup:
    broad__free(rank);
    broad__free(texts);
    return status;
}

/* Finds each label among the names: both go through one numbering, names first, so names get the low numbers. A label
 * that is a number in another form ("3.0" for "3") is looked for in its shortest form too. */
static int match_ids(size_t *out, const broad__distinct *labels, const broad__text *names, size_t count)
{
    int status = BROAD_NO_MEMORY;
    size_t all = count + 2 * labels->count;
    broad__distinct joint = {0};
    broad__text *texts = broad__alloc_array(all, sizeof *texts);
    char *printed = broad__alloc_array(labels->count, BROAD__NUMBER_BYTES);
    if (!texts || !printed) goto cleanup;
    if (count) memcpy(texts, names, count * sizeof *texts);
    for (size_t i = 0; i < labels->count; i++) {
        double number;
        texts[count + 2 * i] = texts[count + 2 * i + 1] = labels->texts[i];
        if (broad__number_read(&number, labels->texts[i]) != BROAD__NUMBER) continue;
        broad__number_print(printed + i * BROAD__NUMBER_BYTES, number);
        texts[count + 2 * i + 1] = broad__text_of(printed + i * BROAD__NUMBER_BYTES);
    }
    status = broad__distinct_texts(&joint, texts, all, all);
    if (status < 0) goto cleanup;
    for (size_t i = 0; i < labels->count; i++) {
        const size_t *found = &joint.ids[count + 2 * i];
        out[i] = found[0] < count ? found[0] : found[1] < count ? found[1] : count;
    }

cleanup:
    broad__distinct_clear(&joint, NULL);
    broad__free(texts);
    broad__free(printed);
    return status;
}

static int fail_unknown(const broad__distinct *labels, const size_t *found, size_t count)
{
    enum { SHOWN = 10 };
    char list[SHOWN * (BROAD__QUOTE_BYTES + 2) + 1] = "";
    char *at = list;
    size_t unknown = 0;
    for (size_t i = 0; i < labels->count; i++) {
        if (found[i] < count) continue;
        if (unknown++ >= SHOWN) continue;
        char quoted[BROAD__QUOTE_BYTES];
        if (at > list) at = stpcpy(at, ", ");
        at = stpcpy(at, broad__text_quote(quoted, labels->texts[i]));
    }
    broad__fail(BROAD_BAD_DATA, "%zu label%s the model does not know: %s%s", unknown, unknown == 1 ? "" : "s", list,
                unknown > SHOWN ? ", ..." : "");
    return broad__fail_because(BROAD_BAD_DATA, BROAD_REASON_UNKNOWN_LABEL);
}

/* Labels that were not found get places after the `count` names: texts[count + i] is the i-th new one. Returns how many. */
static int add_unknown(broad__text *texts, size_t *total, size_t *found, const broad__distinct *labels, size_t count)
{
    sorted_label *fresh = broad__alloc_array(labels->count, sizeof *fresh);
    if (!fresh) return BROAD_NO_MEMORY;
    size_t unknown = 0;
    for (size_t i = 0; i < labels->count; i++)
        if (found[i] == count) fresh[unknown++] = (sorted_label){.text = labels->texts[i], .id = i};
    qsort(fresh, unknown, sizeof *fresh, all_numbers(fresh, unknown) ? compare_numbers : compare_bytes);
    for (size_t i = 0; i < unknown; i++) {
        texts[count + i] = fresh[i].text;
        found[fresh[i].id] = count + i;
    }
    *total = count + unknown;
    broad__free(fresh);
    return BROAD_OK;
}

int broad__labels_match(broad_data *table, broad__distinct *labels, const char *const *names, size_t count, int extend)
{
    int status = BROAD_NO_MEMORY;
    size_t total = count;
    size_t *found = broad__alloc_array(labels->count, sizeof *found);
    broad__text *texts = broad__alloc_array(count + labels->count, sizeof *texts);
    char **copy = NULL;
    if (!found || !texts) goto cleanup;
    for (size_t i = 0; i < count; i++) texts[i] = broad__text_of(names[i]);
    status = match_ids(found, labels, texts, count);
    if (status == BROAD_OK && extend) status = add_unknown(texts, &total, found, labels, count);
    for (size_t i = 0; i < labels->count && status == BROAD_OK; i++)
        if (found[i] == count && !extend) status = fail_unknown(labels, found, count);
    if (status < 0) goto cleanup;
    copy = broad__names_copy(texts, total);
    if (copy) install(table, copy, total, labels, found);
    else status = BROAD_NO_MEMORY;

cleanup:
    broad__free(found);
    broad__free(texts);
    return status;
}

int broad__labels_group(broad_data *table, broad__distinct *groups, const char *name)
{
    char *copy = broad__copy_text(name);
    if (!copy) return BROAD_NO_MEMORY;
    broad__free(table->group_name);
    broad__spill_free(table->spill, table->groups);
    table->group_name = copy;
    table->groups = groups->ids;
    groups->ids = NULL;
    return BROAD_OK;
}

static int distinct_strings(broad__distinct *out, const char *const *labels, size_t rows, size_t maximum)
{
    *out = (broad__distinct){0};
    broad__text *texts = broad__alloc_array(rows, sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < rows; i++) texts[i] = broad__text_of(labels[i]);
    int status = broad__distinct_texts(out, texts, rows, maximum);
    broad__free(texts);
    return status;
}

int broad__table_set_labels(broad_data *table, const char *const *labels)
{
    broad__distinct distinct;
    int status = distinct_strings(&distinct, labels, table->rows, BROAD__CLASSES_MAX);
    if (status == BROAD_OK) status = broad__labels_sort(table, &distinct, "target", 2);
    broad__distinct_clear(&distinct, NULL);
    return status;
}

int broad__table_set_groups(broad_data *table, const char *const *groups, const char *name)
{
    broad__distinct distinct;
    int status = distinct_strings(&distinct, groups, table->rows, table->rows);
    if (status == BROAD_OK) status = broad__labels_group(table, &distinct, name);
    broad__distinct_clear(&distinct, NULL);
    return status;
}
