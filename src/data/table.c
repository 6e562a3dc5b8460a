#include "data/table.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/photo_rows.h"
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
    broad__free(table->x);
    broad__free(table->classes);
    broad__free(table->values);
    broad__free(table->input_names);
    broad__free(table->output_names);
    broad__free(table->target_name);
    broad__free(table->groups);
    broad__free(table->group_name);
    broad__free(table->weights);
    broad__free(table->weight_name);
    broad__categories_clear(&table->categories);
    broad__photos_clear(&table->photos);
    broad__free(table);
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

/* Elements `rows` of an array with `columns` elements a row; NULL for NULL. */
static void *pick(const void *from, const size_t *rows, size_t count, size_t columns, size_t bytes, int *failed)
{
    if (!from) return NULL;
    size_t row_bytes = columns * bytes; /* of an array that exists: it fits */
    char *to = broad__alloc_array(count, row_bytes);
    if (!to) *failed = 1;
    for (size_t i = 0; to && i < count; i++)
        memcpy(to + i * row_bytes, (const char *)from + rows[i] * row_bytes, row_bytes);
    return to;
}

int broad__table_rows(broad_data **out, const broad_data *table, const size_t *rows, size_t count)
{
    *out = NULL;
    int failed = 0;
    broad_data *part = broad__alloc(sizeof *part);
    if (!part) return BROAD_NO_MEMORY;
    *part = *table;
    part->rows = count;
    part->x = pick(table->x, rows, count, table->inputs, sizeof *table->x, &failed);
    part->classes = pick(table->classes, rows, count, 1, sizeof *table->classes, &failed);
    part->values = pick(table->values, rows, count, table->outputs, sizeof *table->values, &failed);
    part->groups = pick(table->groups, rows, count, 1, sizeof *table->groups, &failed);
    part->input_names = copy_names(table->input_names, table->inputs, &failed);
    part->output_names = copy_names(table->output_names, table->outputs, &failed);
    part->target_name = copy_name(table->target_name, &failed);
    part->group_name = copy_name(table->group_name, &failed);
    part->weights = pick(table->weights, rows, count, 1, sizeof *table->weights, &failed);
    part->weight_name = copy_name(table->weight_name, &failed);
    failed |= broad__categories_copy(&part->categories, &table->categories) < 0;
    failed |= broad__photos_pick(&part->photos, &table->photos, rows, count) < 0;
    if (failed) {
        broad__table_free(part);
        return BROAD_NO_MEMORY;
    }
    *out = part;
    return BROAD_OK;
}

int broad__table_thin(broad_data **out, const broad_data *table, size_t count)
{
    size_t *rows = broad__alloc_array(count, sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) rows[i] = (size_t)((double)i * (double)table->rows / (double)count);
    int status = broad__table_rows(out, table, rows, count);
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
        return broad__fail(BROAD_BAD_DATA, "the columns of categories of the two files have not the same levels; read "
                                           "the second with a model of the first");
    if (!a->photos.spec.maps != !b->photos.spec.maps ||
        memcmp(&a->photos.spec, &b->photos.spec, sizeof a->photos.spec) != 0)
        return broad__fail(BROAD_BAD_DATA, "the photos of one folder were not read as those of the other; read the "
                                           "second with a model of the first");
    if (!a->weights != !b->weights)
        return broad__fail(BROAD_BAD_DATA, "the rows of one file have weights, those of the other none; give both or "
                                           "neither");
    size_t shared = a->outputs < b->outputs ? a->outputs : b->outputs;
    for (size_t c = 0; a->task == BROAD_TASK_CLASSIFY && c < shared; c++)
        if (strcmp(a->output_names[c], b->output_names[c]) != 0)
            return broad__fail(BROAD_BAD_DATA, "class %zu is '%s' in one file and '%s' in the other", c + 1,
                               a->output_names[c], b->output_names[c]);
    return BROAD_OK;
}

static void *join(const void *a, size_t a_bytes, const void *b, size_t b_bytes, int *failed)
{
    if (!a || !b) return NULL;
    char *joined = broad__alloc(a_bytes + b_bytes);
    if (!joined) {
        *failed = 1;
        return NULL;
    }
    memcpy(joined, a, a_bytes);
    memcpy(joined + a_bytes, b, b_bytes);
    return joined;
}

/* Writes the groups of a table, from `base` on; returns the first number after them. */
static size_t put_groups(size_t *out, const broad_data *table, size_t base)
{
    size_t end = base;
    for (size_t i = 0; i < table->rows; i++) {
        out[i] = base + (table->groups ? table->groups[i] : i);
        if (out[i] >= end) end = out[i] + 1;
    }
    return end;
}

static size_t *join_groups(const broad_data *a, const broad_data *b, int *failed)
{
    if (!a->groups && !b->groups) return NULL;
    size_t *groups = broad__alloc_array(a->rows + b->rows, sizeof *groups);
    if (groups) put_groups(groups + a->rows, b, put_groups(groups, a, 0));
    else *failed = 1;
    return groups;
}

int broad__table_append(broad_data **out, const broad_data *a, const broad_data *b)
{
    *out = NULL;
    int failed = 0, status = check_join(a, b);
    if (status < 0) return status;
    broad_data *both = broad__alloc(sizeof *both);
    if (!both) return BROAD_NO_MEMORY;
    const broad_data *wide = a->outputs < b->outputs ? b : a;
    size_t x = a->inputs * sizeof *a->x, y = a->outputs * sizeof *a->values;
    *both = *a;
    both->rows = a->rows + b->rows;
    both->outputs = wide->outputs;
    both->x = join(a->x, a->rows * x, b->x, b->rows * x, &failed);
    both->classes = join(a->classes, a->rows * sizeof *a->classes, b->classes, b->rows * sizeof *b->classes, &failed);
    both->values = join(a->values, a->rows * y, b->values, b->rows * y, &failed);
    both->weights = join(a->weights, a->rows * sizeof *a->weights, b->weights, b->rows * sizeof *b->weights, &failed);
    both->weight_name = copy_name(a->weight_name, &failed);
    failed |= broad__categories_copy(&both->categories, &a->categories) < 0;
    failed |= broad__photos_join(&both->photos, &a->photos, a->rows, &b->photos, b->rows) < 0;
    both->groups = join_groups(a, b, &failed);
    both->group_name = copy_name(a->group_name ? a->group_name : b->group_name, &failed);
    both->input_names = copy_names(a->input_names, a->inputs, &failed);
    both->output_names = copy_names(wide->output_names, wide->outputs, &failed);
    both->target_name = copy_name(a->target_name, &failed);
    if (failed) {
        broad__table_free(both);
        return BROAD_NO_MEMORY;
    }
    *out = both;
    return BROAD_OK;
}

void broad__table_targets(double *out, const broad_data *table)
{
    if (table->task == BROAD_TASK_REGRESS) memcpy(out, table->values, table->rows * table->outputs * sizeof *out);
    if (table->task != BROAD_TASK_CLASSIFY) return;
    memset(out, 0, table->rows * table->outputs * sizeof *out);
    for (size_t i = 0; i < table->rows; i++) out[i * table->outputs + table->classes[i]] = 1;
}

/* Zeros of either sign are one number, and so are all NaNs. */
static void hash_numbers(broad__hash *hash, const double *numbers, size_t count)
{
    enum { AT_ONCE = 512 };
    double plain[AT_ONCE];
    for (size_t done = 0; done < count;) {
        size_t now = count - done < AT_ONCE ? count - done : AT_ONCE;
        for (size_t i = 0; i < now; i++) {
            double value = numbers[done + i];
            plain[i] = isnan(value) ? (double)NAN : value + 0.0;
        }
        broad__hash_add(hash, plain, now * sizeof *plain);
        done += now;
    }
}

int broad__table_fingerprint(char out[33], const broad_data *table, size_t first, size_t count)
{
    broad__hash *hash = broad__hash_open();
    if (!hash) return BROAD_NO_MEMORY;
    /* Classes that no row has do not matter: a model may get further ones. */
    size_t outputs = table->task == BROAD_TASK_CLASSIFY ? 0 : table->outputs;
    uint64_t shape[4] = {count, table->inputs, outputs, (uint64_t)table->task};
    broad__hash_add(hash, shape, sizeof shape);
    hash_numbers(hash, table->x + first * table->inputs, count * table->inputs);
    if (table->values) hash_numbers(hash, table->values + first * table->outputs, count * table->outputs);
    for (size_t i = 0; table->classes && i < count; i++) {
        uint64_t class = table->classes[first + i];
        broad__hash_add(hash, &class, sizeof class);
    }
    if (table->weights) hash_numbers(hash, table->weights + first, count);
    broad__hash_close(out, hash);
    return BROAD_OK;
}
