#include "export/onnx.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "export/onnx_graph.h"
#include "export/onnx_metadata.h"

typedef broad__onnx_graph graph;

/* ---- straight lines between knots ------------------------------------------------------------------------------ */

/*
 * y of each column of x by straight lines between its knots, constant beyond them: ranks, and widths of intervals.
 *
 * The segment of a value is the number of knots that it is not below: 0 before the first of them, `knots` after the last.
 * Tables have a row of knots + 1 segments for each column: where one begins and how wide it is, both halved, so that no
 * difference overflows; the height at its beginning, and how much it rises.
 */
typedef struct lines {
    size_t columns, knots;
    const double *(*values)(const broad__flat *, size_t column);  /* knots, rising */
    const double *(*heights)(const broad__flat *, size_t column); /* at each */
} lines;

static void fill_segments(double *begin, double *width, double *height, double *rise, const double *at,
                          const double *heights, size_t knots)
{
    for (size_t k = 0; k <= knots; k++) {
        int inside = k > 0 && k < knots && at[k] > at[k - 1];
        begin[k] = inside ? at[k - 1] / 2 : 0;
        width[k] = inside ? at[k] / 2 - at[k - 1] / 2 : 1;
        height[k] = heights[k ? k - 1 : 0];
        rise[k] = inside ? heights[k] - heights[k - 1] : 0;
    }
}

static int put_line_tables(graph *g, const broad__flat *flat, const lines *l)
{
    size_t each = l->knots + 1, count = l->columns * each;
    double *tables = broad__alloc_doubles(count, 5);
    int64_t *first = broad__alloc_array(l->columns, sizeof *first);
    int status = tables && first ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t c = 0; c < l->columns && !status; c++) {
        double *at = tables + c * each;
        fill_segments(at, at + count, at + 2 * count, at + 3 * count, l->values(flat, c), l->heights(flat, c),
                      l->knots);
        memcpy(tables + 4 * count + c * l->knots, l->values(flat, c), l->knots * sizeof *at);
        first[c] = (int64_t)(c * each);
    }
    if (!status) {
        broad__onnx_numbers(g, "@_begin", tables, count, 0);
        broad__onnx_numbers(g, "@_width", tables + count, count, 0);
        broad__onnx_numbers(g, "@_height", tables + 2 * count, count, 0);
        broad__onnx_numbers(g, "@_rise", tables + 3 * count, count, 0);
        broad__onnx_numbers(g, "@_knots", tables + 4 * count, l->columns, l->knots);
        broad__onnx_wholes(g, "@_first", first, l->columns);
    }
    broad__free(tables);
    broad__free(first);
    return status;
}

/* The value called `prefix`, from the one called `from`. */
static int put_lines(graph *g, const broad__flat *flat, const lines *l, const char *prefix, const char *from)
{
    const int64_t last = 2;
    char inputs[64];
    g->prefix = prefix;
    broad__onnx_wholes(g, "@_axis", &last, 1);
    broad__onnx_number(g, "@_half", 0.5);
    snprintf(inputs, sizeof inputs, "%s @_axis", from);
    broad__onnx_node(g, "Unsqueeze", "@_of", inputs);
    broad__onnx_node(g, "GreaterOrEqual", "@_passed", "@_of @_knots");
    broad__onnx_node_with(g, "Cast", "@_ones", "@_passed", "to", BROAD__ONNX_INT64);
    broad__onnx_sum(g, "@_count", "@_ones @_axis");
    broad__onnx_node(g, "Add", "@_at", "@_count @_first");
    broad__onnx_node(g, "Gather", "@_begin_at", "@_begin @_at");
    broad__onnx_node(g, "Gather", "@_width_at", "@_width @_at");
    broad__onnx_node(g, "Gather", "@_height_at", "@_height @_at");
    broad__onnx_node(g, "Gather", "@_rise_at", "@_rise @_at");
    snprintf(inputs, sizeof inputs, "%s @_half", from);
    broad__onnx_node(g, "Mul", "@_of_half", inputs);
    broad__onnx_node(g, "Sub", "@_over", "@_of_half @_begin_at");
    broad__onnx_node(g, "Div", "@_part", "@_over @_width_at");
    broad__onnx_node(g, "Mul", "@_added", "@_part @_rise_at");
    broad__onnx_node(g, "Add", "@", "@_height_at @_added");
    return put_line_tables(g, flat, l);
}

static const double *knot_values(const broad__flat *flat, size_t input)
{
    return flat->scaling.knots + input * 2 * BROAD__KNOTS;
}

static const double *knot_ranks(const broad__flat *flat, size_t input)
{
    return knot_values(flat, input) + BROAD__KNOTS;
}

static const double *spread_values(const broad__flat *flat, size_t output)
{
    return flat->confidence.spread + 2 * flat->confidence.spread_count * output;
}

static const double *spread_scales(const broad__flat *flat, size_t output)
{
    return spread_values(flat, output) + flat->confidence.spread_count;
}

/* "rank" from "inputs". */
static int put_ranks(graph *g, const broad__flat *flat)
{
    lines l = {flat->scaling.inputs, 1, knot_values, knot_ranks};
    for (size_t i = 0; i < l.columns; i++) {
        size_t count = broad__flat_knots(flat, i);
        l.knots = count > l.knots ? count : l.knots;
    }
    return put_lines(g, flat, &l, "rank", "inputs");
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* "photo" from a picture or from prepared inputs, then its components. */
static void put_photo(graph *g, const broad__flat *flat)
{
    const broad__projection *projection = &flat->model->projection;
    const char *whole = flat->components ? "photo" : "inputs";
    size_t side = flat->model->photo.side, picture[] = {side, side, 3};
    if (flat->row == BROAD__FLAT_PICTURE) {
        broad__onnx_input(g, "picture", BROAD__ONNX_UINT8, picture, 3);
        broad__onnx_single(g, "white", 255);
        broad__onnx_node_with(g, "Flatten", "bytes", "picture", "axis", 1);
        broad__onnx_node_with(g, "Cast", "light", "bytes", "to", BROAD__ONNX_FLOAT);
        broad__onnx_node(g, "Div", "part", "light white");
        broad__onnx_node_with(g, "Cast", whole, "part", "to", g->real);
    } else {
        broad__onnx_input(g, "prepared", g->real, &flat->column_count, 1);
        broad__onnx_node(g, "Identity", whole, "prepared");
    }
    if (!flat->components) return;
    broad__onnx_numbers(g, "axes", projection->axes, flat->column_count, flat->components);
    broad__onnx_numbers(g, "axes_shift", projection->shift, flat->components, 0);
    broad__onnx_node(g, "MatMul", "turned", "photo axes");
    broad__onnx_node(g, "Sub", "inputs", "turned axes_shift");
}

/* What an input is: of which column, and of a category which level of how many. */
typedef struct spreading {
    int64_t *column;
    double *level, *last, *missing; /* missing: by column, the code of missing cells; NaN: there is none */
    unsigned char *category;
    double *numbers;
} spreading;

static int spreading_make(spreading *out, const broad__flat *flat)
{
    size_t inputs = flat->scaling.inputs;
    *out = (spreading){.column = broad__alloc_array(inputs, sizeof *out->column),
                       .numbers = broad__alloc_doubles(2 * inputs + flat->column_count, 1),
                       .category = broad__alloc(inputs)};
    if (!out->column || !out->numbers || !out->category) return BROAD_NO_MEMORY;
    out->level = out->numbers;
    out->last = out->level + inputs;
    out->missing = out->last + inputs;
    for (size_t c = 0; c < flat->column_count; c++) {
        const broad__flat_column *column = &flat->columns[c];
        size_t count = column->category ? column->category->count : 1;
        out->missing[c] = column->category && column->missing < count ? (double)column->missing : (double)NAN;
        for (size_t l = 0; l < count; l++) {
            size_t input = column->first + l;
            out->column[input] = (int64_t)c;
            out->level[input] = (double)l;
            out->last[input] = (double)(count - 1);
            out->category[input] = column->category != NULL;
        }
    }
    return BROAD_OK;
}

/* "spread", one number per input, from "row": 1 for the level that it has and 0 for the others, NaN for all of a column
 * whose code stands for none. */
static int put_categories(graph *g, const broad__flat *flat)
{
    size_t inputs = flat->scaling.inputs;
    spreading s;
    int status = spreading_make(&s, flat);
    if (!status) {
        broad__onnx_numbers(g, "missing_level", s.missing, flat->column_count, 0);
        broad__onnx_wholes(g, "column_of", s.column, inputs);
        broad__onnx_numbers(g, "level_of", s.level, inputs, 0);
        broad__onnx_numbers(g, "last_level", s.last, inputs, 0);
        broad__onnx_truths(g, "is_category", s.category, inputs);
        broad__onnx_number(g, "zero", 0);
        broad__onnx_number(g, "none", (double)NAN);
        broad__onnx_node(g, "Equal", "present", "row row");
        broad__onnx_node(g, "Where", "coded", "present row missing_level");
        broad__onnx_node_with(g, "Gather", "wide", "coded column_of", "axis", 1);
        broad__onnx_node(g, "Equal", "is_level", "wide level_of");
        broad__onnx_node_with(g, "Cast", "hot", "is_level", "to", g->real);
        broad__onnx_node(g, "Max", "not_below", "wide zero");
        broad__onnx_node(g, "Min", "in_range", "not_below last_level");
        broad__onnx_node_with(g, "Cast", "whole", "in_range", "to", BROAD__ONNX_INT64);
        broad__onnx_node_with(g, "Cast", "code", "whole", "to", g->real);
        broad__onnx_node(g, "Equal", "is_known", "code wide");
        broad__onnx_node(g, "Where", "levels", "is_known hot none");
        broad__onnx_node(g, "Where", "spread", "is_category levels wide");
    }
    broad__free(s.column);
    broad__free(s.numbers);
    broad__free(s.category);
    return status;
}

/* "inputs": one number for each input of the model, none of them missing if missing ones are filled in. */
static int put_inputs(graph *g, const broad__flat *flat)
{
    int status = BROAD_OK;
    if (flat->row != BROAD__FLAT_COLUMNS) {
        put_photo(g, flat);
        return BROAD_OK;
    }
    const char *from = flat->categories ? "spread" : "row";
    char words[64];
    broad__onnx_input(g, "row", g->real, &flat->column_count, 1);
    if (flat->categories) status = put_categories(g, flat);
    if (!flat->missing) {
        broad__onnx_node(g, "Identity", "inputs", from);
        return status;
    }
    broad__onnx_numbers(g, "fill", flat->scaling.fill, flat->scaling.inputs, 0);
    snprintf(words, sizeof words, "%s %s", from, from);
    broad__onnx_node(g, "Equal", "is_there", words);
    snprintf(words, sizeof words, "is_there %s fill", from);
    broad__onnx_node(g, "Where", "inputs", words);
    return status;
}

/* "x" from "inputs". */
static int put_scaling(graph *g, const broad__flat *flat)
{
    const broad__scaling *scaling = &flat->scaling;
    const char *from = scaling->how == BROAD_SCALE_BOTH         ? "both"
                       : broad__scaling_is_ranked(scaling->how) ? "rank"
                                                                : "inputs";
    char words[64];
    int status = broad__scaling_is_ranked(scaling->how) ? put_ranks(g, flat) : BROAD_OK;
    if (scaling->how == BROAD_SCALE_BOTH) broad__onnx_node_with(g, "Concat", "both", "inputs rank", "axis", 1);
    broad__onnx_numbers(g, "shift", scaling->shift, scaling->columns, 0);
    broad__onnx_numbers(g, "factor", scaling->factor, scaling->columns, 0);
    broad__onnx_number(g, "most", BROAD__SCALED_MOST);
    broad__onnx_number(g, "least", -BROAD__SCALED_MOST);
    snprintf(words, sizeof words, "%s shift", from);
    broad__onnx_node(g, "Sub", "centred", words);
    broad__onnx_node(g, "Mul", "scaled", "centred factor");
    broad__onnx_node(g, "Min", "capped", "scaled most");
    broad__onnx_node(g, "Max", flat->direct ? "z" : "x", "capped least");
    return status;
}

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

static void put_activation(graph *g, broad_activation activation, const char *out)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: broad__onnx_node(g, "Sigmoid", out, "@_sum"); break;
    case BROAD_ACTIVATION_TANH: broad__onnx_node(g, "Tanh", out, "@_sum"); break;
    case BROAD_ACTIVATION_RELU: broad__onnx_node(g, "Relu", out, "@_sum"); break;
    case BROAD_ACTIVATION_SINE: broad__onnx_node(g, "Sin", out, "@_sum"); break;
    case BROAD_ACTIVATION_GAUSSIAN:
        broad__onnx_node(g, "Mul", "@_square", "@_sum @_sum");
        broad__onnx_node(g, "Neg", "@_negative", "@_square");
        broad__onnx_node(g, "Exp", out, "@_negative");
        break;
    case BROAD_ACTIVATION_IDENTITY: broad__onnx_node(g, "Identity", out, "@_sum"); break;
    }
}

/* All nodes at once. Those that read fewer inputs than others have weights of 0 for the rest. */
static int put_nodes(graph *g, const broad__flat_nodes *nodes, const char *prefix, const char *from, const char *out)
{
    char words[64];
    double *weight = broad__alloc_doubles(nodes->widest, nodes->nodes);
    if (!weight) return BROAD_NO_MEMORY;
    const double *at = nodes->weight;
    for (size_t b = 0, n = 0; b < nodes->block_count; b++)
        for (size_t end = n + nodes->blocks[b].nodes; n < end; n++)
            for (size_t i = 0; i < nodes->blocks[b].inputs; i++) weight[i * nodes->nodes + n] = *at++;
    g->prefix = prefix;
    broad__onnx_numbers(g, "@_weight", weight, nodes->widest, nodes->nodes);
    broad__onnx_numbers(g, "@_bias", nodes->bias, nodes->nodes, 0);
    snprintf(words, sizeof words, "%s @_weight", from);
    broad__onnx_node(g, "MatMul", "@_product", words);
    broad__onnx_node(g, "Add", "@_sum", "@_product @_bias");
    put_activation(g, nodes->activation, out);
    broad__free(weight);
    return BROAD_OK;
}

/* "scores" from "z" and "h"; of a regression they are called "values". */
static void put_scores(graph *g, const broad__flat *flat, const char *out)
{
    const char *last = flat->layer.nodes ? "both_scores output_shift" : "z_scores output_shift";
    broad__onnx_numbers(g, "z_output", flat->from_z, flat->features, flat->outputs);
    broad__onnx_numbers(g, "output_shift", flat->shift, flat->outputs, 0);
    broad__onnx_node(g, "MatMul", "z_scores", "z z_output");
    if (flat->layer.nodes) {
        broad__onnx_numbers(g, "h_output", flat->from_h, flat->layer.nodes, flat->outputs);
        broad__onnx_node(g, "MatMul", "h_scores", "h h_output");
        broad__onnx_node(g, "Add", "both_scores", "z_scores h_scores");
    }
    broad__onnx_node(g, "Add", out, last);
}

/* ---- confidence ------------------------------------------------------------------------------------------------ */

static void put_classes(graph *g, const broad__flat *flat)
{
    broad__onnx_texts(g, "labels", flat->model->output_names, flat->outputs);
    broad__onnx_argmax(g, "class", "scores");
    broad__onnx_node(g, "Gather", "label", "labels class");
    broad__onnx_output(g, "label", BROAD__ONNX_STRING, NULL, 0);
    if (broad__flat_has_probabilities(flat)) {
        broad__onnx_number(g, "slope", flat->confidence.calibration[0]);
        broad__onnx_numbers(g, "class_bias", flat->confidence.calibration + 1, flat->outputs, 0);
        broad__onnx_node(g, "Mul", "steep", "scores slope");
        broad__onnx_node(g, "Add", "odds", "steep class_bias");
        broad__onnx_node_with(g, "Softmax", "probabilities", "odds", "axis", 1);
        broad__onnx_output(g, "probabilities", g->real, &flat->outputs, 1);
    }
    broad__onnx_output(g, "scores", g->real, &flat->outputs, 1);
}

/* Both ends within the limits. */
static int put_limits(graph *g, const broad__flat *flat)
{
    size_t outputs = flat->outputs;
    double *ends = broad__alloc_doubles(2, outputs);
    if (!ends) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < 2 * outputs; i++) {
        double most = g->real == BROAD__ONNX_DOUBLE ? DBL_MAX : (double)FLT_MAX;
        ends[i % 2 * outputs + i / 2] = fmin(fmax(flat->confidence.limits[i], -most), most);
    }
    broad__onnx_numbers(g, "limit_low", ends, outputs, 0);
    broad__onnx_numbers(g, "limit_high", ends + outputs, outputs, 0);
    broad__free(ends);
    broad__onnx_node(g, "Max", "low_raised", "end_low limit_low");
    broad__onnx_node(g, "Min", "low", "low_raised limit_high");
    broad__onnx_node(g, "Max", "high_raised", "end_high limit_low");
    broad__onnx_node(g, "Min", "high", "high_raised limit_high");
    return BROAD_OK;
}

static int put_interval(graph *g, const broad__flat *flat)
{
    const broad__confidence *confidence = &flat->confidence;
    const lines widths = {flat->outputs, confidence->spread_count, spread_values, spread_scales};
    const char *reach = confidence->spread_count ? "values reach_here" : "values reach";
    int status = BROAD_OK;
    broad__onnx_numbers(g, "reach", flat->reach, flat->outputs, 0);
    if (confidence->spread_count) {
        status = put_lines(g, flat, &widths, "scale", "values");
        broad__onnx_node(g, "Mul", "reach_here", "scale reach");
    }
    broad__onnx_node(g, "Sub", confidence->limits ? "end_low" : "low", reach);
    broad__onnx_node(g, "Add", confidence->limits ? "end_high" : "high", reach);
    if (!status && confidence->limits) status = put_limits(g, flat);
    broad__onnx_output(g, "low", g->real, &flat->outputs, 1);
    broad__onnx_output(g, "high", g->real, &flat->outputs, 1);
    return status;
}

static int put_outputs(graph *g, const broad__flat *flat)
{
    int classes = flat->confidence.task == BROAD_TASK_CLASSIFY;
    put_scores(g, flat, classes ? "scores" : "values");
    if (classes) {
        put_classes(g, flat);
        return BROAD_OK;
    }
    broad__onnx_output(g, "values", g->real, &flat->outputs, 1);
    return flat->reach ? put_interval(g, flat) : BROAD_OK;
}

/* ---- the whole file -------------------------------------------------------------------------------------------- */

int broad__onnx(void **out, size_t *out_bytes, broad_exported *about, const broad__flat *flat,
                broad_export_precision precision)
{
    graph g = {.real = precision == BROAD_EXPORT_DOUBLE ? BROAD__ONNX_DOUBLE : BROAD__ONNX_FLOAT};
    int status = put_inputs(&g, flat);
    if (!status) status = put_scaling(&g, flat);
    if (!status && !flat->direct) status = put_nodes(&g, &flat->feature, "feature", "x", "z");
    if (!status && flat->layer.nodes) status = put_nodes(&g, &flat->layer, "layer", "z", "h");
    if (!status) status = put_outputs(&g, flat);
    if (!status) status = broad__onnx_describe(&g, flat);
    about->graph_nodes = g.nodes;
    about->level = flat->level;
    if (!status)
        return broad__onnx_give(out, out_bytes, &g,
                                "A model of broad learning; docs/export.md of broad says what goes in and comes out.");
    broad__onnx_clear(&g);
    return status;
}
