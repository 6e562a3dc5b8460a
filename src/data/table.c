#include "data/table.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
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
    if (failed) {
        broad__table_free(part);
        return BROAD_NO_MEMORY;
    }
    *out = part;
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
    uint64_t shape[4] = {count, table->inputs, table->outputs, (uint64_t)table->task};
    broad__hash_add(hash, shape, sizeof shape);
    hash_numbers(hash, table->x + first * table->inputs, count * table->inputs);
    if (table->values) hash_numbers(hash, table->values + first * table->outputs, count * table->outputs);
    for (size_t i = 0; table->classes && i < count; i++) {
        uint64_t class = table->classes[first + i];
        broad__hash_add(hash, &class, sizeof class);
    }
    broad__hash_close(out, hash);
    return BROAD_OK;
}
