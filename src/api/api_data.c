/* Entry points of broad.h: tables read from files, their contents, and parts of them. */
#include <math.h>
#include <string.h>

#include "api/api_check.h"
#include "base/enum_names.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "broad/broad.h"
#include "comm/comm.h"
#include "data/normal_class.h"
#include "data/path_kind.h"
#include "data/photo/photo_rows.h"
#include "data/photo/photos.h"
#include "data/read.h"
#include "data/split.h"
#include "data/table.h"
#include "model/model.h"

void broad_read_options_init_sized(broad_read_options *out, size_t size)
{
    broad_read_options full = {.size = sizeof full, .header = "auto", .separator = "auto"};
    full.missing = BROAD_MISSING_MEAN;
    if (out) broad__options_give(out, size, &full, sizeof full);
}

void broad_split_init_sized(broad_split *out, size_t size)
{
    broad_split full = {.size = sizeof full, .holdout = 0.3};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

broad_path_kind broad_path_look(const char *path) { return path ? broad__path_kind(path) : BROAD_PATH_KIND_UNKNOWN; }

static int read_data(broad_data **out, const char *path, const broad_read_options *options)
{
    int photos = options->model && options->model->photo.maps > 0;
    if (photos || broad__path_kind(path) == BROAD_PATH_KIND_FOLDER)
        return broad_data_read_photos(out, &path, 1, options);
    if (!options->model) return broad__read(out, path, options, NULL);
    broad__columns columns = broad__model_reads(options->model);
    return broad__read(out, path, options, &columns);
}

static int read_watched(broad_data **out, const char *path, const broad_read_options *options)
{
    broad__watch watch = {
        .state = {.stage = "read"}, .progress = options->progress, .context = options->progress_context};
    if (broad__comm_ranks() > 1) watch.agree = broad__comm_most;
    watch.span = watch.state.total = (size_t)broad__file_bytes(path);
    broad__watch *before = broad__watch_enter(&watch);
    int status = broad__watch_poll(0, 1);
    if (status == BROAD_OK) status = read_data(out, path, options);
    broad__watch_leave(before);
    return status;
}

int broad_data_read(broad_data **out, const char *path, const broad_read_options *options)
{
    if (out) *out = NULL;
    if (!out || !path) return broad__missing_argument("broad_data_read");
    broad_read_options full;
    broad_read_options_init(&full);
    int status = broad__options_take(&full, sizeof full, options, "broad_read_options");
    if (status == BROAD_OK) status = broad__comm_check(full.comm);
    if (status < 0) return status;
    broad__profile_span span = broad__profile_start();
    const broad_comm *before = broad__comm_enter(full.comm);
    status = broad__comm_whole(read_watched(out, path, &full));
    broad__comm_leave(before);
    if (status < 0) {
        broad__table_free(*out);
        *out = NULL;
    }
    broad__profile_stop(span, BROAD__STAGE_READ, 0, broad__file_bytes(path));
    return status;
}

void broad_data_free(broad_data *data) { broad__table_free(data); }

size_t broad_data_rows(const broad_data *data) { return data ? data->rows : 0; }
size_t broad_data_inputs(const broad_data *data) { return data ? data->inputs : 0; }
size_t broad_data_outputs(const broad_data *data) { return data ? data->outputs : 0; }
broad_task broad_data_task(const broad_data *data) { return data ? data->task : BROAD_TASK_AUTO; }

broad_format broad_data_format(const broad_data *data)
{
    int found = data ? broad__enum_find(BROAD__FORMATS, data->format) : -1;
    return found < 0 ? BROAD_FORMAT_MEMORY : (broad_format)found;
}

size_t broad_data_note_count(const broad_data *data) { return data ? data->notes.count : 0; }

const char *broad_data_note(const broad_data *data, size_t note)
{
    return note < broad_data_note_count(data) ? data->notes.lines[note] : "";
}

const char *broad_data_input_name(const broad_data *data, size_t input)
{
    return input < broad_data_inputs(data) && data->input_names ? data->input_names[input] : "";
}

const char *broad_data_output_name(const broad_data *data, size_t output)
{
    return output < broad_data_outputs(data) && data->output_names ? data->output_names[output] : "";
}

const double *broad_data_row(const broad_data *data, size_t row)
{
    size_t first, end;
    if (row >= broad_data_rows(data)) return NULL;
    broad__owned_rows(&first, &end, data->owned, row, 1);
    return first < end ? data->x + row * data->inputs : NULL;
}

size_t broad_data_class(const broad_data *data, size_t row)
{
    return row < broad_data_rows(data) && data->classes ? data->classes[row] : 0;
}

size_t broad_data_normal(const broad_data *data)
{
    if (!data || data->task != BROAD_TASK_CLASSIFY) return 0;
    int named = broad__normal_by_name(data->output_names, data->outputs);
    size_t found = named > 0 ? (size_t)named : 0;
    if (named == BROAD__NO_CLASS) broad__normal_by_rows(&found, data); /* without memory the first one */
    return found;
}

double broad_data_value(const broad_data *data, size_t row, size_t output)
{
    int there = row < broad_data_rows(data) && output < data->outputs && data->values;
    return there ? data->values[row * data->outputs + output] : NAN;
}

double broad_data_weight(const broad_data *data, size_t row)
{
    return row < broad_data_rows(data) && data->weights ? data->weights[row] : 1;
}

size_t broad_data_group(const broad_data *data, size_t row)
{
    return row < broad_data_rows(data) && data->groups ? data->groups[row] : row;
}

int broad_data_split(broad_data **out_train, broad_data **out_test, const broad_data *data, const broad_split *split)
{
    if (!out_train || !out_test || !data || !split) return broad__missing_argument("broad_data_split");
    *out_train = *out_test = NULL;
    broad_split how;
    broad_split_init(&how);
    int status = broad__options_take(&how, sizeof how, split, "broad_split");
    return status < 0 ? status : broad__split(out_train, out_test, data, how.holdout, how.seed);
}

static int copy_table(broad_data **out, const broad_data *data)
{
    size_t *rows = broad__alloc_array(data->rows, sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < data->rows; i++) rows[i] = i;
    int status = broad__table_deal(out, data, rows, data->rows);
    broad__free(rows);
    return status;
}

/* Puts photos into the groups that the model's were in, which may ignore near-duplicates. `made` is what `view` then
 * points to. lone: photos that are not grouped were compared, and none are alike: each is a group of its own. */
static int group_like_model(broad_data *view, size_t **made, const broad_model *model, int lone)
{
    char *wanted = model->group_name;
    const char *have = view->group_name ? view->group_name : "";
    if (!view->photos.items || (wanted && strcmp(wanted, have) == 0)) return BROAD_OK;
    view->groups = NULL;
    view->group_name = NULL;
    if (!wanted) return BROAD_OK;
    lone = lone && strcmp(wanted, BROAD__NEAR_DUPLICATES) == 0;
    if (strcmp(wanted, BROAD__PHOTO_GROUPS) != 0 && !lone)
        return broad__fail(BROAD_USAGE,
                           "the photos that the model was trained on were grouped by '%.100s', and these are not; read "
                           "them in the same way",
                           wanted);
    *made = broad__photos_by_file(&view->photos, view->rows);
    view->groups = *made;
    view->group_name = wanted;
    return *made ? BROAD_OK : BROAD_NO_MEMORY;
}

int broad_data_training_part(broad_data **out, const broad_data *data, const broad_model *model)
{
    if (out) *out = NULL;
    if (!out || !data || !model) return broad__missing_argument("broad_data_training_part");
    broad_data view = *data, *test = NULL;
    size_t *groups = NULL;
    int status = group_like_model(&view, &groups, model, 0);
    /* Only the first rows of a model come from a split; later ones were learned as they are. */
    size_t first = model->segment_count ? model->segments[0].rows : model->rows;
    int whole = !(model->split_holdout > 0) || data->rows == first;
    if (status == BROAD_OK && whole) status = copy_table(out, &view);
    if (status == BROAD_OK && !whole) status = broad__split(out, &test, &view, model->split_holdout, model->split_seed);
    broad__table_free(test);
    broad__free(groups);
    return status;
}

/* The table keeps its own names until it is copied. */
static void give_classes(broad_data *view, const broad_model *model, const size_t *classes)
{
    view->task = BROAD_TASK_CLASSIFY;
    view->outputs = model->outputs;
    view->output_names = model->output_names;
    view->target_name = model->target_name;
    view->values = NULL;
    view->classes = (size_t *)classes; /* only read */
}

int broad_data_assign(broad_data **out, const broad_data *data, const broad_model *model, const size_t *classes)
{
    if (out) *out = NULL;
    if (!out || !data || !model) return broad__missing_argument("broad_data_assign");
    broad_data view = *data;
    size_t *groups = NULL;
    if (classes && model->task != BROAD_TASK_CLASSIFY)
        return broad__fail(BROAD_USAGE, "broad_data_assign: a regression has no classes");
    for (size_t i = 0; classes && i < data->rows; i++)
        if (classes[i] >= model->outputs)
            return broad__fail(BROAD_USAGE, "broad_data_assign: class %zu is out of range (the model has %zu)",
                               classes[i], model->outputs);
    if (classes) give_classes(&view, model, classes);
    int status = group_like_model(&view, &groups, model, 1);
    if (status == BROAD_OK) status = copy_table(out, &view);
    broad__free(groups);
    return status;
}

int broad_data_pick(broad_data **out, const broad_data *data, const size_t *rows, size_t count)
{
    if (out) *out = NULL;
    if (!out || !data || !rows) return broad__missing_argument("broad_data_pick");
    if (!count) return broad__fail(BROAD_USAGE, "broad_data_pick: no rows are given");
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= data->rows)
            return broad__fail(BROAD_USAGE, "row index %zu is out of range (the table has %zu rows)", rows[i],
                               data->rows);
    return broad__table_rows(out, data, rows, count);
}

int broad_data_append(broad_data **out, const broad_data *a, const broad_data *b)
{
    if (out) *out = NULL;
    if (!out || !a || !b) return broad__missing_argument("broad_data_append");
    return broad__table_append(out, a, b);
}

size_t broad_data_kept_count(const broad_data *data) { return data ? data->kept.columns : 0; }

const char *broad_data_kept_name(const broad_data *data, size_t column)
{
    return column < broad_data_kept_count(data) ? data->kept.names[column] : "";
}

const char *broad_data_kept_text(const broad_data *data, size_t row, size_t column)
{
    if (column >= broad_data_kept_count(data) || row >= data->rows) return "";
    return data->kept.text + data->kept.at[row * data->kept.columns + column];
}

size_t broad_data_unknown_levels(const broad_data *data, size_t category)
{
    return data && category < data->kept.categories ? data->kept.unknown[category] : 0;
}

const char *broad_data_unknown_level(const broad_data *data, size_t category)
{
    return broad_data_unknown_levels(data, category) ? data->kept.first[category] : "";
}
