#include "model/model.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "metric/metric.h"

broad_model *broad__model_new(void)
{
    broad_model *model = broad__alloc(sizeof *model);
    if (!model) return NULL;
    model->settings.size = sizeof model->settings;
    model->seed_map = BROAD__SEED_MAP;
    model->reason = broad__copy_text("");
    if (model->reason) return model;
    broad_model_free(model);
    return NULL;
}

void broad__group_clear(broad__group *group)
{
    broad__free(group->weight);
    broad__free(group->bias);
    *group = (broad__group){0};
}

void broad__layer_clear(broad__layer *layer)
{
    broad__free(layer->weight);
    broad__free(layer->bias);
    broad__free(layer->output);
    broad__free(layer->joint);
    *layer = (broad__layer){0};
}

static void names_free(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++) broad__free(names[i]);
    broad__free(names);
}

int broad__borrowed_has(const broad__borrowed *borrowed, const void *address)
{
    uintptr_t begin = (uintptr_t)borrowed->bytes, at = (uintptr_t)address;
    return at >= begin && at - begin < borrowed->count;
}

static void leave_in_data(double **numbers, const broad__borrowed *data)
{
    if (broad__borrowed_has(data, *numbers)) *numbers = NULL;
}

/* What lies in the data of its file goes with them. */
static void free_data(broad_model *model)
{
    const broad__borrowed *data = &model->data;
    for (size_t i = 0; model->groups && i < model->group_count; i++) leave_in_data(&model->groups[i].weight, data);
    for (size_t i = 0; model->layers && i < model->layer_count; i++) leave_in_data(&model->layers[i].weight, data);
    leave_in_data(&model->projection.axes, data);
    broad__free((void *)(uintptr_t)data->bytes);
}

/* A half-built model may have counts without their arrays. */
void broad_model_free(broad_model *model)
{
    if (!model) return;
    free_data(model);
    for (size_t i = 0; model->groups && i < model->group_count; i++) broad__group_clear(&model->groups[i]);
    for (size_t i = 0; model->layers && i < model->layer_count; i++) broad__layer_clear(&model->layers[i]);
    broad__free(model->groups);
    broad__free(model->layers);
    names_free(model->input_names, model->inputs);
    names_free(model->output_names, model->outputs);
    broad__free(model->target_name);
    broad__free(model->group_name);
    broad__free(model->weight_name);
    broad__categories_clear(&model->categories);
    broad__forms_clear(&model->forms);
    broad__places_clear(&model->places);
    broad__projection_clear(&model->projection);
    broad__free(model->class_weights);
    broad__free(model->importance);
    broad__free(model->estimate.calibration);
    broad__free(model->estimate.residuals);
    broad__free(model->estimate.details);
    broad__free(model->estimate.spread);
    broad__free(model->estimate.limits);
    broad__free(model->input_shift);
    broad__free(model->input_factor);
    broad__free(model->input_fill);
    broad__free(model->input_knots);
    broad__free(model->relevance);
    broad__free(model->root);
    broad__free(model->output_shift);
    broad__free(model->output_factor);
    broad__free(model->reason);
    broad__free(model->segments);
    broad__trained_files_clear(&model->sources);
    broad__free(model);
}

size_t broad__model_feature_nodes(const broad_model *model, size_t groups)
{
    size_t nodes = 0;
    for (size_t i = 0; i < groups; i++) nodes += model->groups[i].nodes;
    return nodes;
}

broad__weight_source broad__feature_source(const broad_options *options)
{
    if (options->feature_weights == BROAD_FEATURE_WEIGHTS_AUTOENCODER) return BROAD__WEIGHT_SOURCE_AUTOENCODER;
    return options->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED ? BROAD__WEIGHT_SOURCE_SAMPLED
                                                                     : BROAD__WEIGHT_SOURCE_DRAWN;
}

size_t broad__model_columns(const broad_model *model)
{
    return broad__scaling_columns(model->settings.scale, model->inputs);
}

broad__scaling broad__model_scaling(const broad_model *model)
{
    return (broad__scaling){model->settings.scale, model->inputs,     broad__model_columns(model), model->input_shift,
                            model->input_factor,   model->input_fill, model->input_knots};
}

size_t broad__model_initial_groups(const broad_model *model)
{
    if (model->group_count && model->groups[0].source == BROAD__WEIGHT_SOURCE_DIRECT) return 1;
    return model->layer_count ? model->layers[0].groups : model->group_count;
}

size_t broad__model_nodes(const broad_model *model)
{
    size_t nodes = 0;
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].source != BROAD__WEIGHT_SOURCE_DIRECT) nodes += model->groups[g].nodes;
    for (size_t j = 0; j < model->layer_count; j++) nodes += model->layers[j].nodes;
    return nodes;
}

/* ---- copying --------------------------------------------------------------------------------------------------- */

/* Each of these puts a copy in *to, or sets *failed and puts NULL there. */
static void copy_block(double **to, const double *from, size_t count, int *failed)
{
    *to = from ? broad__alloc_doubles(count, 1) : NULL;
    if (*to) memcpy(*to, from, count * sizeof(double));
    if (from && !*to) *failed = 1;
}

static void copy_text(char **to, const char *from, int *failed)
{
    *to = from ? broad__copy_text(from) : NULL;
    if (from && !*to) *failed = 1;
}

static void copy_texts(char ***to, char *const *from, size_t count, int *failed)
{
    *to = broad__alloc_array(count, sizeof **to);
    if (!*to) *failed = 1;
    for (size_t i = 0; *to && i < count; i++) copy_text(&(*to)[i], from[i], failed);
}

static void copy_network(broad_model *to, const broad_model *from, int *failed)
{
    to->groups = broad__alloc_array(from->group_count, sizeof *to->groups);
    to->layers = broad__alloc_array(from->layer_count, sizeof *to->layers);
    to->layer_capacity = from->layer_count;
    if (!to->groups || !to->layers) *failed = 1;
    for (size_t g = 0; to->groups && g < from->group_count; g++) {
        const broad__group *group = &from->groups[g];
        to->groups[g] = *group;
        copy_block(&to->groups[g].weight, group->weight, broad__model_columns(from) * group->nodes, failed);
        copy_block(&to->groups[g].bias, group->bias, group->nodes, failed);
    }
    for (size_t j = 0; to->layers && j < from->layer_count; j++) {
        const broad__layer *layer = &from->layers[j];
        to->layers[j] = *layer;
        copy_block(&to->layers[j].weight, layer->weight, layer->inputs * layer->nodes, failed);
        copy_block(&to->layers[j].bias, layer->bias, layer->nodes, failed);
        copy_block(&to->layers[j].output, layer->output, layer->width * from->outputs, failed);
        copy_block(&to->layers[j].joint, layer->joint, layer->width * from->outputs, failed);
    }
}

int broad__model_copy(broad_model **out, const broad_model *model)
{
    int failed = 0;
    broad_model *copy = broad__alloc(sizeof *copy);
    if (!copy) return BROAD_NO_MEMORY;
    *copy = *model;
    copy->data = (broad__borrowed){0};
    copy_texts(&copy->input_names, model->input_names, model->inputs, &failed);
    copy_texts(&copy->output_names, model->output_names, model->outputs, &failed);
    copy_text(&copy->target_name, model->target_name, &failed);
    copy_text(&copy->group_name, model->group_name, &failed);
    copy_text(&copy->weight_name, model->weight_name, &failed);
    failed |= broad__categories_copy(&copy->categories, &model->categories) < 0;
    failed |= broad__forms_copy(&copy->forms, &model->forms) < 0;
    failed |= broad__places_copy(&copy->places, &model->places) < 0;
    failed |= broad__projection_copy(&copy->projection, &model->projection, &model->photo) < 0;
    copy_block(&copy->class_weights, model->class_weights, model->outputs, &failed);
    copy_block(&copy->estimate.calibration, model->estimate.calibration, model->outputs + 1, &failed);
    copy_block(&copy->estimate.residuals, model->estimate.residuals, model->outputs * model->estimate.residual_count,
               &failed);
    copy_block(&copy->estimate.spread, model->estimate.spread, model->outputs * 2 * model->estimate.spread_count,
               &failed);
    copy_block(&copy->estimate.limits, model->estimate.limits, model->outputs * 2, &failed);
    copy_block(&copy->estimate.details, model->estimate.details, (model->outputs + 1) * BROAD__DETAILS, &failed);
    copy_block(&copy->importance, model->importance, 2 * model->importance_columns + 1, &failed);
    copy_text(&copy->reason, model->reason, &failed);
    copy_block(&copy->input_shift, model->input_shift, broad__model_columns(model), &failed);
    copy_block(&copy->input_factor, model->input_factor, broad__model_columns(model), &failed);
    copy_block(&copy->relevance, model->relevance, broad__model_columns(model), &failed);
    copy_block(&copy->root, model->root, broad__model_columns(model) * broad__model_columns(model), &failed);
    copy_block(&copy->input_knots, model->input_knots, broad__scaling_knots(model->settings.scale, model->inputs),
               &failed);
    copy_block(&copy->input_fill, model->input_fill, model->inputs, &failed);
    copy_block(&copy->output_shift, model->output_shift, model->outputs, &failed);
    copy_block(&copy->output_factor, model->output_factor, model->outputs, &failed);
    copy->segments = broad__alloc_array(model->segment_count, sizeof *copy->segments);
    if (copy->segments) memcpy(copy->segments, model->segments, model->segment_count * sizeof *copy->segments);
    else failed = 1;
    failed |= broad__trained_files_copy(&copy->sources, &model->sources) < 0;
    copy_network(copy, model, &failed);
    if (failed) {
        broad_model_free(copy);
        return BROAD_NO_MEMORY;
    }
    *out = copy;
    return BROAD_OK;
}

/* ---- drawing --------------------------------------------------------------------------------------------------- */

broad__draw broad__group_drawing(const broad__group *group, const broad_model *model, size_t index)
{
    broad__stream stream = {.seed = model->settings.seed,
                            .purpose = BROAD__FOR_FEATURES,
                            .layer = (uint32_t)index,
                            .step = (uint16_t)group->step};
    return (broad__draw){stream, broad__model_columns(model), group->nodes, model->range * group->range,
                         model->settings.range_unit};
}

void broad__group_draw(broad__group *group, const broad_model *model, size_t index)
{
    if (group->source != BROAD__WEIGHT_SOURCE_DRAWN) return;
    broad__draw draw = broad__group_drawing(group, model, index);
    broad__draw_nodes(group->weight, group->bias, &draw);
}

broad__draw broad__layer_drawing(const broad__layer *layer, const broad_model *model, size_t index)
{
    const broad__certificate *record = &layer->certificate;
    broad__stream stream = {.seed = model->settings.seed,
                            .purpose = BROAD__FOR_ENHANCEMENT,
                            .layer = (uint32_t)index,
                            .step = (uint16_t)record->step,
                            .draw = (uint16_t)record->draw};
    return (broad__draw){stream, layer->inputs, layer->nodes, model->range * record->range, model->settings.range_unit};
}

void broad__layer_draw(broad__layer *layer, const broad_model *model, size_t index)
{
    broad__draw draw = broad__layer_drawing(layer, model, index);
    broad__draw_nodes(layer->weight, layer->bias, &draw);
}

broad__columns broad__model_reads(const broad_model *model)
{
    return (broad__columns){
        .inputs = model->inputs,
        .outputs = model->outputs,
        .task = model->task,
        .input_names = (const char *const *)model->input_names,
        .output_names = (const char *const *)model->output_names,
        .target_name = model->target_name,
        .group_name = model->group_name,
        .weight_name = model->weight_name,
        .categories = model->categories,
        .forms = model->forms,
        .places = model->places,
        .named = model->named,
        .photo = model->photo,
        .projection = model->projection,
        .missing = model->missing,
    };
}
