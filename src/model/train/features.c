/* The feature nodes of a network that is being built: drawing or fitting them, and the ranges by leave-one-out. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "feature/autoencoder.h"
#include "feature/sample.h"
#include "model/kind.h"
#include "model/train/pilot.h"
#include "model/train/train.h"
#include "rng/draw.h"

/* Ranges that `auto` looks at, as multiples of the one given: first of the feature nodes, then, with the best of these, of
 * the enhancement nodes. */
static const double AUTO_FEATURE_RANGES[] = {1.0, 0.1, 0.2, 0.5, 2.0};
static const double AUTO_NODE_RANGES[] = {0.2, 0.5, 2.0, 5.0};
/* More rows and nodes than these do not change the choice of a range, but its cost. */
enum { AUTO_ROWS = 4000, AUTO_NODES = 200 };
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { GROUPS_MAX = 1000000 };

/* ---- features -------------------------------------------------------------------------------------------------- */

broad__direction broad__style_direction(broad__style style, size_t index)
{
    if (style == BROAD__STYLE_DIFFERENCE) return BROAD__DIFFERENCE;
    return style == BROAD__STYLE_MIX && index % 2 ? BROAD__SPARSE : BROAD__DENSE;
}

static int sample_group(broad_trainer *t, broad__group *group, size_t index)
{
    const broad_model *model = t->model;
    const broad__part *part = &t->first;
    broad__sample_task task = {.scaling = broad__model_scaling(model),
                               .x = part->data->x + part->first * model->inputs,
                               .rows = part->count,
                               .relevance = model->relevance,
                               .grid_height = part->data->grid_height,
                               .grid_width = part->data->grid_width,
                               .nodes = group->nodes,
                               .range = model->range * group->range,
                               .direction = broad__style_direction(model->style, index),
                               .stream = {.seed = model->settings.seed,
                                          .purpose = BROAD__FOR_FEATURES,
                                          .layer = (uint32_t)index,
                                          .step = (uint16_t)group->step}};
    return broad__sample_nodes(group->weight, group->bias, &task);
}

static int encode_group(broad_trainer *t, broad__group *group, size_t index)
{
    const broad_model *model = t->model;
    const broad__part *part = &t->first;
    broad__autoencoder_task task = {
        .device = t->device,
        .pool = t->pool,
        .x = part->data->x + part->first * model->inputs,
        .rows = part->count,
        .scaling = broad__model_scaling(model),
        .nodes = group->nodes,
        .lambda = model->settings.sparse_lambda,
        .steps = model->settings.sparse_steps,
        .stream = {.seed = model->settings.seed, .purpose = BROAD__FOR_FEATURES, .layer = (uint32_t)index}};
    return broad__autoencoder(group->weight, group->bias, &task);
}

int broad__trainer_fill_group(broad_trainer *t, size_t index)
{
    broad__group *group = &t->model->groups[index];
    if (group->source == BROAD__WEIGHT_SOURCE_SAMPLED) return sample_group(t, group, index);
    if (group->source == BROAD__WEIGHT_SOURCE_AUTOENCODER) return encode_group(t, group, index);
    broad__group_draw(group, t->model, index);
    return BROAD_OK;
}

/* Draws every group with the range of `step` and computes Z. */
int broad__trainer_draw_features(void *context, size_t step)
{
    broad_trainer *t = context;
    broad_model *model = t->model;
    double began = broad__seconds();
    int status = BROAD_OK;
    for (size_t g = 0; status == BROAD_OK && g < model->group_count; g++) {
        model->groups[g].step = step;
        model->groups[g].range = model->settings.range_steps[step] * t->feature_factor;
        status = broad__trainer_fill_group(t, g);
    }
    if (status == BROAD_OK) status = broad__rowset_refresh(&t->train);
    if (status == BROAD_OK && t->validation.part_count) status = broad__rowset_refresh(&t->validation);
    t->seconds.features += broad__seconds() - began;
    return status;
}

/* Room for one more group; it counts only once model->group_count says so. */
int broad__model_make_group(broad_model *model, broad__weight_source source, size_t nodes)
{
    size_t room = model->group_count;
    int status = broad__grow(&model->groups, &room, model->group_count + 1, sizeof *model->groups, GROUPS_MAX);
    if (status < 0) return status;
    broad__group *group = &model->groups[model->group_count];
    *group = (broad__group){.source = source, .nodes = nodes, .range = 1};
    if (source == BROAD__WEIGHT_SOURCE_DIRECT) return BROAD_OK;
    group->weight = broad__alloc_doubles(broad__model_columns(model), nodes);
    group->bias = broad__alloc_doubles(nodes, 1);
    if (group->weight && group->bias) return BROAD_OK;
    broad__group_clear(group);
    return BROAD_NO_MEMORY;
}

int broad__model_make_groups(broad_model *model)
{
    const broad_options *o = &model->settings;
    if (broad__kind_of(o->kind)->nodes != BROAD__NODES_FEATURES) {
        int status = broad__model_make_group(model, BROAD__WEIGHT_SOURCE_DIRECT, broad__model_columns(model));
        if (status == BROAD_OK) model->group_count++;
        return status;
    }
    for (size_t g = 0; g < o->feature_groups; g++) {
        int status = broad__model_make_group(model, broad__feature_source(o), o->feature_nodes);
        if (status < 0) return status;
        model->groups[model->group_count++].range = o->range_steps[0];
    }
    if (o->feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED) return BROAD_OK;
    size_t columns = broad__model_columns(model);
    model->relevance = broad__alloc_doubles(columns, 1);
    for (size_t j = 0; model->relevance && j < columns; j++) model->relevance[j] = 1;
    return model->relevance ? BROAD_OK : BROAD_NO_MEMORY;
}

/* ---- the base range by leave-one-out --------------------------------------------------------------------------- */

/* The leave-one-out norm of a layer 1 with the ranges in force, of so many nodes as suffice to tell ranges apart. */
static int range_loo(double *out, broad_trainer *t)
{
    broad__search *s = &t->search;
    const broad_options *o = &t->model->settings;
    size_t features = t->train.rows.features, count = o->enhance_nodes < AUTO_NODES ? o->enhance_nodes : AUTO_NODES;
    int status = broad__reserve(&s->weight, &s->weight_room, features * count);
    if (status == BROAD_OK) status = broad__reserve(&s->bias, &s->bias_room, count);
    if (status < 0) return status;
    broad__stream stream = {.seed = o->seed, .purpose = BROAD__FOR_ENHANCEMENT};
    broad__draw_nodes(s->weight, s->bias, &stream, features, count, t->model->range * o->range_steps[0], o->range_unit);
    size_t prefix = broad__kind_of(o->kind)->nodes == BROAD__NODES_HIDDEN ? 0 : features;
    broad__kblock piece = {
        {features, count, s->weight, s->bias, o->activation, o->precision == BROAD_PRECISION_FLOAT}, 0, prefix};
    broad__ridge_request request = {.lambda_auto = o->lambda_auto, .lambda = o->lambda, .loo = 1};
    status = broad__residual_candidate(&t->train.rows, &piece, 1);
    if (status == BROAD_OK) status = broad__ridge_solve(&s->ridge, &t->train.rows, &request);
    if (status == BROAD_OK) *out = s->ridge.loo;
    return status;
}

/* A pair of ranges, and how well layer 1 does with it. */
typedef struct range_choice {
    double features, nodes, loo;
} range_choice;

static int use_ranges(broad_trainer *t, double features, double nodes)
{
    t->model->range = nodes;
    t->feature_factor = features / nodes;
    return broad__trainer_draw_features(t, 0);
}

static int try_ranges(range_choice *best, broad_trainer *t, double features, double nodes)
{
    double loo = INFINITY;
    int status = use_ranges(t, features, nodes);
    if (status == BROAD_OK) status = range_loo(&loo, t);
    if (status == BROAD_OK && loo < best->loo) *best = (range_choice){features, nodes, loo};
    return status;
}

/* What a range of the grid is, for nodes of so many inputs: where ranges are absolute, the root of these is taken out here,
 * since a node's argument grows with it. */
static double grid_unit(const broad_options *o, size_t inputs)
{
    return o->range_unit == BROAD_RANGE_ABSOLUTE ? o->range * sqrt(3.0 / (double)inputs) : o->range;
}

static int search_ranges(range_choice *best, broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    double first = grid_unit(o, broad__model_columns(t->model)), nodes = grid_unit(o, t->train.rows.features);
    int status = BROAD_OK;
    *best = (range_choice){first, nodes, INFINITY};
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_FEATURE_RANGES); i++)
        status = try_ranges(best, t, first * AUTO_FEATURE_RANGES[i], nodes);
    double features = best->features;
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_NODE_RANGES); i++)
        status = try_ranges(best, t, features, nodes * AUTO_NODE_RANGES[i]);
    return status;
}

/* The search on some of the rows, which stand in for all of them meanwhile. */
static int search_ranges_thinned(range_choice *best, broad_trainer *t, const broad_data *data)
{
    broad_data *some = NULL;
    broad__rowset all = t->train;
    memset(&t->train, 0, sizeof t->train);
    int status = broad__table_thin(&some, data, AUTO_ROWS);
    if (status == BROAD_OK) status = broad__rowset_open(&t->train, t->model, t->device, t->pool, NULL);
    t->train.groups = t->model->group_count;
    if (status == BROAD_OK) status = broad__rowset_add_rows(&t->train, (broad__part){some, 0, some->rows, 1}, 0);
    if (status == BROAD_OK) status = search_ranges(best, t);
    broad__rowset_close(&t->train);
    broad__table_free(some);
    t->train = all;
    return status;
}

int broad__trainer_run_pilot(broad_trainer *t, const broad_data *data)
{
    broad_model *model = t->model;
    if (!model->settings.range_auto || model->settings.feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED)
        return BROAD_OK;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    int status = broad__pilot_run(&t->feature_factor, t, data);
    broad__profile_leave(before);
    for (size_t g = 0; status == BROAD_OK && g < model->group_count; g++)
        model->groups[g].range = model->settings.range_steps[0] * t->feature_factor;
    return status;
}

int broad__trainer_choose_range(broad_trainer *t, const broad_data *data)
{
    range_choice best;
    if (!t->model->settings.range_auto || t->model->settings.feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED)
        return BROAD_OK;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    int status = data->rows > AUTO_ROWS ? search_ranges_thinned(&best, t, data) : search_ranges(&best, t);
    broad__profile_leave(before);
    return status == BROAD_OK ? use_ranges(t, best.features, best.nodes) : status;
}
