/* Tables: reading, making, looking at, cutting. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "broad/broad.h"
#include "data/distinct.h"
#include "data/labels.h"
#include "data/path_kind.h"
#include "data/photo/photo_rows.h"
#include "data/photo/photos.h"
#include "data/read.h"
#include "data/split.h"
#include "data/table.h"
#include "data/text.h"
#include "model/model.h"

static int check_size(size_t have, size_t expected, const char *what)
{
    if (have == expected) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "%s has the size %zu and not %zu: fill it with its _init function first", what,
                       have, expected);
}

void broad_read_options_init(broad_read_options *out)
{
    *out = (broad_read_options){.size = sizeof *out, .header = "auto", .separator = "auto"};
}

void broad_arrays_init(broad_arrays *out) { *out = (broad_arrays){.size = sizeof *out}; }

void broad_split_init(broad_split *out) { *out = (broad_split){.size = sizeof *out, .holdout = 0.3}; }

broad_path_kind broad_path_look(const char *path) { return path ? broad__path_kind(path) : BROAD_PATH_KIND_UNKNOWN; }

static int read_data(broad_data **out, const char *path, const broad_read_options *options)
{
    broad_read_options standard;
    if (!out || !path) return broad__fail(BROAD_USAGE, "broad_data_read needs a place for the table and a path");
    *out = NULL;
    broad_read_options_init(&standard);
    if (!options) options = &standard;
    int status = check_size(options->size, sizeof *options, "broad_read_options");
    if (status < 0) return status;
    int photos = options->model ? options->model->photo.maps > 0 : 0;
    if (photos || broad__path_kind(path) == BROAD_PATH_KIND_FOLDER)
        return broad_data_read_photos(out, &path, 1, options);
    if (!options->model) return broad__read(out, path, options, NULL);
    broad__columns columns = broad__model_reads(options->model);
    return broad__read(out, path, options, &columns);
}

int broad_data_read(broad_data **out, const char *path, const broad_read_options *options)
{
    broad__profile_span span = broad__profile_start();
    int status = read_data(out, path, options);
    broad__profile_stop(span, BROAD__STAGE_READ, 0, path ? broad__file_bytes(path) : 0);
    return status;
}

static int check_arrays(const broad_arrays *arrays)
{
    int status = check_size(arrays->size, sizeof *arrays, "broad_arrays");
    if (status < 0) return status;
    if (!arrays->rows || !arrays->inputs || !arrays->x)
        return broad__fail(BROAD_USAGE, "broad_arrays needs rows, inputs and x");
    if (arrays->stride && arrays->stride < arrays->inputs)
        return broad__fail(BROAD_USAGE, "broad_arrays: the stride %zu is smaller than the %zu inputs", arrays->stride,
                           arrays->inputs);
    if ((arrays->labels != NULL) + (arrays->classes != NULL) + (arrays->values != NULL) > 1)
        return broad__fail(BROAD_USAGE, "broad_arrays: give one of labels, classes and values");
    if (arrays->values && !arrays->outputs)
        return broad__fail(BROAD_USAGE, "broad_arrays: values need outputs, the number of their columns");
    return BROAD_OK;
}

static int copy_inputs(broad_data *table, const broad_arrays *arrays)
{
    size_t stride = arrays->stride ? arrays->stride : arrays->inputs;
    for (size_t i = 0; i < arrays->rows; i++) {
        for (size_t j = 0; j < arrays->inputs; j++) {
            double value = arrays->x[i * stride + j];
            if (!isfinite(value))
                return broad__fail(BROAD_BAD_DATA, "row %zu, input %zu is not finite; fill in or leave out such rows",
                                   i + 1, j + 1);
            table->x[i * arrays->inputs + j] = value;
        }
    }
    return BROAD_OK;
}

static int name_inputs(broad_data *table, const broad_arrays *arrays)
{
    table->named = arrays->names != NULL;
    if (!arrays->names) {
        table->input_names = broad__names_number("x", 1, arrays->inputs);
        return table->input_names ? BROAD_OK : BROAD_NO_MEMORY;
    }
    broad__text *texts = broad__alloc_array(arrays->inputs, sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    int status = BROAD_OK;
    for (size_t i = 0; i < arrays->inputs && status == BROAD_OK; i++) {
        if (arrays->names[i]) texts[i] = broad__text_of(arrays->names[i]);
        if (!texts[i].count || !broad__text_is_utf8(texts[i]))
            status = broad__fail(BROAD_USAGE, "the name of input %zu is empty or not UTF-8 text", i + 1);
    }
    if (status == BROAD_OK) table->input_names = broad__names_copy(texts, arrays->inputs);
    if (status == BROAD_OK && !table->input_names) status = BROAD_NO_MEMORY;
    broad__free(texts);
    return status;
}

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

int broad_data_from_arrays(broad_data **out, const broad_arrays *arrays)
{
    if (!out || !arrays)
        return broad__fail(BROAD_USAGE, "broad_data_from_arrays needs a place for the table and arrays");
    *out = NULL;
    broad_data *table = NULL;
    int status = check_arrays(arrays);
    if (status == BROAD_OK) status = check_texts(arrays->labels, arrays->rows, "label");
    if (status == BROAD_OK) status = check_texts(arrays->groups, arrays->rows, "group");
    if (status == BROAD_OK) status = broad__table_new(&table, arrays->rows, arrays->inputs);
    if (status == BROAD_OK) status = copy_inputs(table, arrays);
    if (status == BROAD_OK) status = name_inputs(table, arrays);
    if (status == BROAD_OK) status = set_targets(table, arrays);
    if (status == BROAD_OK) status = set_weights(table, arrays);
    if (status == BROAD_OK && arrays->groups) status = broad__table_set_groups(table, arrays->groups, "group");
    if (status < 0) {
        broad__table_free(table);
        return status;
    }
    *out = table;
    return BROAD_OK;
}

void broad_data_free(broad_data *data) { broad__table_free(data); }

size_t broad_data_rows(const broad_data *data) { return data->rows; }
size_t broad_data_inputs(const broad_data *data) { return data->inputs; }
size_t broad_data_outputs(const broad_data *data) { return data->outputs; }
broad_task broad_data_task(const broad_data *data) { return data->task; }
const char *broad_data_format(const broad_data *data) { return data->format; }

const char *broad_data_input_name(const broad_data *data, size_t input)
{
    return input < data->inputs && data->input_names ? data->input_names[input] : "";
}

const char *broad_data_output_name(const broad_data *data, size_t output)
{
    return output < data->outputs && data->output_names ? data->output_names[output] : "";
}

const double *broad_data_row(const broad_data *data, size_t row) { return data->x + row * data->inputs; }

size_t broad_data_class(const broad_data *data, size_t row) { return data->classes ? data->classes[row] : 0; }

double broad_data_value(const broad_data *data, size_t row, size_t output)
{
    return data->values ? data->values[row * data->outputs + output] : NAN;
}

double broad_data_weight(const broad_data *data, size_t row) { return data->weights ? data->weights[row] : 1; }
size_t broad_data_group(const broad_data *data, size_t row) { return data->groups ? data->groups[row] : row; }

int broad_data_split(broad_data **out_train, broad_data **out_test, const broad_data *data, const broad_split *split)
{
    if (!out_train || !out_test || !data || !split)
        return broad__fail(BROAD_USAGE, "broad_data_split needs places for both parts, a table and how to cut it");
    *out_train = *out_test = NULL;
    int status = check_size(split->size, sizeof *split, "broad_split");
    return status < 0 ? status : broad__split(out_train, out_test, data, split->holdout, split->seed);
}

static int copy_table(broad_data **out, const broad_data *data)
{
    size_t *rows = broad__alloc_array(data->rows, sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < data->rows; i++) rows[i] = i;
    int status = broad__table_rows(out, data, rows, data->rows);
    broad__free(rows);
    return status;
}

/* Photos in the groups that the model's were in: those that look alike may have been left aside then. `made` is what `view`
 * then points to. */
static int group_like_model(broad_data *view, size_t **made, const broad_model *model)
{
    static char by_photo[] = BROAD__PHOTO_GROUPS;
    const char *wanted = model->group_name, *have = view->group_name ? view->group_name : "";
    if (!view->photos.items || (wanted && strcmp(wanted, have) == 0)) return BROAD_OK;
    view->groups = NULL;
    view->group_name = NULL;
    if (!wanted) return BROAD_OK;
    if (strcmp(wanted, by_photo) != 0)
        return broad__fail(BROAD_USAGE,
                           "the photos that the model was trained on were grouped by '%.100s', and these are not; read "
                           "them in the same way",
                           wanted);
    *made = broad__photos_by_file(&view->photos, view->rows);
    view->groups = *made;
    view->group_name = by_photo;
    return *made ? BROAD_OK : BROAD_NO_MEMORY;
}

int broad_data_training_part(broad_data **out, const broad_data *data, const broad_model *model)
{
    if (!out || !data || !model)
        return broad__fail(BROAD_USAGE, "broad_data_training_part needs a place for the part, a table and a model");
    *out = NULL;
    broad_data view = *data, *test = NULL;
    size_t *groups = NULL;
    int status = group_like_model(&view, &groups, model);
    /* Only the first rows of a model come from a split; later ones were learned as they are. */
    size_t first = model->segment_count ? model->segments[0].rows : model->rows;
    int whole = !(model->split_holdout > 0) || data->rows == first;
    if (status == BROAD_OK && whole) status = copy_table(out, &view);
    if (status == BROAD_OK && !whole) status = broad__split(out, &test, &view, model->split_holdout, model->split_seed);
    broad__table_free(test);
    broad__free(groups);
    return status;
}

int broad_data_pick(broad_data **out, const broad_data *data, const size_t *rows, size_t count)
{
    if (!out || !data || !rows || !count)
        return broad__fail(BROAD_USAGE, "broad_data_pick needs a place for the table, a table and rows of it");
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= data->rows)
            return broad__fail(BROAD_USAGE, "there is no row number %zu, from 0, in a table of %zu", rows[i],
                               data->rows);
    return broad__table_rows(out, data, rows, count);
}

int broad_data_append(broad_data **out, const broad_data *a, const broad_data *b)
{
    if (!out || !a || !b)
        return broad__fail(BROAD_USAGE, "broad_data_append needs a place for the table and two tables");
    return broad__table_append(out, a, b);
}
