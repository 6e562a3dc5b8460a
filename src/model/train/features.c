#include "model/train/features.h"

#include "base/clock.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "data/row_order.h"
#include "feature/autoencoder.h"
#include "model/kind.h"

enum { GROUPS_MAX = 1000000, ANCHORS_MOST = 16384 };

broad__direction broad__style_direction(broad__style style, size_t index)
{
    if (style == BROAD__STYLE_DIFFERENCE) return BROAD__DIFFERENCE;
    return style == BROAD__STYLE_SPARSE || (style == BROAD__STYLE_MIX && index % 2) ? BROAD__SPARSE : BROAD__DENSE;
}

/* The rows that sampled nodes look at: all, or of many as many as make no difference. */
static int find_anchors(broad_trainer *t)
{
    const broad__part *part = &t->first;
    if (t->anchors) return BROAD_OK;
    size_t count = broad__min(part->count, ANCHORS_MOST), *anchors = broad__alloc_array(count, sizeof *anchors);
    int status = anchors ? broad__row_order(anchors, count, part->data, part->first, part->count) : BROAD_NO_MEMORY;
    if (status < 0) {
        broad__free(anchors);
        return status;
    }
    t->anchors = anchors;
    t->anchor_count = count;
    return BROAD_OK;
}

/* Of rows that ranks have divided these are brought to all of them, in their order. */
static int gather_anchors(broad_trainer *t)
{
    if (t->anchor_rows) return BROAD_OK;
    return broad__table_rows(&t->anchor_rows, t->first.data, t->anchors, t->anchor_count);
}

static int sample_group(broad_trainer *t, broad__group *group, size_t index)
{
    const broad_model *model = t->model;
    const broad__part *part = &t->first;
    int status = find_anchors(t), divided = status == BROAD_OK && broad__table_divided(part->data);
    if (divided) status = gather_anchors(t);
    if (status < 0) return status;
    broad__sample_task task = {.scaling = broad__model_scaling(model),
                               .x = divided ? t->anchor_rows->x : part->data->x + part->first * model->inputs,
                               .rows = divided ? t->anchor_count : part->count,
                               .order = divided ? NULL : t->anchors,
                               .order_count = t->anchor_count,
                               .relevance = model->relevance,
                               .root = model->root,
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
    int status = broad__table_gather(part->data); /* every step goes over all rows */
    if (status < 0) return status;
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

/* Drawn from the seed and, where there is a metric, turned by its root: then the rows have their part in it. */
static int draw_group(broad_trainer *t, broad__group *group, size_t index)
{
    const broad_model *model = t->model;
    size_t columns = broad__model_columns(model);
    group->source = BROAD__WEIGHT_SOURCE_DRAWN;
    broad__group_draw(group, model, index);
    if (!model->root && !model->relevance) return BROAD_OK;
    group->source = BROAD__WEIGHT_SOURCE_SAMPLED;
    for (size_t i = 0; !model->root && i < columns * group->nodes; i++)
        group->weight[i] *= model->relevance[i / group->nodes];
    if (!model->root) return BROAD_OK;
    double *turned = broad__alloc_doubles(columns, group->nodes);
    if (!turned) return BROAD_NO_MEMORY;
    t->device->apply(turned, group->nodes, 1, model->root, columns, columns, group->weight, group->nodes, columns,
                     group->nodes);
    broad__free(group->weight);
    group->weight = turned;
    return BROAD_OK;
}

int broad__trainer_fill_group(broad_trainer *t, size_t index)
{
    broad__group *group = &t->model->groups[index];
    if (group->source == BROAD__WEIGHT_SOURCE_DIRECT) return BROAD_OK;
    switch (broad__feature_source(&t->model->settings)) {
    case BROAD__WEIGHT_SOURCE_SAMPLED: return sample_group(t, group, index);
    case BROAD__WEIGHT_SOURCE_AUTOENCODER: return encode_group(t, group, index);
    case BROAD__WEIGHT_SOURCE_DRAWN:
    case BROAD__WEIGHT_SOURCE_DIRECT: break;
    }
    return draw_group(t, group, index);
}

static void draw_alone(void *context, size_t index, size_t worker)
{
    (void)worker;
    broad_model *model = context;
    broad__group *group = &model->groups[index];
    if (group->source == BROAD__WEIGHT_SOURCE_DIRECT) return;
    group->source = BROAD__WEIGHT_SOURCE_DRAWN;
    broad__group_draw(group, model, index);
}

int broad__trainer_fill_groups(broad_trainer *t)
{
    broad_model *model = t->model;
    int status = BROAD_OK;
    /* Those that come from the seed alone, by all threads. */
    if (broad__feature_source(&model->settings) == BROAD__WEIGHT_SOURCE_DRAWN && !model->root && !model->relevance) {
        broad__pool_run(t->pool, model->group_count, draw_alone, model);
        return broad__watch_check(BROAD_OK);
    }
    for (size_t g = 0; status == BROAD_OK && g < model->group_count; g++) status = broad__trainer_fill_group(t, g);
    return status;
}

/* Draws every group with the range of `step` and computes Z. */
int broad__trainer_draw_features(void *context, size_t step)
{
    broad_trainer *t = context;
    broad_model *model = t->model;
    double began = broad__seconds();
    for (size_t g = 0; g < model->group_count; g++) {
        model->groups[g].step = step;
        model->groups[g].range = model->settings.range_steps[step] * t->feature_factor;
    }
    int status = broad__trainer_fill_groups(t);
    if (status == BROAD_OK) status = broad__rowset_refresh(&t->train);
    if (status == BROAD_OK && t->validation.part_count) status = broad__rowset_refresh(&t->validation);
    t->seconds.features += broad__seconds() - began;
    return status;
}

/* Room for one more group; it counts only once model->group_count says so. */
int broad__model_make_group(broad_model *model, broad__weight_source source, size_t nodes)
{
    size_t capacity = model->group_count;
    int status = broad__grow(&model->groups, &capacity, model->group_count + 1, sizeof *model->groups, GROUPS_MAX);
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

int broad__model_resize_groups(broad_model *model, size_t nodes)
{
    int status = BROAD_OK;
    for (size_t g = 0; status == BROAD_OK && g < model->group_count; g++) {
        broad__group *group = &model->groups[g];
        broad__free(group->weight), broad__free(group->bias);
        group->weight = broad__alloc_doubles(broad__model_columns(model), nodes);
        group->bias = broad__alloc_doubles(nodes, 1);
        group->nodes = nodes;
        if (!group->weight || !group->bias) status = BROAD_NO_MEMORY;
    }
    model->settings.feature_nodes = nodes;
    return status;
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
