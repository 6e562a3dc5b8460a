#include "model/model.h"

#include "base/memory.h"
#include "rng/draw.h"

broad_model *broad__model_new(void)
{
    broad_model *model = broad__alloc(sizeof *model);
    if (!model) return NULL;
    model->settings.size = sizeof model->settings;
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
    *layer = (broad__layer){0};
}

static void names_free(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++) broad__free(names[i]);
    broad__free(names);
}

/* A half-built model may have counts without their arrays. */
void broad_model_free(broad_model *model)
{
    if (!model) return;
    for (size_t i = 0; model->groups && i < model->group_count; i++) broad__group_clear(&model->groups[i]);
    for (size_t i = 0; model->layers && i < model->layer_count; i++) broad__layer_clear(&model->layers[i]);
    broad__free(model->groups);
    broad__free(model->layers);
    names_free(model->input_names, model->inputs);
    names_free(model->output_names, model->outputs);
    broad__free(model->target_name);
    broad__free(model->group_name);
    broad__free(model->input_shift);
    broad__free(model->input_factor);
    broad__free(model->input_fill);
    broad__free(model->output_shift);
    broad__free(model->output_factor);
    broad__free(model->reason);
    broad__free(model->segments);
    broad__free(model);
}

size_t broad__model_feature_nodes(const broad_model *model, size_t groups)
{
    size_t nodes = 0;
    for (size_t i = 0; i < groups; i++) nodes += model->groups[i].nodes;
    return nodes;
}

void broad__group_draw(broad__group *group, const broad_model *model, size_t index)
{
    broad__stream stream = {.seed = model->settings.seed,
                            .purpose = BROAD__FOR_FEATURES,
                            .layer = (uint32_t)index,
                            .step = (uint16_t)group->step};
    broad__draw_nodes(group->weight, group->bias, &stream, model->inputs, group->nodes, model->range * group->range,
                      model->settings.range_unit);
}

void broad__layer_draw(broad__layer *layer, const broad_model *model, size_t index)
{
    const broad__certificate *kept = &layer->certificate;
    broad__stream stream = {.seed = model->settings.seed,
                            .purpose = BROAD__FOR_ENHANCEMENT,
                            .layer = (uint32_t)index,
                            .step = (uint16_t)kept->step,
                            .draw = (uint16_t)kept->draw};
    broad__draw_nodes(layer->weight, layer->bias, &stream, layer->inputs, layer->nodes, model->range * kept->range,
                      model->settings.range_unit);
}
