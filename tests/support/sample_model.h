/* Models made by hand, without training, and repair of the checksums of an edited model file. */
#ifndef BROAD_TESTS_SUPPORT_SAMPLE_MODEL_H
#define BROAD_TESTS_SUPPORT_SAMPLE_MODEL_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "model/kind.h"
#include "model/model.h"

typedef struct sample_form {
    unsigned seed;
    broad_task task;
    size_t inputs, outputs;
    size_t groups, group_nodes;
    size_t layers, layer_nodes;
    size_t late_groups; /* groups that only the last layer brings in; 0 for scn and rvfl */
    broad_kind kind;    /* of these two it has one group, the inputs */
    broad_weights weights;
    broad_feature_weights features;
    int class_weights;
    int metric; /* drawn nodes were turned by a learned one; 2: it has no more than a diagonal */
} sample_form;

static inline broad__node_plan sample_plan(broad_kind kind) { return broad__kind_of(kind)->nodes; }

/* Some test that the kind has. */
static inline broad_supervise sample_test(broad_kind kind, unsigned state)
{
    while (!(broad__kind_of(kind)->tests >> state % 5 & 1)) state = (state + 1) % 5;
    return (broad_supervise)(state % 5);
}

static inline double sample_uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-24;
}

static inline double *sample_doubles(unsigned *state, size_t count)
{
    double *values = broad__alloc_doubles(count, 1);
    for (size_t i = 0; i < count; i++) values[i] = 4 * sample_uniform(state) - 2 + 0x1p-40;
    return values;
}

static inline void sample_hash(char out[33], unsigned *state)
{
    double value = sample_uniform(state);
    broad__hash_text(out, &value, sizeof value);
}

static inline char **sample_names(const char *stem, size_t count)
{
    static const char *const odd[] = {"plain", "quo\"ted \\ and\nnewline", "\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80",
                                      "latin \xFC\xE9", "\xED\xA0\x80 surrogate"};
    char **names = broad__alloc_array(count, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s%zu %s", stem, i, odd[i % 5]);
        names[i] = broad__copy_text(text);
    }
    return names;
}

static inline void sample_settings(broad_options *out, const sample_form *form, unsigned *state)
{
    static const double steps[] = {1, 0.5, 2, 0.1};
    out->kind = form->kind;
    out->preset = *state % 3 ? BROAD_PRESET_PAPER : BROAD_PRESET_AUTO;
    out->seed = (uint64_t)*state << 33 | *state;
    out->feature_groups = 3;
    out->feature_nodes = 7;
    out->enhance_nodes = 11;
    out->activation = (broad_activation)(*state % 6);
    out->feature_activation = (broad_activation)(*state % 5);
    out->precision = (broad_precision)(*state % 2);
    out->scale = (broad_scale)(*state % 3);
    out->scale_target = (broad_scale)(*state % 2);
    out->lambda_auto = *state % 2;
    out->lambda = 1e-8 * (1 + sample_uniform(state));
    out->range_auto = *state % 2;
    out->range = 0.1 + sample_uniform(state);
    out->range_unit = (broad_range_unit)(*state % 2);
    out->supervise = sample_test(form->kind, *state);
    out->gamma_form = (broad_gamma_form)(*state % 3);
    out->gamma_count = 1 + *state % 4;
    for (size_t i = 0; i < out->gamma_count; i++) out->gamma[i] = sample_uniform(state);
    out->tries = 10;
    out->range_steps_count = 4;
    memcpy(out->range_steps, steps, sizeof steps);
    out->relax = 0.3;
    out->relax_count = 3;
    out->select = (broad_select)(*state % 2);
    out->weights = form->weights;
    out->window = 1 + *state % 30;
    out->loo = BROAD_LOO_AUTO; /* yes does not go with every kind */
    out->feature_weights = form->features;
    out->sparse_lambda = sample_uniform(state);
    out->sparse_steps = 1 + *state % 50;
}

static inline void sample_certificate(broad__certificate *out, const broad_model *model, unsigned *state, size_t index)
{
    out->origin = index ? BROAD__ORIGIN_ENHANCE : BROAD__ORIGIN_INITIAL;
    out->test = model->settings.supervise;
    out->rows = model->rows;
    out->gamma = sample_uniform(state);
    out->mu = (1 - out->gamma) / 3;
    out->bound = out->gamma + out->mu;
    out->norm_before = 10 * sample_uniform(state);
    out->ratio = sample_uniform(state) / 3;
    out->norm_after = out->norm_before * out->ratio;
    out->tested = out->ratio * 1.1;
    out->lambda = 1e-3 * sample_uniform(state);
    out->step = *state % 4;
    out->range = model->settings.range_steps[out->step];
    out->draw = *state % 10;
    out->tries = 1 + *state % 30;
    out->relaxed = *state % 4;
    out->passed = *state % 5 != 0;
    sample_hash(out->weights, state);
}

static inline void sample_group(broad_model *model, const sample_form *form, unsigned *state, size_t index)
{
    broad__group *group = &model->groups[index];
    int direct = sample_plan(form->kind) != BROAD__NODES_FEATURES;
    group->source = direct                                                ? BROAD__WEIGHT_SOURCE_DIRECT
                    : form->features == BROAD_FEATURE_WEIGHTS_AUTOENCODER ? BROAD__WEIGHT_SOURCE_AUTOENCODER
                                                                          : BROAD__WEIGHT_SOURCE_DRAWN;
    if (form->metric && !direct) group->source = BROAD__WEIGHT_SOURCE_SAMPLED;
    group->nodes = direct ? form->inputs : form->group_nodes + index % 2;
    group->step = *state % 4;
    group->range = model->settings.range_steps[group->step];
    if (direct) return;
    group->weight = sample_doubles(state, model->inputs * group->nodes);
    group->bias = sample_doubles(state, group->nodes);
    if (group->source == BROAD__WEIGHT_SOURCE_DRAWN) broad__group_draw(group, model, index);
}

static inline void sample_joint(broad_model *model, unsigned *state)
{
    if (broad__fitting_of(&model->settings) != BROAD__FIT_FINALLY || !model->layer_count) return;
    model->joint.present = 1;
    model->joint.lambda = sample_uniform(state);
    model->joint.norm = 10 * sample_uniform(state);
    sample_hash(model->joint.weights, state);
    for (size_t j = 0; j < model->layer_count; j++)
        model->layers[j].joint = sample_doubles(state, model->layers[j].width * model->outputs);
}

static inline void sample_metric(broad_model *model, const sample_form *form, unsigned *state)
{
    size_t n = model->inputs;
    if (!form->metric) return;
    model->optimism = 1 + sample_uniform(state);
    model->settings.metric = BROAD_LEARNED_YES;
    model->settings.effort = BROAD_EFFORT_THOROUGH;
    model->pilot[BROAD__STYLE_SPARSE] = sample_uniform(state);
    model->relevance = sample_doubles(state, n);
    for (size_t j = 0; j < n; j++) model->relevance[j] *= model->relevance[j];
    model->has_relevance = 1;
    model->has_root = form->metric == 1;
    if (!model->has_root) return;
    model->root = sample_doubles(state, n * n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) model->root[i * n + j] = model->root[j * n + i];
}

static inline void sample_network(broad_model *model, const sample_form *form, unsigned *state)
{
    int direct = sample_plan(form->kind) != BROAD__NODES_FEATURES;
    size_t first_groups = direct ? 1 : form->groups;
    model->group_count = first_groups + (direct ? 0 : form->late_groups);
    model->groups = broad__alloc_array(model->group_count, sizeof *model->groups);
    for (size_t i = 0; i < model->group_count; i++) sample_group(model, form, state, i);
    model->layer_count = form->layers;
    model->layers = broad__alloc_array(model->layer_count, sizeof *model->layers);
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        int last = j > 0 && j + 1 == model->layer_count;
        sample_certificate(&layer->certificate, model, state, j);
        layer->inputs = broad__model_feature_nodes(model, last ? model->group_count : first_groups);
        layer->nodes = form->layer_nodes + j % 2;
        layer->first_group = last && form->late_groups ? first_groups : 0;
        layer->groups = j == 0 ? first_groups : last ? form->late_groups : 0;
        if (sample_plan(form->kind) == BROAD__NODES_HIDDEN) layer->groups = 0;
        layer->width = layer->nodes;
        for (size_t g = 0; g < layer->groups; g++) layer->width += model->groups[layer->first_group + g].nodes;
        layer->weight = broad__alloc_doubles(layer->inputs, layer->nodes);
        layer->bias = broad__alloc_doubles(layer->nodes, 1);
        layer->output = sample_doubles(state, layer->width * model->outputs);
        broad__layer_draw(layer, model, j);
    }
    sample_joint(model, state);
}

/* Every other sample remembers a table and a folder of two photos. */
static inline void sample_sources(broad_model *model, unsigned *state)
{
    static const char *const files[] = {"photos/a \"b\".jpg", "photos/\xFF.jpg"};
    broad__trained_file *items = broad__alloc_array(2, sizeof *items);
    for (size_t i = 0; i < 2; i++) items[i] = (broad__trained_file){.path = broad__copy_text("data"), .rows = 5 + i};
    items[0].labels = broad__copy_text("labels.csv");
    items[1].photos = broad__alloc_array(2, sizeof *items[1].photos);
    items[1].photo_count = 2;
    for (size_t i = 0; i < 2; i++) {
        items[1].photos[i] =
            (broad__trained_photo){.file = broad__copy_text(files[i]), .rows = 1 + i, .held_out = i > 0};
        items[1].photos[i].target = model->task == BROAD_TASK_CLASSIFY ? 1 : 0;
        sample_hash(items[1].photos[i].content, state);
    }
    model->sources = (broad__trained_files){2, items};
}

/* A column that was left out, the targets from the last to the first, then the inputs but for one, a group, and that one. */
static inline void sample_places(broad_model *model)
{
    size_t targets = model->task == BROAD_TASK_CLASSIFY ? 1 : model->outputs, count = 0;
    broad__place *items = broad__alloc_array(targets + 4, sizeof *items);
    items[count++] = (broad__place){BROAD__ROLE_IGNORED, 0, 2};
    for (size_t t = targets; t-- > 0;) items[count++] = (broad__place){BROAD__ROLE_TARGET, t, 1};
    if (model->inputs > 1) items[count++] = (broad__place){BROAD__ROLE_INPUT, 0, model->inputs - 1};
    items[count++] = (broad__place){BROAD__ROLE_GROUP, 0, 1};
    items[count++] = (broad__place){BROAD__ROLE_INPUT, model->inputs - 1, 1};
    model->places = (broad__places){count, items};
}

static inline broad_model *sample_model(const sample_form *form)
{
    unsigned state = form->seed * 2654435761u + 12345;
    broad_model *model = broad__model_new();
    sample_uniform(&state);
    model->task = form->task;
    model->inputs = form->inputs;
    model->outputs = form->outputs;
    model->input_names = sample_names("in", form->inputs);
    model->output_names = sample_names("out", form->outputs);
    model->named = state % 2;
    model->target_name = broad__copy_text("target");
    model->group_name = form->seed % 2 ? broad__copy_text("panel") : NULL;
    model->positive = form->task == BROAD_TASK_CLASSIFY ? form->outputs - 1 : 0;
    model->missing = (broad_missing)(form->seed % 2);
    model->input_shift = sample_doubles(&state, form->inputs);
    model->input_factor = sample_doubles(&state, form->inputs);
    model->input_fill = sample_doubles(&state, form->inputs);
    model->output_shift = sample_doubles(&state, form->outputs);
    model->output_factor = sample_doubles(&state, form->outputs);
    if (form->class_weights) {
        model->class_weights = sample_doubles(&state, form->outputs);
        for (size_t i = 0; i < form->outputs; i++) model->class_weights[i] = 0.5 + 0.1 * (double)i;
    }
    sample_settings(&model->settings, form, &state);
    model->range = 0.1 + sample_uniform(&state);
    model->outcome = (broad_outcome)(form->seed % 4);
    broad__free(model->reason);
    model->reason = broad__copy_text(form->seed % 4 ? "layer 3: no draw passed" : "");
    model->segment_count = 2;
    model->segments = broad__alloc_array(2, sizeof *model->segments);
    for (size_t i = 0; i < 2; i++) {
        model->segments[i].rows = 5 + i;
        model->segments[i].weight = i ? 2.5 : 1;
        model->rows += 5 + i;
        sample_hash(model->segments[i].fingerprint, &state);
    }
    model->split_holdout = form->seed % 2 ? 0.3 : 0;
    model->split_seed = form->seed % 2 ? UINT64_MAX - form->seed : 0;
    model->first_norm = 10 * sample_uniform(&state);
    sample_metric(model, form, &state);
    sample_network(model, form, &state);
    if (form->seed % 2) sample_sources(model, &state);
    if (form->seed % 3 == 1) sample_places(model);
    return model;
}

/* Where the digits of the checksums lie, from the start of the file, by docs/model-format.md. */
enum { SAMPLE_HEADER_DIGITS = 75, SAMPLE_DATA_DIGITS = 126, SAMPLE_HEADER_LEAST = 158 };

static inline uint64_t sample_header_bytes(const unsigned char *bytes)
{
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--) length = length << 8 | bytes[i];
    return length;
}

/* Puts the right checksums into a file that was changed, so that what lies behind them is reached. */
static inline void sample_repair(unsigned char *bytes, size_t count)
{
    char digits[BROAD__HASH_TEXT];
    if (count < SAMPLE_HEADER_LEAST) return;
    uint64_t header = sample_header_bytes(bytes);
    if (header > count - 8 || header < SAMPLE_HEADER_LEAST - 8) return;
    broad__hash_text(digits, bytes + 8 + header, count - 8 - (size_t)header);
    memcpy(bytes + SAMPLE_DATA_DIGITS, digits, 32);
    memset(bytes + SAMPLE_HEADER_DIGITS, '0', 32);
    broad__hash_text(digits, bytes + 8, (size_t)header);
    memcpy(bytes + SAMPLE_HEADER_DIGITS, digits, 32);
}

#endif
