/* Entry points of broad.h: tables from arrays in memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/api_check.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/labels.h"
#include "data/places.h"
#include "data/table.h"
#include "data/text.h"

void broad_arrays_init_sized(broad_arrays *out, size_t size)
{
    broad_arrays full = {.size = sizeof full};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static int is_dense(const broad_arrays *arrays)
{
    return arrays->row_stride == arrays->inputs && arrays->column_stride == 1;
}

/* Fills in the strides left to us. */
static int check_layout(broad_arrays *arrays)
{
    if (!arrays->rows || !arrays->inputs || !arrays->x)
        return broad__fail(BROAD_USAGE, "broad_arrays needs rows, inputs and x");
    if (arrays->inputs > BROAD__COLUMNS_MAX)
        return broad__fail(BROAD_USAGE, "broad_arrays: %zu inputs; at most %d are allowed", arrays->inputs,
                           BROAD__COLUMNS_MAX);
    if ((unsigned)arrays->type > BROAD_NUMBER_UINT8)
        return broad__fail(BROAD_USAGE, "broad_arrays: type %d is none of broad_number", (int)arrays->type);
    if ((unsigned)arrays->missing > BROAD_MISSING_MEAN)
        return broad__fail(BROAD_USAGE, "broad_arrays: missing %d is none of broad_missing", (int)arrays->missing);
    if (!arrays->column_stride) arrays->column_stride = 1;
    if (!arrays->row_stride) arrays->row_stride = arrays->inputs;
    if (arrays->column_stride == 1 && arrays->row_stride < arrays->inputs && arrays->rows > 1)
        return broad__fail(BROAD_USAGE, "broad_arrays: the row stride %zu is smaller than the %zu inputs",
                           arrays->row_stride, arrays->inputs);
    if (arrays->borrow && (arrays->type != BROAD_NUMBER_DOUBLE || !is_dense(arrays) || arrays->category_count))
        return broad__fail(BROAD_USAGE,
                           "broad_arrays: only doubles without gaps and without categories can be borrowed");
    return BROAD_OK;
}

static int check_targets(const broad_arrays *arrays)
{
    if ((arrays->labels != NULL) + (arrays->classes != NULL) + (arrays->values != NULL) > 1)
        return broad__fail(BROAD_USAGE, "broad_arrays: give one of labels, classes and values");
    if (arrays->values && !arrays->outputs)
        return broad__fail(BROAD_USAGE, "broad_arrays: values need outputs, the number of their columns");
    if (arrays->values && arrays->outputs > BROAD__COLUMNS_MAX)
        return broad__fail(BROAD_USAGE, "broad_arrays: %zu outputs; at most %d are allowed", arrays->outputs,
                           BROAD__COLUMNS_MAX);
    return BROAD_OK;
}

static int check_categories(const broad_arrays *arrays)
{
    if (arrays->category_count && !arrays->categories)
        return broad__fail(BROAD_USAGE, "broad_arrays: category_count without categories");
    for (size_t k = 0; k < arrays->category_count; k++) {
        const broad_array_category *category = &arrays->categories[k];
        if (category->input >= arrays->inputs || (k && category->input <= category[-1].input))
            return broad__fail(BROAD_USAGE, "broad_arrays: category %zu: input %zu is out of range or out of order",
                               k + 1, category->input);
        if (!category->levels || !category->count || category->count > BROAD__LEVELS_MAX)
            return broad__fail(BROAD_USAGE, "broad_arrays: category %zu needs from 1 to %d levels", k + 1,
                               BROAD__LEVELS_MAX);
        for (size_t l = 0; l < category->count; l++)
            if (!category->levels[l] || !*category->levels[l] ||
                !broad__text_is_utf8(broad__text_of(category->levels[l])))
                return broad__fail(BROAD_USAGE, "broad_arrays: category %zu: level %zu is empty or not UTF-8 text",
                                   k + 1, l + 1);
    }
    return BROAD_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

/* Where columns go: a category takes one input per level, in the order of `rank`. */
typedef struct spreading {
    const broad_arrays *arrays;
    size_t inputs;
    size_t **ranks; /* of each category */
} spreading;

static double number_at(const broad_arrays *arrays, size_t row, size_t column)
{
    size_t at = row * arrays->row_stride + column * arrays->column_stride;
    if (arrays->type == BROAD_NUMBER_FLOAT) return (double)((const float *)arrays->x)[at];
    if (arrays->type == BROAD_NUMBER_UINT8) return (double)((const uint8_t *)arrays->x)[at];
    return ((const double *)arrays->x)[at];
}

static int check_number(const broad_arrays *arrays, double value, size_t row, size_t column)
{
    if (isfinite(value) || (isnan(value) && arrays->missing == BROAD_MISSING_MEAN)) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA, "row %zu, input %zu is %s", row + 1, column + 1,
                       isnan(value) ? "missing (NaN); fill it in, or set broad_arrays.missing to BROAD_MISSING_MEAN"
                                    : "not finite; fill in or leave out such rows");
}

static int put_level(double *to, const spreading *s, size_t category, double code, size_t row)
{
    size_t count = s->arrays->categories[category].count;
    for (size_t l = 0; l < count; l++) to[l] = isnan(code) ? (double)NAN : 0;
    if (isnan(code)) return BROAD_OK;
    if (!(code >= 0 && code < (double)count) || code != floor(code))
        return broad__fail(BROAD_BAD_DATA, "row %zu, input %zu: the code %g is not from 0 to %zu", row + 1,
                           s->arrays->categories[category].input + 1, code, count - 1);
    to[s->ranks[category][(size_t)code]] = 1;
    return BROAD_OK;
}

static int copy_row(double *to, const spreading *s, size_t row)
{
    const broad_arrays *arrays = s->arrays;
    int status = BROAD_OK;
    for (size_t j = 0, k = 0; j < arrays->inputs && status == BROAD_OK; j++) {
        double value = number_at(arrays, row, j);
        status = check_number(arrays, value, row, j);
        if (k < arrays->category_count && arrays->categories[k].input == j) {
            if (status == BROAD_OK) status = put_level(to, s, k, value, row);
            to += arrays->categories[k++].count;
        } else {
            *to++ = value;
        }
    }
    return status;
}

static int set_inputs(broad_data *table, const spreading *s)
{
    const broad_arrays *arrays = s->arrays;
    int status = BROAD_OK;
    if (arrays->borrow) {
        table->x = (double *)(uintptr_t)arrays->x;
        table->x_borrowed = 1;
        for (size_t i = 0; i < arrays->rows * arrays->inputs && status == BROAD_OK; i++)
            status = check_number(arrays, table->x[i], i / arrays->inputs, i % arrays->inputs);
        return status;
    }
    table->x = broad__alloc_doubles(arrays->rows, s->inputs);
    if (!table->x) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < arrays->rows && status == BROAD_OK; i++) status = copy_row(table->x + i * s->inputs, s, i);
    return status;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static int column_names(char ***out, const broad_arrays *arrays)
{
    if (!arrays->names) {
        *out = broad__names_number("x", 1, arrays->inputs);
        return *out ? BROAD_OK : BROAD_NO_MEMORY;
    }
    broad__text *texts = broad__alloc_array(arrays->inputs, sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    int status = BROAD_OK;
    for (size_t i = 0; i < arrays->inputs && status == BROAD_OK; i++) {
        if (arrays->names[i]) texts[i] = broad__text_of(arrays->names[i]);
        if (!texts[i].count || !broad__text_is_utf8(texts[i]))
            status = broad__fail(BROAD_USAGE, "the name of input %zu is empty or not UTF-8 text", i + 1);
    }
    if (status == BROAD_OK) *out = broad__names_copy(texts, arrays->inputs);
    if (status == BROAD_OK && !*out) status = BROAD_NO_MEMORY;
    broad__free(texts);
    return status;
}

static int copy_levels(broad__category *out, const broad_array_category *from, const size_t *rank, const char *name)
{
    out->name = broad__copy_text(name);
    out->levels = broad__alloc_array(from->count, sizeof *out->levels);
    out->count = from->count;
    if (!out->name || !out->levels) return BROAD_NO_MEMORY;
    for (size_t l = 0; l < from->count; l++) {
        out->levels[rank[l]] = broad__copy_text(from->levels[l]);
        if (!out->levels[rank[l]]) return BROAD_NO_MEMORY;
    }
    for (size_t l = 1; l < from->count; l++)
        if (strcmp(out->levels[l - 1], out->levels[l]) == 0)
            return broad__fail(BROAD_USAGE, "broad_arrays: the level '%.100s' of input %zu is given twice",
                               out->levels[l], from->input + 1);
    return BROAD_OK;
}

/* Levels are sorted as a file's are. */
static int rank_levels(size_t **out, const broad_array_category *category)
{
    broad__text *texts = broad__alloc_array(category->count, sizeof *texts);
    *out = broad__alloc_array(category->count, sizeof **out);
    int status = texts && *out ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t l = 0; l < category->count && status == BROAD_OK; l++) texts[l] = broad__text_of(category->levels[l]);
    if (status == BROAD_OK) status = broad__labels_order(*out, texts, category->count);
    broad__free(texts);
    return status;
}

static int set_categories(broad_data *table, spreading *s, char *const *columns)
{
    const broad_arrays *arrays = s->arrays;
    broad__categories *categories = &table->categories;
    if (!arrays->category_count) return BROAD_OK;
    categories->items = broad__alloc_array(arrays->category_count, sizeof *categories->items);
    s->ranks = broad__alloc_array(arrays->category_count, sizeof *s->ranks);
    int status = categories->items && s->ranks ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t k = 0; k < arrays->category_count && status == BROAD_OK; k++) {
        const broad_array_category *from = &arrays->categories[k];
        broad__category *to = &categories->items[categories->count++];
        to->first = from->input + s->inputs - arrays->inputs;
        s->inputs += from->count - 1;
        status = rank_levels(&s->ranks[k], from);
        if (status == BROAD_OK) status = copy_levels(to, from, s->ranks[k], columns[from->input]);
    }
    return status;
}

/* The names of the columns, then what they become, and the numbers. */
static int fill_inputs(broad_data *table, const broad_arrays *arrays)
{
    spreading s = {.arrays = arrays, .inputs = arrays->inputs};
    char **columns = NULL;
    int status = column_names(&columns, arrays);
    if (status == BROAD_OK) status = set_categories(table, &s, columns);
    if (status == BROAD_OK) {
        table->inputs = s.inputs;
        table->named = arrays->names != NULL;
        table->missing = arrays->missing;
        table->input_names = broad__category_inputs(columns, s.inputs, &table->categories);
        if (!table->input_names) status = BROAD_NO_MEMORY;
    }
    if (status == BROAD_OK) status = set_inputs(table, &s);
    if (columns != table->input_names) broad__free(columns);
    for (size_t k = 0; s.ranks && k < arrays->category_count; k++) broad__free(s.ranks[k]);
    broad__free(s.ranks);
    return status;
}

/* ---- targets, weights, groups ---------------------------------------------------------------------------------- */

static int set_classes(broad_data *table, const broad_arrays *arrays)
{
    char(*printed)[24] = broad__alloc_array(arrays->rows, sizeof *printed);
    const char **labels = broad__alloc_array(arrays->rows, sizeof *labels);
    int status = printed && labels ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; i < arrays->rows && status == BROAD_OK; i++) {
        snprintf(printed[i], sizeof printed[i], "%lld", (long long)arrays->classes[i]);
        labels[i] = printed[i];
    }
    if (status == BROAD_OK) status = broad__table_set_labels(table, labels);
    broad__free(labels);
    broad__free(printed);
    return status;
}

static int set_values(broad_data *table, const broad_arrays *arrays)
{
    size_t count = 0;
    if (broad__multiply(&count, arrays->rows, arrays->outputs) < 0) return broad__fail_memory(SIZE_MAX);
    table->values = broad__alloc_array(count, sizeof *table->values);
    if (arrays->outputs == 1) table->output_names = broad__names_copy(&(broad__text){"target", 6}, 1);
    else table->output_names = broad__names_number("target", 1, arrays->outputs);
    if (!table->values || !table->output_names) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(arrays->values[i]))
            return broad__fail(BROAD_BAD_DATA, "row %zu: the target is not finite; leave such rows out",
                               i / arrays->outputs + 1);
        table->values[i] = arrays->values[i];
    }
    table->task = BROAD_TASK_REGRESS;
    table->outputs = arrays->outputs;
    return BROAD_OK;
}

static int set_weights(broad_data *table, const broad_arrays *arrays)
{
    if (!arrays->weights) return BROAD_OK;
    table->weights = broad__alloc_doubles(arrays->rows, 1);
    table->weight_name = broad__copy_text("weight");
    if (!table->weights || !table->weight_name) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < arrays->rows; i++) {
        if (!isfinite(arrays->weights[i]) || !(arrays->weights[i] > 0))
            return broad__fail(BROAD_BAD_DATA,
                               "row %zu: the weight %g is not a finite number above 0; leave such rows out", i + 1,
                               arrays->weights[i]);
        table->weights[i] = arrays->weights[i];
    }
    return BROAD_OK;
}

static int check_texts(const char *const *texts, size_t count, const char *what)
{
    for (size_t i = 0; texts && i < count; i++)
        if (!texts[i]) return broad__fail(BROAD_USAGE, "row %zu: the %s is NULL", i + 1, what);
    return BROAD_OK;
}

static int set_targets(broad_data *table, const broad_arrays *arrays)
{
    int status = BROAD_OK;
    if (arrays->labels) status = broad__table_set_labels(table, arrays->labels);
    if (arrays->classes) status = set_classes(table, arrays);
    if (arrays->values) status = set_values(table, arrays);
    if (status < 0 || table->task != BROAD_TASK_CLASSIFY) return status;
    table->target_name = broad__copy_text("target");
    return table->target_name ? BROAD_OK : BROAD_NO_MEMORY;
}

static int fill_table(broad_data *table, const broad_arrays *arrays)
{
    int status = fill_inputs(table, arrays);
    if (status == BROAD_OK) status = set_targets(table, arrays);
    if (status == BROAD_OK) status = set_weights(table, arrays);
    if (status == BROAD_OK && arrays->groups) status = broad__table_set_groups(table, arrays->groups, "group");
    return status;
}

int broad_data_from_arrays(broad_data **out, const broad_arrays *arrays)
{
    if (out) *out = NULL;
    if (!out || !arrays) return broad__missing_argument("broad_data_from_arrays");
    broad_arrays full = {.size = sizeof full};
    int status = broad__options_take(&full, sizeof full, arrays, "broad_arrays");
    if (status == BROAD_OK) status = check_layout(&full);
    if (status == BROAD_OK) status = check_targets(&full);
    if (status == BROAD_OK) status = check_categories(&full);
    if (status == BROAD_OK) status = check_texts(full.labels, full.rows, "label");
    if (status == BROAD_OK) status = check_texts(full.groups, full.rows, "group");
    if (status < 0) return status;
    broad_data *table = broad__alloc(sizeof *table);
    if (!table) return BROAD_NO_MEMORY;
    table->rows = full.rows;
    table->format = "memory";
    status = fill_table(table, &full);
    if (status < 0) broad__table_free(table);
    else *out = table;
    return status;
}
