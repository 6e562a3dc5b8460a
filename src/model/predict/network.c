#include "model/predict/network.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum {
    NARROW = 32,      /* fewer nodes do not fill the registers of a kernel */
    JOINED_MAX = 128, /* nodes side by side at most */
    ALIGNMENT = 64
};

/* The network is laid out twice by the same code: without a block to learn its size, then into the block. */
typedef struct layout {
    char *block; /* NULL: count only */
    size_t used;
    const broad__borrowed *borrowed; /* NULL: everything is */
    int join;
} layout;

static void *take(layout *to, size_t count, size_t element_bytes)
{
    void *address = to->block ? to->block + to->used : NULL;
    to->used += (count * element_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return address;
}

/* The numbers in place if they outlive the network, else a copy. */
static const double *keep(layout *to, const double *from, size_t count)
{
    if (!from || !to->borrowed || broad__borrowed_has(to->borrowed, from)) return from;
    double *copy = take(to, count, sizeof *copy);
    if (copy) memcpy(copy, from, count * sizeof *copy);
    return copy;
}

/* Nodes of one group or layer. */
typedef struct source {
    size_t nodes;
    const double *weight, *bias;
} source;

/* Columns side by side: `into` is wide enough for all of them. */
static void put_columns(double *into, size_t at, size_t stride, const double *from, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++) memcpy(into + i * stride + at, from + i * columns, columns * sizeof *into);
}

/* Nodes of sources first, ..., end - 1 as one. */
static void put_nodes(broad__nodes *out, layout *to, source (*at)(const broad_model *, size_t),
                      const broad_model *model, size_t first, size_t end)
{
    source one = at(model, first);
    size_t inputs = out->inputs, done = 0;
    if (end == first + 1) {
        out->weight = keep(to, one.weight, inputs * one.nodes);
        out->bias = keep(to, one.bias, one.nodes);
        return;
    }
    double *weight = take(to, inputs * out->nodes, sizeof *weight), *bias = take(to, out->nodes, sizeof *bias);
    for (size_t i = first; i < end && weight; i++) {
        one = at(model, i);
        put_columns(weight, done, out->nodes, one.weight, inputs, one.nodes);
        put_columns(bias, done, out->nodes, one.bias, 1, one.nodes);
        done += one.nodes;
    }
    out->weight = weight;
    out->bias = bias;
}

/* Where a further source of `more` nodes goes beside those of *nodes. */
static int fits(const layout *to, size_t *nodes, size_t more)
{
    if (!to->join || *nodes >= JOINED_MAX || more >= NARROW || *nodes + more > JOINED_MAX) return 0;
    *nodes += more;
    return 1;
}

static source group_at(const broad_model *model, size_t index)
{
    const broad__group *group = &model->groups[index];
    return (source){group->nodes, group->weight, group->bias};
}

static void put_parts(broad__network *out, layout *to, const broad_model *model)
{
    out->parts = take(to, out->direct ? 0 : model->group_count, sizeof *out->parts);
    size_t end = 0, done = 0;
    for (size_t first = 0; first < model->group_count && !out->direct; first = end) {
        size_t nodes = model->groups[first].nodes;
        for (end = first + 1; end < model->group_count && fits(to, &nodes, model->groups[end].nodes);) end++;
        broad__feature_run part = {.first = done};
        part.nodes.inputs = out->scaling.columns;
        part.nodes.nodes = nodes;
        part.nodes.activation = model->settings.feature_activation;
        part.nodes.single = model->settings.precision == BROAD_PRECISION_FLOAT;
        put_nodes(&part.nodes, to, group_at, model, first, end);
        if (to->block) out->parts[out->part_count++] = part;
        done += nodes;
    }
}

static source layer_at(const broad_model *model, size_t index)
{
    const broad__layer *layer = &model->layers[index];
    return (source){layer->nodes, layer->weight, layer->bias};
}

static void put_runs(broad__network *out, layout *to, const broad_model *model)
{
    out->runs = take(to, model->layer_count, sizeof *out->runs);
    size_t end = 0;
    for (size_t first = 0; first < model->layer_count; first = end) {
        const broad__layer *layers = model->layers;
        size_t nodes = layers[first].nodes, inputs = layers[first].inputs;
        for (end = first + 1; end < model->layer_count && layers[end].inputs == inputs;) {
            if (!fits(to, &nodes, layers[end].nodes)) break;
            end++;
        }
        broad__layer_run run = {.first = first, .count = end - first};
        run.nodes.inputs = inputs;
        run.nodes.nodes = nodes;
        run.nodes.activation = model->settings.activation;
        run.nodes.single = model->settings.precision == BROAD_PRECISION_FLOAT;
        put_nodes(&run.nodes, to, layer_at, model, first, end);
        if (to->block) out->runs[out->run_count++] = run;
        if (nodes > out->widest) out->widest = nodes;
    }
}

static void put_terms(broad__network *out, layout *to, const broad_model *model)
{
    out->terms = take(to, model->layer_count, sizeof *out->terms);
    for (size_t j = 0; j < model->layer_count; j++) {
        const broad__layer *layer = &model->layers[j];
        broad__term term = {.prefix = layer->width - layer->nodes, .nodes = layer->nodes};
        term.first = broad__model_feature_nodes(model, layer->first_group);
        term.output = keep(to, layer->joint ? layer->joint : layer->output, layer->width * model->outputs);
        if (to->block) out->terms[out->term_count++] = term;
    }
}

static void put_confidence(broad__network *out, layout *to, const broad_model *model)
{
    broad__confidence *confidence = &out->confidence;
    *confidence = broad__confidence_of(model);
    confidence->calibration = keep(to, confidence->calibration, model->outputs + 1);
    confidence->residuals = keep(to, confidence->residuals, model->outputs * confidence->residual_count);
    confidence->spread = keep(to, confidence->spread, model->outputs * 2 * confidence->spread_count);
    confidence->limits = keep(to, confidence->limits, model->outputs * 2);
}

static void put_names(broad__network *out, layout *to, const broad_model *model)
{
    if (!to->borrowed) {
        out->output_names = model->output_names;
        return;
    }
    out->output_names = take(to, model->outputs, sizeof *out->output_names);
    for (size_t c = 0; c < model->outputs; c++) {
        size_t bytes = strlen(model->output_names[c]) + 1;
        char *name = take(to, bytes, 1);
        if (name) out->output_names[c] = memcpy(name, model->output_names[c], bytes);
    }
}

static void lay_out(broad__network *out, layout *to, const broad_model *model)
{
    *out = (broad__network){
        .task = model->task,
        .inputs = model->inputs,
        .outputs = model->outputs,
        .missing = model->missing,
        .input_names = to->borrowed ? NULL : model->input_names,
        .scaling = broad__model_scaling(model),
        .features = broad__model_feature_nodes(model, model->group_count),
        .direct = model->group_count > 0 && model->groups[0].source == BROAD__WEIGHT_SOURCE_DIRECT,
    };
    broad__scaling *scaling = &out->scaling;
    scaling->shift = keep(to, scaling->shift, scaling->columns);
    scaling->factor = keep(to, scaling->factor, scaling->columns);
    scaling->fill = keep(to, scaling->fill, scaling->inputs);
    scaling->knots = keep(to, scaling->knots, broad__scaling_knots(scaling->how, scaling->inputs));
    out->shift = keep(to, model->output_shift, model->outputs);
    out->factor = keep(to, model->output_factor, model->outputs);
    put_parts(out, to, model);
    put_runs(out, to, model);
    put_terms(out, to, model);
    put_confidence(out, to, model);
    put_names(out, to, model);
}

int broad__network_make(broad__network *out, const broad_model *model, const broad__borrowed *borrowed, int join)
{
    layout to = {.borrowed = borrowed, .join = join};
    lay_out(out, &to, model);
    size_t bytes = to.used;
    to = (layout){.block = broad__alloc(bytes), .borrowed = borrowed, .join = join};
    if (!to.block) {
        *out = (broad__network){0};
        return BROAD_NO_MEMORY;
    }
    lay_out(out, &to, model);
    out->block = to.block;
    out->bytes = bytes;
    return BROAD_OK;
}

void broad__network_clear(broad__network *network)
{
    broad__free(network->block);
    *network = (broad__network){0};
}
