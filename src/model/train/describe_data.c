#include "model/train/describe_data.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "data/transform/scale.h"

/* The scores of a class start from how frequent it is. */
static void centre_classes(broad_model *model, const broad_data *data)
{
    for (size_t c = 0; c < model->outputs; c++) model->output_factor[c] = 1;
    broad__page_cursor read = {0};
    for (size_t i = 0; i < data->rows; i++) {
        model->output_shift[data->classes[i]] += 1 / (double)data->rows;
        broad__page_cursor_step(&read, data->spill, &data->classes[i], sizeof *data->classes);
    }
}

/* ---- one look at all inputs ------------------------------------------------------------------------------------ */

/* The fingerprint and the sums of the columns, side by side. */
typedef struct look {
    const broad_data *data;
    broad__column_rows rows;
    int squares;
    broad__column_sums *sums; /* of all columns */
    size_t part;              /* columns that are summed at a time */
    char *fingerprint;
    int hashed; /* how that went */
} look;

static void look_part(void *context, size_t index, size_t worker)
{
    (void)worker;
    look *l = context;
    size_t columns = l->rows.columns, first = (index - 1) * l->part;
    broad__profile_span span = broad__profile_start();
    double bytes = (double)l->rows.rows * sizeof(double);
    if (index == 0) {
        l->hashed = broad__table_fingerprint(l->fingerprint, l->data, 0, l->data->rows);
        broad__profile_stop(span, BROAD__STAGE_HASH, 0, bytes * (double)columns);
        return;
    }
    size_t end = broad__min(first + l->part, columns);
    broad__column_sums_part(l->sums, &l->rows, l->squares, first, end);
    broad__profile_stop(span, BROAD__STAGE_STATISTICS, 0, bytes * (double)((end - first) * (l->squares ? 2 : 1)));
}

/* Columns of a part: whole cache lines, and parts for many threads. What is spilled is read once for all of them. */
static size_t look_columns(const broad_data *data)
{
    enum { LINES = 256, PARTS = 16 };
    return data->spill ? data->inputs : (data->inputs / PARTS / LINES + 1) * LINES;
}

/* One after the other, and each of them from rank to rank. */
static int look_by_ranks(look *l, broad__pool *pool)
{
    double bytes = (double)l->rows.rows * (double)l->rows.columns * sizeof(double) / (double)broad__comm_ranks();
    look_part(l, 0, 0);
    broad__profile_span span = broad__profile_start();
    int status = l->hashed;
    if (status == BROAD_OK) status = broad__column_sums_divided(l->sums, &l->rows, l->squares, pool);
    broad__profile_stop(span, BROAD__STAGE_STATISTICS, 0, bytes * (l->squares ? 2 : 1));
    return broad__watch_check(status);
}

static int look_at_rows(look *l, broad__pool *pool)
{
    l->sums = broad__alloc_array(l->data->inputs, sizeof *l->sums);
    if (!l->sums) return BROAD_NO_MEMORY;
    if (broad__table_divided(l->data)) return look_by_ranks(l, pool);
    l->part = look_columns(l->data);
    size_t parts = 1 + (l->data->inputs + l->part - 1) / l->part;
    if (pool && !l->data->spill) broad__pool_run(pool, parts, look_part, l);
    else
        for (size_t i = 0; i < parts; i++) look_part(l, i, 0);
    return broad__watch_check(l->hashed == BROAD_NO_MEMORY ? broad__fail_memory(sizeof *l) : BROAD_OK);
}

/* ---- scales ---------------------------------------------------------------------------------------------------- */

/* Sums of products with numbers this large have lost the digits that tell one node's value from another's. */
#define UNSCALED_MOST 1e9

static int fail_unscaled(const broad_data *data)
{
    int status = broad__table_gather(data);
    if (status < 0) return status;
    for (size_t i = 0; i < data->rows; i++)
        for (size_t j = 0; j < data->inputs; j++) {
            double value = data->x[i * data->inputs + j];
            if (fabs(value) > UNSCALED_MOST)
                return broad__fail(
                    BROAD_BAD_DATA,
                    "row %zu, input '%s': %g is too large for nodes without scaling, whose values would be "
                    "rounding errors; give option scale standard, or auto",
                    i + 1, data->input_names[j], value);
        }
    return BROAD_OK;
}

static int check_unscaled(const broad_model *model, const broad_data *data, const broad__column_sums *sums)
{
    if (model->settings.scale != BROAD_SCALE_NONE) return BROAD_OK;
    for (size_t j = 0; j < data->inputs; j++)
        if (sums[j].count && (sums[j].min < -UNSCALED_MOST || sums[j].max > UNSCALED_MOST)) return fail_unscaled(data);
    return BROAD_OK;
}

static int make_scales(broad_model *model)
{
    size_t columns = broad__model_columns(model), knots = broad__scaling_knots(model->settings.scale, model->inputs);
    model->input_shift = broad__alloc_doubles(columns, 1);
    model->input_factor = broad__alloc_doubles(columns, 1);
    model->input_knots = knots ? broad__alloc_doubles(knots, 1) : NULL;
    model->input_fill = broad__alloc_doubles(model->inputs, 1);
    model->output_shift = broad__alloc_doubles(model->outputs, 1);
    model->output_factor = broad__alloc_doubles(model->outputs, 1);
    int failed = !model->input_shift || !model->input_factor || !model->input_fill || !model->output_shift ||
                 !model->output_factor || (knots && !model->input_knots);
    return failed ? BROAD_NO_MEMORY : BROAD_OK;
}

static int fit_scales(broad_model *model, const look *l)
{
    const broad_data *data = l->data;
    broad__scaling_arrays inputs = {model->input_shift, model->input_factor, model->input_fill, model->input_knots};
    int status = check_unscaled(model, data, l->sums);
    if (status == BROAD_OK) status = broad__scaling_fit_sums(&inputs, model->settings.scale, &l->rows, l->sums);
    if (status < 0) return status;
    int classes = data->task == BROAD_TASK_CLASSIFY;
    if (classes && model->settings.scale_target == BROAD_SCALE_STANDARD) {
        centre_classes(model, data);
        return BROAD_OK;
    }
    broad__scaling_arrays outputs = {.shift = model->output_shift, .factor = model->output_factor};
    broad__column_rows output_rows = {data->values, classes ? 0 : data->rows, data->outputs, data->spill, NULL};
    return broad__scaling_fit(&outputs, classes ? BROAD_SCALE_NONE : model->settings.scale_target, &output_rows);
}

static int add_segment(broad_model *model, size_t count, double weight, const char *fingerprint)
{
    broad__segment *segments = broad__alloc_array(model->segment_count + 1, sizeof *segments);
    if (!segments) return BROAD_NO_MEMORY;
    if (model->segment_count) memcpy(segments, model->segments, model->segment_count * sizeof *segments);
    broad__segment *fresh = &segments[model->segment_count];
    fresh->rows = count;
    fresh->weight = weight;
    memcpy(fresh->fingerprint, fingerprint, sizeof fresh->fingerprint);
    broad__free(model->segments);
    model->segments = segments;
    model->segment_count++;
    model->rows += count;
    return BROAD_OK;
}

/* What follows from the numbers of all rows. */
static int describe_rows(broad_model *model, const broad_data *data, broad__pool *pool)
{
    char fingerprint[33];
    look l = {.data = data,
              .rows = {data->x, data->rows, data->inputs, data->spill, data->owned},
              .squares = broad__scaling_needs_squares(model->settings.scale),
              .fingerprint = fingerprint};
    int status = look_at_rows(&l, pool);
    if (status == BROAD_OK) status = add_segment(model, data->rows, 1, fingerprint);
    if (status == BROAD_OK) status = make_scales(model);
    if (status == BROAD_OK) status = fit_scales(model, &l);
    broad__free(l.sums);
    return status;
}

/* Components are scaled already; the points of an image are all of one kind. */
static broad_scale standard_scale(const broad_data *data)
{
    if (data->photos.spec.components) return BROAD_SCALE_NONE;
    return data->grid_height || data->photos.spec.maps == BROAD_PHOTO_MAP_PIXELS ? BROAD_SCALE_WHOLE : BROAD_SCALE_BOTH;
}

int broad__model_describe(broad_model *model, const broad_data *data, broad__pool *pool)
{
    model->task = data->task;
    model->inputs = data->inputs;
    if (model->settings.scale == BROAD_SCALE_AUTO) model->settings.scale = standard_scale(data);
    model->outputs = data->outputs;
    model->named = data->named;
    model->missing = data->missing;
    model->split_holdout = data->split_holdout;
    model->split_seed = data->split_seed;
    model->input_names = broad__copy_texts(data->input_names, data->inputs);
    model->output_names = broad__copy_texts(data->output_names, data->outputs);
    model->target_name = broad__copy_text(data->target_name ? data->target_name : "target");
    if (data->group_name) model->group_name = broad__copy_text(data->group_name);
    if (data->weight_name) model->weight_name = broad__copy_text(data->weight_name);
    if (!model->input_names || !model->output_names || !model->target_name ||
        (data->group_name && !model->group_name) || (data->weight_name && !model->weight_name))
        return BROAD_NO_MEMORY;
    model->photo = data->photos.spec;
    int status = broad__projection_copy(&model->projection, &data->photos.projection, &data->photos.spec);
    if (status == BROAD_OK) status = broad__categories_copy(&model->categories, &data->categories);
    if (status == BROAD_OK) status = broad__forms_copy(&model->forms, &data->forms);
    if (status == BROAD_OK) status = broad__places_copy(&model->places, &data->places);
    return status == BROAD_OK ? describe_rows(model, data, pool) : status;
}

int broad__model_add_segment(broad_model *model, const broad_data *data, size_t first, size_t count, double weight)
{
    char fingerprint[33];
    broad__profile_span span = broad__profile_start();
    int status = broad__table_fingerprint(fingerprint, data, first, count);
    broad__profile_stop(span, BROAD__STAGE_HASH, 0, (double)count * (double)data->inputs * sizeof(double));
    for (size_t i = 0; status == BROAD_OK && count == data->rows && i < model->segment_count; i++)
        if (strcmp(model->segments[i].fingerprint, fingerprint) == 0)
            status = broad__fail(BROAD_BAD_DATA, "these %zu rows are among the training rows already, as part %zu",
                                 data->rows, i + 1);
    return status == BROAD_OK ? add_segment(model, count, weight, fingerprint) : status;
}

static int has_missing(const double *x, size_t inputs)
{
    int missing = 0;
    for (size_t j = 0; j < inputs; j++) missing |= isnan(x[j]);
    return missing;
}

static int check_missing(const broad_data *data)
{
    broad__page_cursor read = {0};
    size_t first, end, found = SIZE_MAX;
    int status = broad__table_meet(data);
    if (status < 0) return status;
    broad__owned_rows(&first, &end, data->owned, 0, data->rows);
    for (size_t i = first; i < end && found == SIZE_MAX; i++) {
        const double *x = data->x + i * data->inputs;
        if (has_missing(x, data->inputs)) found = i;
        broad__page_cursor_step(&read, data->spill, x, data->inputs * sizeof *x);
    }
    if (broad__table_divided(data)) status = broad__comm_least(&found);
    if (status < 0 || found == SIZE_MAX) return status;
    return broad__fail(BROAD_BAD_DATA, "row %zu has a missing value, and the model was trained without any", found + 1);
}

static int check_inputs(const broad_model *model, const broad_data *data)
{
    if (data->inputs != model->inputs)
        return broad__fail(BROAD_BAD_DATA, "the data has %zu inputs, the model %zu", data->inputs, model->inputs);
    for (size_t j = 0; model->named && data->named && j < model->inputs; j++)
        if (strcmp(data->input_names[j], model->input_names[j]) != 0)
            return broad__fail(BROAD_BAD_DATA, "input %zu is called '%s' in the data and '%s' in the model", j + 1,
                               data->input_names[j], model->input_names[j]);
    if (data->categories.count && !broad__categories_same(&data->categories, &model->categories))
        return broad__fail(BROAD_BAD_DATA, "the levels of the data's columns of categories are not those of the model; "
                                           "read the data with the model");
    if (model->weight_name && !data->weights)
        return broad__fail(BROAD_BAD_DATA, "the model was trained with weights (column '%s'), and the data has none",
                           model->weight_name);
    return BROAD_OK;
}

static const char *task_name(broad_task task) { return task == BROAD_TASK_CLASSIFY ? "classification" : "regression"; }

static int check_task(const broad_model *model, const broad_data *data)
{
    if (data->task == BROAD_TASK_AUTO) return broad__fail(BROAD_BAD_DATA, "the data has no targets to train on");
    if (data->task != model->task)
        return broad__fail(BROAD_BAD_DATA, "the data is for a %s, the model for a %s", task_name(data->task),
                           task_name(model->task));
    return BROAD_OK;
}

/* Further classes may follow those that both have. */
static int check_outputs(const broad_model *model, const broad_data *data)
{
    if (model->task == BROAD_TASK_REGRESS && data->outputs != model->outputs)
        return broad__fail(BROAD_BAD_DATA, "the data has %zu targets, the model %zu", data->outputs, model->outputs);
    size_t shared = data->outputs < model->outputs ? data->outputs : model->outputs;
    for (size_t c = 0; c < shared && model->task == BROAD_TASK_CLASSIFY; c++)
        if (strcmp(data->output_names[c], model->output_names[c]) != 0)
            return broad__fail(BROAD_BAD_DATA, "class %zu is '%s' in the data and '%s' in the model", c + 1,
                               data->output_names[c], model->output_names[c]);
    return BROAD_OK;
}

int broad__model_fits(const broad_model *model, const broad_data *data)
{
    if (data->rows == 0) return broad__fail(BROAD_BAD_DATA, "there are no rows to train on");
    int status = check_task(model, data);
    if (status == BROAD_OK) status = check_inputs(model, data);
    if (status == BROAD_OK) status = check_outputs(model, data);
    return status == BROAD_OK && model->missing == BROAD_MISSING_ERROR ? check_missing(data) : status;
}

int broad__model_check_rows(const broad_model *model, const broad_data *data)
{
    if (data->rows != model->rows)
        return broad__fail(BROAD_BAD_DATA,
                           "the model was trained on %zu rows, and these are %zu; give the same rows in the "
                           "same order, or option force to go on with these",
                           model->rows, data->rows);
    size_t first = 0;
    for (size_t i = 0; i < model->segment_count; i++) {
        char fingerprint[33];
        int status = broad__table_fingerprint(fingerprint, data, first, model->segments[i].rows);
        if (status < 0) return status;
        if (strcmp(fingerprint, model->segments[i].fingerprint) != 0)
            return broad__fail(BROAD_BAD_DATA,
                               "rows %zu to %zu have other values, or another order, than those the model "
                               "was trained on; give the same rows, or option force to go on with these",
                               first + 1, first + model->segments[i].rows);
        first += model->segments[i].rows;
    }
    return BROAD_OK;
}

/* Classes that the data does not have are zero. */
void broad__model_targets(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count)
{
    size_t have = data->outputs, want = model->outputs;
    memset(out, 0, count * want * sizeof(double));
    for (size_t i = 0; i < count; i++, out += want) {
        if (data->classes) out[data->classes[first + i]] = 1;
        else memcpy(out, data->values + (first + i) * have, have * sizeof(double));
        for (size_t c = 0; c < want; c++) out[c] = (out[c] - model->output_shift[c]) * model->output_factor[c];
    }
}
