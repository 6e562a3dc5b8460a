#include "model/train/train_open.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/device_choice.h"
#include "layer/supervise.h"
#include "model/kind.h"
#include "model/normal.h"
#include "model/options_check.h"
#include "model/train/budget.h"
#include "model/train/choose_range.h"
#include "model/train/choose_size.h"
#include "model/train/classes.h"
#include "model/train/describe_data.h"
#include "model/train/features.h"
#include "model/train/pilot.h"
#include "model/train/plan.h"
#include "model/train/train_layers.h"
#include "rng/philox.h"

/* The settings that stay with the model: nothing of this run alone. */
static broad_options lasting(const broad_options *options)
{
    broad_options o = *options;
    o.positive = NULL;
    o.normal = NULL;
    o.class_weight = NULL;
    o.memory = 0;
    o.device = BROAD_DEVICE_CPU;
    o.progress = NULL;
    o.progress_context = NULL;
    o.profile = NULL;
    o.comm = NULL;
    return o;
}

/* A trainer with threads and device, and a model if the caller has none yet. */
static int start(broad_trainer **out, const broad_options *run, const broad__storage *storage)
{
    broad_trainer *t = broad__alloc(sizeof *t);
    if (!t) {
        broad__spill_close(storage->spill);
        return BROAD_NO_MEMORY;
    }
    t->storage = *storage;
    t->started = broad__seconds();
    t->run = *run;
    t->best.norm = INFINITY;
    t->feature_factor = 1;
    t->device = broad__device_choose(run);
    int status = broad__pool_open(&t->pool, run->threads);
    if (status == BROAD_OK) status = t->device->hold();
    t->device_held = status == BROAD_OK;
    if (status < 0) {
        broad__trainer_close(NULL, t);
        return status;
    }
    *out = t;
    return BROAD_OK;
}

static int check_data(const broad_data *data)
{
    if (data->rows == 0 || data->inputs == 0)
        return broad__fail(BROAD_BAD_DATA, "there are no rows or no inputs to train on");
    if (data->task == BROAD_TASK_AUTO || data->outputs == 0)
        return broad__fail(BROAD_BAD_DATA, "the data has no targets to train on");
    if (data->task == BROAD_TASK_CLASSIFY && data->outputs == 1)
        return broad__fail(BROAD_BAD_DATA, "the data has only one class, '%.100s'; a classification needs two or more",
                           data->output_names[0]);
    return BROAD_OK;
}

/* As many feature nodes as gain something, and as there is time for. */
static int choose_size(broad_trainer *t, const broad_data *data)
{
    double limit = broad__budget_limit_trials(t);
    int status = broad__trainer_choose_size(t, data);
    if (broad__watch_forgive(limit)) status = BROAD_OK;
    return status == BROAD_OK ? broad__budget_size(t, data) : status;
}

/* A model without nodes. */
static int begin_model(broad_trainer *t, const broad_data *data, const broad_options *options)
{
    t->model = broad__model_new();
    if (!t->model) return BROAD_NO_MEMORY;
    t->model->settings = lasting(options);
    t->model->range = options->range;
    int status = broad__model_describe(t->model, data, t->pool);
    if (status == BROAD_OK) status = broad__model_find_classes(t->model, data, options);
    return status == BROAD_OK ? broad__model_class_weights(t->model, data, options->class_weight) : status;
}

static int open_model(broad_trainer *t, const broad_data *data, const broad_options *options)
{
    int status = begin_model(t, data, options);
    if (status == BROAD_OK) status = broad__model_make_groups(t->model);
    if (status == BROAD_OK) status = broad__rowset_open(&t->train, t->model, t->device, t->pool, &t->storage);
    if (status < 0) return status;
    t->train.divisible = 1;
    broad__rowset_probe(&t->train, 0);
    t->train.groups = t->model->group_count;
    double began = broad__seconds();
    t->first = (broad__part){data, 0, data->rows, 1};
    broad__budget_open(t, data);
    status = broad__trainer_run_pilot(t, data);
    if (status == BROAD_OK) status = choose_size(t, data);
    if (status == BROAD_OK) status = broad__trainer_fill_groups(t);
    if (status == BROAD_OK) status = broad__rowset_add_rows(&t->train, t->first, 0);
    t->seconds.features += broad__seconds() - began;
    t->model->first_norm = t->train.residual.norm;
    if (status == BROAD_OK && !isfinite(t->train.residual.norm))
        status = broad__fail(BROAD_BAD_DATA,
                             "the targets are too large to be squared: scale them (option scale-target standard)");
    return status;
}

/* Columns of the first layer. */
static size_t first_width(const broad_options *o, const broad_data *data)
{
    switch (broad__kind_of(o->kind)->nodes) {
    case BROAD__NODES_FEATURES: return o->feature_groups * o->feature_nodes + o->enhance_nodes;
    case BROAD__NODES_LINKED: return broad__scaling_columns(o->scale, data->inputs) + o->enhance_nodes;
    case BROAD__NODES_HIDDEN: break;
    }
    return o->enhance_nodes;
}

/* Models of 0.1 may have nodes in single precision; they predict and grow. */
static int check_precision(const broad_options *options)
{
    if (options->precision == BROAD_PRECISION_DOUBLE) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "networks are no longer trained in single precision, which was not faster: set "
                                    "precision of broad_options to BROAD_PRECISION_DOUBLE, its default");
}

static int check_all(broad__storage *out, const broad_data *data, const broad_options *options)
{
    int status = broad__options_check(options);
    if (status == BROAD_OK) status = check_precision(options);
    if (status == BROAD_OK) status = check_data(data);
    if (status == BROAD_OK) status = broad__table_meet(data);
    if (status < 0) return status;
    return broad__plan_storage(out, options, NULL, data->rows, data->inputs, data->outputs);
}

int broad__trainer_glance(double *out, const broad_data *data, const broad_options *options)
{
    broad__storage storage = {0};
    broad_trainer *t = NULL;
    int status = check_all(&storage, data, options);
    if (status == BROAD_OK) status = start(&t, options, &storage);
    if (status < 0) return status;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    status = begin_model(t, data, options);
    if (status == BROAD_OK) status = broad__pilot_glance(out, t, data);
    broad__profile_leave(before);
    broad__trainer_close(NULL, t);
    return broad__watch_check(status);
}

int broad__trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options)
{
    broad__storage storage = {0};
    int status = check_all(&storage, data, options);
    return status == BROAD_OK ? broad__trainer_open_stored(out, data, options, &storage) : status;
}

int broad__trainer_open_stored(broad_trainer **out, const broad_data *data, const broad_options *options,
                               const broad__storage *storage)
{
    broad_trainer *t = NULL;
    broad_options sized = *options;
    broad__size_features(&sized, data->rows);
    int status = start(&t, options, storage);
    if (status < 0) return status;
    t->wanted = options->enhance_layers;
    status = broad__supervise_possible(&sized, data->rows, first_width(&sized, data));
    if (status == BROAD_OK && broad__trainer_report(t, "features", 0)) status = broad__watch_stop();
    if (status == BROAD_OK) status = open_model(t, data, &sized);
    if (status == BROAD_OK) status = broad__trainer_choose_range(t, data);
    status = broad__watch_check(status);
    if (status == BROAD_INTERRUPTED && broad__watch_late()) status = broad__budget_fail();
    broad__watch_keep(&t->work);
    if (status < 0) broad__trainer_close(NULL, t);
    else *out = t;
    return status;
}

/* Brings a row set from nothing to the model as it is: rows, groups and layers in the order in which they came. For
 * rows that are not in the model's segments (validation, or forced), all parts are added at the start. */
static int replay(broad_trainer *t, broad__rowset *rowset, const broad__part *parts, size_t count, int staged)
{
    broad_model *model = t->model;
    size_t next = 0;
    int status = broad__rowset_open(rowset, model, t->device, t->pool, &t->storage);
    rowset->divisible = 1;
    if (rowset == &t->train) broad__rowset_probe(rowset, t->first_row);
    rowset->groups = broad__model_initial_groups(model);
    for (size_t j = 0; status == BROAD_OK && j <= model->layer_count; j++) {
        const broad__layer *layer = j < model->layer_count ? &model->layers[j] : NULL;
        size_t wanted = layer && staged ? layer->certificate.first_row + layer->certificate.rows : SIZE_MAX;
        while (status == BROAD_OK && next < count && rowset->residual.rows < wanted)
            status = broad__rowset_add_rows(rowset, parts[next++], j);
        if (status < 0 || !layer) break;
        if (j && layer->groups) status = broad__rowset_add_groups(rowset, layer->groups);
        if (status == BROAD_OK) status = broad__rowset_follow(rowset, j);
    }
    return status;
}

/* Z and E of both row sets, from the parts they have. */
int broad__trainer_rebuild(broad_trainer *t)
{
    broad__rowset *rowsets[2] = {&t->train, &t->validation};
    int status = BROAD_OK;
    broad__joint_clear(&t->joint);
    broad__growing_qr_clear(&t->qr);
    for (size_t i = 0; status == BROAD_OK && i < 2; i++) {
        broad__rowset old = *rowsets[i];
        if (old.part_count == 0) continue;
        memset(rowsets[i], 0, sizeof *rowsets[i]);
        status = replay(t, rowsets[i], old.parts, old.part_count, i == 0 && !t->partial);
        broad__rowset_close(status < 0 ? rowsets[i] : &old);
        if (status < 0) *rowsets[i] = old; /* with its parts, for another attempt */
    }
    t->stale = status < 0;
    return status;
}

int broad__trainer_return(broad_trainer *t, const broad_model *model, size_t parts)
{
    broad_model *copy = NULL;
    int status = broad__model_copy(&copy, model);
    if (status < 0) return status;
    broad_model_free(t->model);
    t->model = copy;
    t->train.part_count = parts;
    return broad__trainer_rebuild(t);
}

/* Leave-one-out of joint weights leaves groups out, and the score of a chain counts them as one: without them both would
 * be too optimistic. */
static int check_groups(const broad_model *model, const broad_data *data)
{
    broad__fitting fitting = broad__fitting_of(&model->settings);
    int unused = fitting == BROAD__FIT_WINDOW ||
                 (fitting == BROAD__FIT_CHAIN && model->settings.supervise != BROAD_SUPERVISE_GCV);
    if (!model->group_name || data->groups || unused) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA,
                       "the model was trained with groups of rows (column '%s'), and the data has none; give them, or "
                       "option force to go on without",
                       model->group_name);
}

/* With force the rows become one new segment, whatever the model was trained on before. */
static int accept_rows(broad_trainer *t, const broad_data *data, int force)
{
    int status = broad__model_fits(t->model, data);
    if (status < 0) return status;
    if (!force) status = check_groups(t->model, data);
    if (status == BROAD_OK) status = broad__model_check_rows(t->model, data);
    if (status != BROAD_BAD_DATA || !force) return status;
    broad_model *model = t->model;
    model->segment_count = 0;
    model->rows = 0;
    /* What is on record about the layers so far is about other rows: verify will say so. */
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__certificate *c = &model->layers[j].certificate;
        c->first_row = 0;
        if (c->rows > data->rows) c->rows = data->rows;
    }
    return broad__model_add_segment(model, data, 0, data->rows, 1);
}

static int resume_rows(broad_trainer *t, const broad_data *data, int force)
{
    broad_model *model = t->model;
    int status = accept_rows(t, data, force);
    broad__part *parts = status == BROAD_OK ? broad__alloc_array(model->segment_count, sizeof *parts) : NULL;
    if (status == BROAD_OK && !parts) status = BROAD_NO_MEMORY;
    size_t first = 0;
    for (size_t i = 0; status == BROAD_OK && i < model->segment_count; i++) {
        parts[i] = (broad__part){data, first, model->segments[i].rows, model->segments[i].weight};
        first += model->segments[i].rows;
    }
    if (status == BROAD_OK) t->first = parts[0];
    if (status == BROAD_OK) status = replay(t, &t->train, parts, model->segment_count, 1);
    broad__free(parts);
    return status;
}

int broad__trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                          const broad_options *run, int force)
{
    broad__storage storage = {0};
    int status = broad__options_check(run);
    if (status == BROAD_OK && model->seed_map != BROAD__SEED_MAP)
        status = broad__fail(
            BROAD_BAD_MODEL,
            "the model's nodes were drawn by seed map %zu, and this version has map %d: it can predict with "
            "the model, but not grow it",
            model->seed_map, (int)BROAD__SEED_MAP);
    if (status == BROAD_OK && data) status = broad__table_meet(data);
    broad_options more = *run; /* what will be added is not known yet, and is little compared with what exists */
    more.feature_groups = 0;
    more.enhance_layers = 1;
    if (status == BROAD_OK && data && data->rows)
        status = broad__plan_storage(&storage, &more, model, data->rows, data->inputs, model->outputs);
    return status == BROAD_OK ? broad__trainer_resume_stored(out, model, data, run, force, &storage) : status;
}

int broad__trainer_resume_stored(broad_trainer **out, const broad_model *model, const broad_data *data,
                                 const broad_options *run, int force, const broad__storage *storage)
{
    broad_trainer *t = NULL;
    int status = start(&t, run, storage);
    if (status < 0) return status;
    status = broad__model_copy(&t->model, model);
    if (status == BROAD_OK && model->group_count)
        t->feature_factor = model->groups[0].range / model->settings.range_steps[model->groups[0].step];
    double began = broad__seconds();
    if (status == BROAD_OK && data) status = resume_rows(t, data, force);
    if (status == BROAD_OK && !data) {
        status = broad__rowset_open(&t->train, t->model, t->device, t->pool, &t->storage);
        t->partial = 1;
    }
    t->seconds.features += broad__seconds() - began;
    status = broad__watch_check(status);
    if (status < 0) broad__trainer_close(NULL, t);
    else *out = t;
    return status;
}

int broad__trainer_validate(broad_trainer *t, const broad_data *rows)
{
    int status = broad__table_meet(rows);
    if (status == BROAD_OK) status = broad__model_fits(t->model, rows);
    if (status == BROAD_OK && rows->outputs > t->model->outputs)
        status = broad__fail(BROAD_BAD_DATA, "the validation rows have classes that the model does not know");
    if (status == BROAD_OK && t->validation.part_count)
        status = broad__fail(BROAD_USAGE, "there are validation rows already");
    broad__part part = {rows, 0, rows->rows, 1};
    if (status == BROAD_OK) status = replay(t, &t->validation, &part, 1, 0);
    if (status < 0) return status;
    t->best = (broad__best){t->model->layer_count, t->model->group_count, t->validation.residual.norm};
    return BROAD_OK;
}

void broad__trainer_close(broad_model **out, broad_trainer *t)
{
    if (out) *out = NULL;
    if (!t) return;
    broad__search_clear(&t->search);
    broad__joint_clear(&t->joint);
    broad__growing_qr_clear(&t->qr);
    broad__rowset_close(&t->train);
    broad__rowset_close(&t->validation);
    broad__spill_close(t->storage.spill);
    if (t->device_held) t->device->release();
    broad__pool_close(t->pool);
    broad__table_free(t->settled);
    broad__table_free(t->settled_validation);
    broad_model_free(t->before);
    broad__free(t->anchors);
    broad__table_free(t->anchor_rows);
    if (out) *out = t->model;
    else broad_model_free(t->model);
    broad__free(t);
}
