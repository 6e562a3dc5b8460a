#include "export/flat.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/levels.h"

#define USUAL_LEVEL 0.9

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static size_t missing_level(const broad__category *category)
{
    size_t level = 0;
    while (level < category->count && strcmp(category->levels[level], BROAD__LEVEL_MISSING) != 0) level++;
    return level;
}

static int make_columns(broad__flat *out, const broad_model *model)
{
    size_t count = out->column_count, input = 0;
    out->columns = broad__alloc_array(count, sizeof *out->columns);
    if (!out->columns) return BROAD_NO_MEMORY;
    for (size_t c = 0; c < count; c++) {
        const broad__category *category = broad__categories_at(&model->categories, input);
        broad__flat_column *column = &out->columns[c];
        column->first = input;
        column->category = category;
        column->name = category ? category->name : model->input_names[input];
        column->missing = category ? missing_level(category) : 0;
        column->form = broad__forms_find(&model->forms, input);
        out->categories |= category != NULL;
        input += category ? category->count : 1;
    }
    return BROAD_OK;
}

static int make_row(broad__flat *out, const broad_model *model)
{
    out->column_count = broad__flat_columns(model);
    if (!model->photo.maps) return make_columns(out, model);
    out->row = model->photo.maps == BROAD_PHOTO_MAP_PIXELS ? BROAD__FLAT_PICTURE : BROAD__FLAT_PREPARED;
    out->components = model->photo.components;
    return BROAD_OK;
}

size_t broad__flat_columns(const broad_model *model)
{
    return model->photo.maps ? broad__photo_inputs(&model->photo)
                             : broad__categories_columns(&model->categories, model->inputs);
}

void broad__flat_codes(double *out, const broad_model *model, const double *inputs)
{
    for (size_t i = 0; i < model->inputs; out++) {
        const broad__category *category = broad__categories_at(&model->categories, i);
        size_t count = category ? category->count : 1;
        *out = category ? -1 : inputs[i]; /* the level is not known: the column has none for missing cells either */
        for (size_t l = 0; category && l < count; l++)
            if (inputs[i + l] == 1) *out = (double)l;
        i += count;
    }
}

size_t broad__flat_knots(const broad__flat *flat, size_t input)
{
    const double *values = flat->scaling.knots + input * 2 * BROAD__KNOTS;
    size_t count = 1;
    while (count < BROAD__KNOTS && values[count] > values[count - 1]) count++;
    return count;
}

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

/* The nodes of one group or layer, as the model has them. */
typedef struct source {
    size_t nodes, inputs;
    const double *weight, *bias; /* inputs x nodes, nodes */
    int drawn;
    broad__draw draw;
} source;

static source group_at(const broad_model *model, size_t index)
{
    const broad__group *group = &model->groups[index];
    return (source){group->nodes,
                    broad__model_columns(model),
                    group->weight,
                    group->bias,
                    group->source == BROAD__WEIGHT_SOURCE_DRAWN,
                    broad__group_drawing(group, model, index)};
}

static source layer_at(const broad_model *model, size_t index)
{
    const broad__layer *layer = &model->layers[index];
    return (source){
        layer->nodes, layer->inputs, layer->weight, layer->bias, 1, broad__layer_drawing(layer, model, index)};
}

/* Whether drawing gives the same bits: *same. */
static int compare_drawn(int *same, const source *from)
{
    double *weight = broad__alloc_doubles(from->inputs, from->nodes), *bias = broad__alloc_doubles(from->nodes, 1);
    int status = weight && bias ? BROAD_OK : BROAD_NO_MEMORY;
    if (!status) {
        broad__draw_nodes(weight, bias, &from->draw);
        *same = memcmp(weight, from->weight, from->inputs * from->nodes * sizeof *weight) == 0 &&
                memcmp(bias, from->bias, from->nodes * sizeof *bias) == 0;
    }
    broad__free(weight);
    broad__free(bias);
    return status;
}

/* From one row per input to one row per node. */
static void put_block(double *weight, double *bias, const source *from)
{
    memcpy(bias, from->bias, from->nodes * sizeof *bias);
    for (size_t n = 0; n < from->nodes; n++)
        for (size_t i = 0; i < from->inputs; i++) weight[n * from->inputs + i] = from->weight[i * from->nodes + n];
}

static int make_nodes(broad__flat_nodes *out, const broad_model *model, source (*at)(const broad_model *, size_t),
                      size_t count)
{
    int status = BROAD_OK;
    out->drawn = count > 0;
    out->blocks = broad__alloc_array(count, sizeof *out->blocks);
    for (size_t b = 0; b < count && out->blocks; b++) {
        source from = at(model, b);
        out->blocks[out->block_count++] = (broad__flat_block){from.nodes, from.inputs, from.draw};
        out->nodes += from.nodes;
        out->weights += from.nodes * from.inputs;
        if (from.inputs > out->widest) out->widest = from.inputs;
        out->drawn &= from.drawn;
    }
    out->weight = broad__alloc_doubles(out->weights, 1);
    out->bias = broad__alloc_doubles(out->nodes, 1);
    if (!out->blocks || !out->weight || !out->bias) return BROAD_NO_MEMORY;
    double *weight = out->weight, *bias = out->bias;
    for (size_t b = 0; b < count && !status; b++) {
        source from = at(model, b);
        put_block(weight, bias, &from);
        weight += from.nodes * from.inputs;
        bias += from.nodes;
        if (out->drawn) status = compare_drawn(&out->drawn, &from);
    }
    return status;
}

/* ---- outputs --------------------------------------------------------------------------------------------------- */

/* Adds to `to`, in the units of the targets. */
static void add_rows(double *to, const double *from, size_t rows, const broad_model *model)
{
    for (size_t i = 0; i < rows * model->outputs; i++) to[i] += from[i] / model->output_factor[i % model->outputs];
}

static int make_outputs(broad__flat *out, const broad_model *model)
{
    size_t done = 0, outputs = model->outputs;
    out->from_z = broad__alloc_doubles(out->features, outputs);
    out->from_h = broad__alloc_doubles(out->layer.nodes, outputs);
    if (!out->from_z || !out->from_h) return BROAD_NO_MEMORY;
    for (size_t j = 0; j < model->layer_count; j++) {
        const broad__layer *layer = &model->layers[j];
        const double *output = layer->joint ? layer->joint : layer->output;
        size_t first = broad__model_feature_nodes(model, layer->first_group), prefix = layer->width - layer->nodes;
        add_rows(out->from_z + first * outputs, output, prefix, model);
        add_rows(out->from_h + done * outputs, output + prefix * outputs, layer->nodes, model);
        done += layer->nodes;
    }
    return BROAD_OK;
}

/* Whether the estimate has rows enough for an interval of the usual level. */
static int has_usual(const broad__confidence *confidence)
{
    return confidence->task == BROAD_TASK_REGRESS && confidence->rows &&
           (double)confidence->rows >= USUAL_LEVEL / (1 - USUAL_LEVEL) - 1e-9;
}

static int make_interval(broad__flat *out, double level)
{
    if (!level && !has_usual(&out->confidence)) return BROAD_OK;
    out->level = level ? level : USUAL_LEVEL;
    out->reach = broad__alloc_doubles(out->outputs, 1);
    return out->reach ? broad__interval(out->reach, &out->confidence, out->level) : BROAD_NO_MEMORY;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static int make(broad__flat *out, const broad_model *model, double level)
{
    int status = make_row(out, model);
    if (!status) status = make_nodes(&out->feature, model, group_at, out->direct ? 0 : model->group_count);
    if (!status) status = make_nodes(&out->layer, model, layer_at, model->layer_count);
    if (!status) status = make_outputs(out, model);
    if (!status) status = make_interval(out, level);
    return status;
}

int broad__flat_make(broad__flat *out, const broad_model *model, double level)
{
    *out = (broad__flat){
        .model = model,
        .missing = model->missing == BROAD_MISSING_MEAN,
        .scaling = broad__model_scaling(model),
        .features = broad__model_feature_nodes(model, model->group_count),
        .direct = model->group_count > 0 && model->groups[0].source == BROAD__WEIGHT_SOURCE_DIRECT,
        .outputs = model->outputs,
        .shift = model->output_shift,
        .confidence = broad__confidence_of(model),
    };
    out->feature.activation = model->settings.feature_activation;
    out->layer.activation = model->settings.activation;
    int status = make(out, model, level);
    if (status < 0) broad__flat_clear(out);
    return status;
}

static void clear_nodes(broad__flat_nodes *nodes)
{
    broad__free(nodes->blocks);
    broad__free(nodes->weight);
    broad__free(nodes->bias);
}

void broad__flat_clear(broad__flat *flat)
{
    broad__free(flat->columns);
    clear_nodes(&flat->feature);
    clear_nodes(&flat->layer);
    broad__free(flat->from_z);
    broad__free(flat->from_h);
    broad__free(flat->reach);
    *flat = (broad__flat){0};
}

int broad__flat_has_probabilities(const broad__flat *flat)
{
    return flat->confidence.task == BROAD_TASK_CLASSIFY && flat->confidence.rows > 0;
}
