/*
 * The broad residual chain (Su, Li, Liu, arXiv 2511.16550), with the supervision test made satisfiable.
 *
 *   algorithm 1    E_0 = Y
 *                  draw the feature groups;  Z = [Z_1 ... Z_n]
 *                  for j = 1 ... m:
 *                      search a draw of H_j whose K_j passes the test      K_1 = [Z | H_1],  K_j = H_j
 *                      W_j = ridge(K_j, E_{j-1});  E_j = E_{j-1} - K_j W_j
 *   algorithm 2    more of the same: K_{m+1} = H_{m+1}
 *   algorithm 3    a further group: Z = [Z, Z_{n+1}],  K_{m+1} = [Z_{n+1} | H_{m+1}]
 *   algorithm 4    further rows X_a, Y_a: their residual is Y_a - prediction(X_a); K_{m+1} = H_{m+1} on all rows
 *
 * BRLS is the same without the test. SCN and RVFL have the inputs themselves for Z, SCN without them in K_1. BLS and RVFL have
 * no chain: one block of nodes, one ridge (model/kind.h, model/outputs.h).
 */
#include "model/train/train.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "layer/supervise.h"
#include "model/kind.h"
#include "model/options_check.h"
#include "model/train/output_weights.h"
#include "model/train/plan.h"
#include "rng/draw.h"

/* Below this part of the first norm the residual is rounding, and nothing can be certified about it. */
static const double NORM_FLOOR = 1e-12;

enum { LAYERS_MAX = 1000000 };

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static int report(broad_trainer *t, const char *stage, size_t draws)
{
    if (!t->run.progress) return 0;
    broad_progress progress = {stage, t->model->layer_count, t->wanted,
                               draws, t->train.rows.norm,    t->model->first_norm};
    return t->run.progress(&progress, t->run.progress_context);
}

static int watch_draws(void *context, size_t draws) { return report(context, "layers", draws); }

static double *copy_doubles(const double *values, size_t count)
{
    double *copy = broad__alloc_doubles(count, 1);
    if (copy) memcpy(copy, values, count * sizeof(double));
    return copy;
}

static int make_layer_room(broad_model *model)
{
    if (model->layer_room < model->layer_count) model->layer_room = model->layer_count;
    return broad__grow(&model->layers, &model->layer_room, model->layer_count + 1, sizeof *model->layers, LAYERS_MAX);
}

/* Appends the layer that the search has found. */
static int append_layer(broad_trainer *t, size_t first_group, size_t groups)
{
    broad_model *model = t->model;
    const broad__search *s = &t->search;
    size_t inputs = t->train.rows.features, width = s->prefix + s->nodes;
    int status = make_layer_room(model);
    if (status < 0) return status;
    broad__layer *layer = &model->layers[model->layer_count];
    *layer = (broad__layer){
        .inputs = inputs,
        .nodes = s->nodes,
        .first_group = groups ? first_group : 0,
        .groups = groups,
        .width = width,
        .weight = copy_doubles(s->kept_weight, inputs * s->nodes),
        .bias = copy_doubles(s->kept_bias, s->nodes),
        .output =
            s->qr ? broad__alloc_doubles(width, model->outputs) : copy_doubles(s->ridge.w, width * model->outputs),
        .certificate = s->certificate,
    };
    layer->certificate.first_row = t->first_row;
    if (!layer->weight || !layer->bias || !layer->output) {
        broad__layer_clear(layer);
        return BROAD_NO_MEMORY;
    }
    model->layer_count++;
    if (!s->deferred) return BROAD_OK;
    broad__kblock piece = broad__model_kblock(model, model->layer_count - 1);
    broad__residual_defer(&t->train.rows, &piece, layer->output, s->certificate.norm_after);
    return BROAD_OK;
}

/* What a layer's record says about the residual after it, now that E is there. */
static void complete_record(broad__certificate *record, double norm)
{
    record->norm_after = norm;
    record->ratio = record->tested = norm / record->norm_before;
    record->passed = record->ratio <= record->bound;
}

/* E as the layers so far leave it, and the last record completed. */
static int settle(broad_trainer *t)
{
    broad__residual *rows = &t->train.rows;
    if (!rows->deferred) return BROAD_OK;
    int status = broad__residual_settle(rows);
    if (status == BROAD_OK) complete_record(&t->model->layers[t->model->layer_count - 1].certificate, rows->settled);
    return status;
}

static int stalled(broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    broad__bound bound = broad__schedule(o, t->search.index + 1, o->relax_count);
    return broad__model_outcome(
        t->model, BROAD_OUTCOME_STALLED,
        "layer %zu: no draw of any range met the bound %.10g, also after relaxing it %zu times; the "
        "best had %.10g",
        t->search.index + 1, bound.sum, o->relax_count, t->search.best);
}

/* Feature nodes whose range may be searched too. */
static int drawn_features(const broad_model *model)
{
    return model->groups[0].source == BROAD__WEIGHT_SOURCE_DRAWN ||
           model->groups[0].source == BROAD__WEIGHT_SOURCE_SAMPLED;
}

/* Searches one layer whose K starts with the nodes of `groups` groups. Returns a status; t->search says what came out. */
static int search_layer(broad_trainer *t, size_t nodes, broad__origin origin, size_t first_group, size_t groups)
{
    broad_model *model = t->model;
    broad__search *s = &t->search;
    s->options = &model->settings;
    s->range = model->range;
    s->chain_lambda = model->exponent != 0 ? pow(10, model->exponent) : 0;
    s->rows = &t->train.rows;
    s->index = model->layer_count;
    s->nodes = nodes;
    s->first = broad__model_feature_nodes(model, first_group);
    s->prefix = broad__model_feature_nodes(model, first_group + groups) - s->first;
    s->origin = origin;
    s->qr = broad__fitting_of(&model->settings) == BROAD__FIT_STEPWISE ? &t->qr : NULL;
    s->y = t->train.y;
    s->redraw = origin == BROAD__ORIGIN_INITIAL && drawn_features(model) ? broad__trainer_draw_features : NULL;
    s->watch = watch_draws;
    s->context = t;
    int status = broad__outputs_prepare(t), open = t->train.rows.deferred;
    if (status == BROAD_OK) status = broad__search_run(s);
    if (open && !t->train.rows.deferred)
        complete_record(&model->layers[s->index - 1].certificate, t->train.rows.settled);
    if (status == BROAD_OK && s->kept) status = append_layer(t, first_group, groups);
    if (status == BROAD_OK && s->kept) status = broad__outputs_follow(t);
    if (status == BROAD_OK) return BROAD_OK;
    t->stale = 1; /* Z or E may be past what the model has */
    if (model->layer_count > s->index) {
        t->train.rows.deferred = 0;
        broad__layer_clear(&model->layers[--model->layer_count]);
    }
    return status;
}

/* 0: go on, 1: the run is over and the outcome set, or a status. Looked at before each layer. */
static int run_over(broad_trainer *t, size_t next_nodes)
{
    broad_model *model = t->model;
    if (t->run.max_layers && model->layer_count >= t->run.max_layers) return 1;
    if (!(t->train.rows.norm > NORM_FLOOR * model->first_norm)) {
        int status =
            broad__model_outcome(model, BROAD_OUTCOME_TARGET_REACHED, "the training error is zero up to rounding");
        return status < 0 ? status : 1;
    }
    return broad__stop_rules(t, next_nodes);
}

/* The same after a layer was searched; a request to stop after the last one changes nothing. */
static int layer_over(broad_trainer *t, int last)
{
    int status = BROAD_OK;
    if (!t->search.kept && !t->search.stopped) status = stalled(t);
    else if (t->search.stopped || (report(t, "layers", 0) && !last))
        status = broad__model_outcome(t->model, BROAD_OUTCOME_STOPPED, "stopped by the caller");
    else return 0;
    return status < 0 ? status : 1;
}

static int rebuild(broad_trainer *t);

/* Without joint weights a chain predicts by itself; blocks that never had any weights go. */
static void drop_unsolved(broad_trainer *t)
{
    broad_model *model = t->model;
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__free(model->layers[j].joint);
        model->layers[j].joint = NULL;
    }
    model->joint = (broad__joint_record){0};
    if (!broad__kind_of(model->settings.kind)->at_once) return;
    while (model->layer_count && model->layers[model->layer_count - 1].certificate.rows == 0) {
        broad__layer *last = &model->layers[--model->layer_count];
        for (size_t g = model->layer_count ? last->groups : 0; g; g--)
            broad__group_clear(&model->groups[--model->group_count]);
        broad__layer_clear(last);
    }
    t->stale = 1;
}

/* What every increment begins with. */
static int begin(broad_trainer *t, size_t nodes, size_t layers)
{
    if (nodes == 0) return broad__fail(BROAD_USAGE, "a layer needs at least one node");
    if (t->partial)
        return broad__fail(BROAD_USAGE, "the older training rows are not there: only forgetful learning can go on");
    int status = t->stale ? rebuild(t) : BROAD_OK;
    t->wanted = t->model->layer_count + layers;
    if (t->run.max_layers && t->wanted > t->run.max_layers) t->wanted = t->run.max_layers;
    return status == BROAD_OK ? broad__model_outcome(t->model, BROAD_OUTCOME_COMPLETE, "%s", "") : status;
}

/* Groups whose nodes are columns of the first layer. */
static size_t first_groups(const broad_model *model)
{
    return broad__kind_of(model->settings.kind)->nodes == BROAD__NODES_HIDDEN ? 0 : model->group_count;
}

/* Nodes of one draw, all kept; their weights come with those of all others. */
static int add_block(broad_trainer *t, size_t nodes, broad__origin origin, size_t first_group, size_t groups)
{
    broad_model *model = t->model;
    const broad_options *o = &model->settings;
    size_t inputs = t->train.rows.features;
    size_t first = broad__model_feature_nodes(model, first_group);
    size_t width = broad__model_feature_nodes(model, first_group + groups) - first + nodes;
    int status = make_layer_room(model);
    if (status < 0) return status;
    broad__layer *layer = &model->layers[model->layer_count];
    *layer = (broad__layer){.inputs = inputs,
                            .nodes = nodes,
                            .first_group = groups ? first_group : 0,
                            .groups = groups,
                            .width = width,
                            .weight = broad__alloc_doubles(inputs, nodes),
                            .bias = broad__alloc_doubles(nodes, 1),
                            .output = broad__alloc_doubles(width, model->outputs),
                            .certificate = {.origin = origin,
                                            .test = BROAD_SUPERVISE_NONE,
                                            .gamma = 1,
                                            .bound = 1,
                                            .range = o->range_steps[0],
                                            .tries = 1,
                                            .passed = 1}};
    if (!layer->weight || !layer->bias || !layer->output) {
        broad__layer_clear(layer);
        return BROAD_NO_MEMORY;
    }
    broad__layer_draw(layer, model, model->layer_count++);
    return BROAD_OK;
}

/* Whether E may lag behind by a layer: nothing looks at it between layers. */
static int may_defer(const broad_trainer *t)
{
    broad__fitting fitting = broad__fitting_of(&t->model->settings);
    return (fitting == BROAD__FIT_CHAIN || fitting == BROAD__FIT_FINALLY) && !(t->run.until > 0) &&
           !(t->run.until_accuracy > 0) && !t->run.patience;
}

static int add_layers(broad_trainer *t, size_t nodes, size_t layers, broad__origin origin)
{
    if (broad__kind_of(t->model->settings.kind)->at_once) {
        int initial = t->model->layer_count == 0, over = nodes && layers ? run_over(t, nodes * layers) : 1;
        if (over) return over < 0 ? over : BROAD_OK;
        return add_block(t, nodes * layers, initial ? BROAD__ORIGIN_INITIAL : origin, 0,
                         initial ? t->model->group_count : 0);
    }
    broad_model *model = t->model;
    int over = 0;
    /* A test that later layers can never pass is refused before the first one is made. */
    int status = layers > 1 || model->layer_count
                     ? broad__supervise_possible(&model->settings, t->train.rows.rows, nodes)
                     : BROAD_OK;
    t->search.may_defer = may_defer(t);
    for (size_t i = 0; status == BROAD_OK && !over && i < layers; i++) {
        over = run_over(t, nodes);
        if (over) break;
        int initial = model->layer_count == 0;
        status = search_layer(t, nodes, initial ? BROAD__ORIGIN_INITIAL : origin, 0, initial ? first_groups(model) : 0);
        /* The first layer on new rows is algorithm 4, those after it are algorithm 2. */
        if (origin == BROAD__ORIGIN_DATA) origin = BROAD__ORIGIN_ENHANCE;
        if (status == BROAD_OK) over = layer_over(t, i + 1 == layers);
    }
    t->search.may_defer = 0;
    int settled = settle(t);
    if (status == BROAD_OK) status = settled;
    if (status == BROAD_OK && !over) over = broad__stop_rules(t, 0);
    return status < 0 ? status : over < 0 ? over : BROAD_OK;
}

/* Whether every layer has the weights that its kind predicts with. */
static int solved(const broad_model *model)
{
    int at_once = broad__kind_of(model->settings.kind)->at_once;
    for (size_t j = 0; j < model->layer_count; j++)
        if ((model->layers[j].joint != NULL) != model->joint.present ||
            (at_once && model->layers[j].certificate.rows == 0))
            return 0;
    return 1;
}

/* What every increment ends with, and how it went so far. The model may have been cut back; the caller may stop it; and
 * whatever fails, what is left is a model. */
static int finish(broad_trainer *t, int status)
{
    if (status == BROAD_OK && t->stale) status = rebuild(t);
    if (status == BROAD_OK) status = broad__outputs_finish(t);
    if (status > 0 || (status < 0 && !solved(t->model))) drop_unsolved(t);
    if (status <= 0) return status;
    return broad__model_outcome(t->model, BROAD_OUTCOME_STOPPED,
                                "stopped by the caller before the joint weights were there");
}

int broad__trainer_enhance(broad_trainer *t, size_t nodes, size_t layers)
{
    double began = broad__seconds(), features = t->seconds.features;
    int status = begin(t, nodes, layers);
    if (status == BROAD_OK) status = add_layers(t, nodes, layers, BROAD__ORIGIN_ENHANCE);
    status = finish(t, status);
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status;
}

/* ---- further features ------------------------------------------------------------------------------------------ */

/* One group, drawn as the first ones were, and its columns of Z. */
static int add_group(broad_trainer *t, size_t nodes)
{
    broad_model *model = t->model;
    double began = broad__seconds();
    int status = broad__model_make_group(model, broad__feature_source(&model->settings), nodes);
    if (status < 0) return status;
    size_t index = model->group_count++;
    broad__group *group = &model->groups[index];
    group->step = model->groups[0].step;
    group->range = model->groups[0].range;
    status = broad__trainer_fill_group(t, index);
    if (status == BROAD_OK) status = broad__rowset_add_groups(&t->train, 1);
    if (status == BROAD_OK && t->validation.part_count) status = broad__rowset_add_groups(&t->validation, 1);
    t->seconds.features += broad__seconds() - began;
    return status;
}

/* A group that no layer took is not part of the network. */
static void drop_group(broad_trainer *t)
{
    broad__group_clear(&t->model->groups[--t->model->group_count]);
    t->stale = 1;
}

int broad__trainer_features(broad_trainer *t, size_t groups, size_t nodes, size_t enhance)
{
    double began = broad__seconds(), features = t->seconds.features;
    broad_model *model = t->model;
    int over = 0, at_once = broad__kind_of(model->settings.kind)->at_once, status = begin(t, enhance, groups);
    if (status == BROAD_OK && broad__kind_of(model->settings.kind)->nodes != BROAD__NODES_FEATURES)
        status = broad__fail(BROAD_USAGE, "this kind of network has no feature nodes; add enhancement nodes instead");
    if (status == BROAD_OK && (nodes == 0 || model->layer_count == 0))
        status = broad__fail(BROAD_USAGE, nodes ? "the network has no layer yet that feature nodes could be added to"
                                                : "a group needs at least one feature node");
    if (status == BROAD_OK) status = broad__supervise_possible(&model->settings, t->train.rows.rows, nodes + enhance);
    for (size_t i = 0; status == BROAD_OK && !over && i < groups; i++) {
        over = run_over(t, nodes + enhance);
        if (over) break;
        size_t before = model->group_count, layers = model->layer_count;
        status = add_group(t, nodes);
        if (status == BROAD_OK)
            status = at_once ? add_block(t, enhance, BROAD__ORIGIN_FEATURES, before, 1)
                             : search_layer(t, enhance, BROAD__ORIGIN_FEATURES, before, 1);
        if (model->group_count > before && model->layer_count == layers) drop_group(t);
        if (status == BROAD_OK && !at_once) over = layer_over(t, i + 1 == groups);
    }
    if (status == BROAD_OK && !over && !at_once) over = broad__stop_rules(t, 0);
    status = finish(t, status == BROAD_OK && over < 0 ? over : status);
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status < 0 ? status : over < 0 ? over : BROAD_OK;
}

/* ---- further rows ---------------------------------------------------------------------------------------------- */

/* The new rows alone take the place of the training rows. */
static int forget(broad_trainer *t, size_t first_row)
{
    broad__rowset_close(&t->train);
    int status = broad__rowset_open(&t->train, t->model, t->device, t->pool, &t->storage);
    t->train.groups = t->model->group_count;
    t->first_row = first_row;
    t->partial = 1;
    return status;
}

static int widen_sides(broad_trainer *t)
{
    size_t outputs = t->model->outputs;
    int status = BROAD_OK;
    if (t->train.rows.outputs != outputs) broad__joint_clear(&t->joint);
    if (t->train.rows.outputs != outputs && t->train.part_count) status = broad__rowset_widen(&t->train, outputs);
    if (status == BROAD_OK && t->validation.rows.outputs != outputs && t->validation.part_count)
        status = broad__rowset_widen(&t->validation, outputs);
    t->train.rows.outputs = outputs;
    return status;
}

/* How many rows from `first` on have the same weight. */
static size_t rows_alike(const double *weights, size_t first, size_t rows)
{
    size_t end = first + 1;
    while (end < rows && (!weights || weights[end] == weights[first])) end++;
    return end - first;
}

/* Rows and classes are the model's before its first layer on them is searched; a failure in between leaves Z and E to be
 * made again. */
static int take_rows(broad_trainer *t, const broad_data *rows, const double *weights, int forgetful)
{
    broad_model *model = t->model;
    size_t before = model->rows, segments = model->segment_count, first = 0;
    int status = BROAD_OK;
    while (status == BROAD_OK && first < rows->rows) {
        size_t count = rows_alike(weights, first, rows->rows);
        status = broad__model_add_segment(model, rows, first, count, weights ? weights[first] : 1);
        first += count;
    }
    if (status == BROAD_OK) status = broad__model_add_classes(model, rows);
    if (status == BROAD_OK) status = widen_sides(t);
    if (status == BROAD_OK && forgetful) status = forget(t, before);
    first = 0;
    for (size_t i = segments; status == BROAD_OK && i < model->segment_count; i++) {
        const broad__segment *segment = &model->segments[i];
        status = broad__rowset_add_rows(&t->train, (broad__part){rows, first, segment->rows, segment->weight},
                                        model->layer_count);
        first += segment->rows;
    }
    if (status == BROAD_OK) return BROAD_OK;
    model->rows = before;
    model->segment_count = segments;
    t->stale = 1;
    return status;
}

/* New rows can do without new nodes where the weights of the old ones are solved again. */
static int joint_at_end(const broad_options *options)
{
    broad__fitting fitting = broad__fitting_of(options);
    return fitting == BROAD__FIT_AT_ONCE || fitting == BROAD__FIT_FINALLY;
}

/* That joint weights have now. */
static double joint_lambda(const broad_model *model)
{
    return model->joint.present ? model->joint.lambda : model->layers[0].certificate.lambda;
}

int broad__trainer_learn(broad_trainer *t, const broad_data *rows, const double *weights, size_t nodes, size_t layers,
                         int forgetful)
{
    double began = broad__seconds(), features = t->seconds.features;
    int partial = t->partial, status = broad__model_fits(t->model, rows);
    for (size_t i = 0; status == BROAD_OK && weights && i < rows->rows; i++)
        if (!(weights[i] >= BROAD__SEGMENT_WEIGHT_LEAST && weights[i] <= BROAD__SEGMENT_WEIGHT_MOST))
            status = broad__fail(BROAD_USAGE, "new row %zu cannot count %g: give a weight from %g to %g", i + 1,
                                 weights[i], BROAD__SEGMENT_WEIGHT_LEAST, BROAD__SEGMENT_WEIGHT_MOST);
    if (status == BROAD_OK && t->model->layer_count == 0)
        status = broad__fail(BROAD_USAGE, "the network has no layer yet: fit it to all rows instead");
    int chain = broad__fitting_of(&t->model->settings) == BROAD__FIT_CHAIN;
    if (status == BROAD_OK && forgetful && !chain)
        status = broad__fail(BROAD_USAGE,
                             "joint weights are solved on all rows: they cannot be learned from new rows alone");
    if (status == BROAD_OK && !layers && !joint_at_end(&t->model->settings))
        status = broad__fail(BROAD_USAGE, "this network learns new rows by further layers: give it at least one");
    if (forgetful) t->partial = 0;
    if (status == BROAD_OK) status = begin(t, layers ? nodes : 1, layers);
    t->partial = partial;
    t->lambda_fixed = status == BROAD_OK && weights && !layers;
    if (t->lambda_fixed) t->lambda = joint_lambda(t->model);
    if (status == BROAD_OK) status = take_rows(t, rows, weights, forgetful);
    if (status == BROAD_OK)
        status = add_layers(t, nodes, layers, forgetful ? BROAD__ORIGIN_FORGETFUL : BROAD__ORIGIN_DATA);
    status = finish(t, status);
    t->lambda_fixed = 0;
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status;
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static int find_positive(broad_model *model, const char *label)
{
    model->positive = model->task == BROAD_TASK_CLASSIFY ? model->outputs - 1 : 0;
    if (!label) return BROAD_OK;
    if (model->task != BROAD_TASK_CLASSIFY)
        return broad__fail(BROAD_USAGE, "option positive '%s': a regression has no positive class", label);
    for (size_t i = 0; i < model->outputs; i++)
        if (strcmp(model->output_names[i], label) == 0) {
            model->positive = i;
            return BROAD_OK;
        }
    return broad__fail(BROAD_USAGE, "option positive '%s' is no class of the data; the first is '%s', the last '%s'",
                       label, model->output_names[0], model->output_names[model->outputs - 1]);
}

/* The settings that stay with the model: nothing of this run alone. */
static broad_options lasting(const broad_options *options)
{
    broad_options o = *options;
    o.positive = NULL;
    o.class_weight = NULL;
    o.memory = 0;
    o.progress = NULL;
    o.progress_context = NULL;
    o.profile = NULL;
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
    t->device = broad__device_cpu();
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
    return BROAD_OK;
}

static int open_model(broad_trainer *t, const broad_data *data, const broad_options *options)
{
    t->model = broad__model_new();
    if (!t->model) return BROAD_NO_MEMORY;
    t->model->settings = lasting(options);
    t->model->range = options->range;
    int status = broad__model_describe(t->model, data);
    if (status == BROAD_OK) status = find_positive(t->model, options->positive);
    if (status == BROAD_OK) status = broad__model_class_weights(t->model, data, options->class_weight);
    if (status == BROAD_OK) status = broad__model_make_groups(t->model);
    if (status == BROAD_OK) status = broad__rowset_open(&t->train, t->model, t->device, t->pool, &t->storage);
    if (status < 0) return status;
    t->train.groups = t->model->group_count;
    double began = broad__seconds();
    t->first = (broad__part){data, 0, data->rows, 1};
    status = broad__trainer_run_pilot(t, data);
    for (size_t g = 0; status == BROAD_OK && g < t->model->group_count; g++) status = broad__trainer_fill_group(t, g);
    if (status == BROAD_OK) status = broad__rowset_add_rows(&t->train, t->first, 0);
    t->seconds.features += broad__seconds() - began;
    t->model->first_norm = t->train.rows.norm;
    if (status == BROAD_OK && !isfinite(t->train.rows.norm))
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

int broad__trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options)
{
    broad__storage storage = {0};
    int status = broad__options_check(options);
    if (status == BROAD_OK) status = check_data(data);
    if (status == BROAD_OK)
        status = broad__plan_storage(&storage, options, NULL, data->rows, data->inputs, data->outputs);
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
    status = broad__supervise_possible(&sized, data->rows, first_width(&sized, data));
    if (status == BROAD_OK) status = open_model(t, data, &sized);
    t->wanted = options->enhance_layers;
    if (status == BROAD_OK) report(t, "features", 0);
    if (status == BROAD_OK) status = broad__trainer_choose_range(t, data);
    if (status < 0) broad__trainer_close(NULL, t);
    else *out = t;
    return status;
}

/* Brings a row set from nothing to the model as it is: rows, groups and layers in the order in which they came. For rows that
 * are not in the model's segments (validation, or forced), all parts are there from the start. */
static int replay(broad_trainer *t, broad__rowset *rowset, const broad__part *parts, size_t count, int staged)
{
    broad_model *model = t->model;
    size_t next = 0;
    int status = broad__rowset_open(rowset, model, t->device, t->pool, &t->storage);
    rowset->groups = broad__model_initial_groups(model);
    for (size_t j = 0; status == BROAD_OK && j <= model->layer_count; j++) {
        const broad__layer *layer = j < model->layer_count ? &model->layers[j] : NULL;
        size_t wanted = layer && staged ? layer->certificate.first_row + layer->certificate.rows : SIZE_MAX;
        while (status == BROAD_OK && next < count && rowset->rows.rows < wanted)
            status = broad__rowset_add_rows(rowset, parts[next++], j);
        if (status < 0 || !layer) break;
        if (j && layer->groups) status = broad__rowset_add_groups(rowset, layer->groups);
        if (status == BROAD_OK) status = broad__rowset_follow(rowset, j);
    }
    return status;
}

/* Z and E of both row sets anew, from the parts they have. */
static int rebuild(broad_trainer *t)
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
        broad__rowset_close(&old);
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
    return rebuild(t);
}

/* Leave-one-out of joint weights leaves groups out: without them it would choose another lambda and hope for too much. */
static int check_groups(const broad_model *model, const broad_data *data)
{
    broad__fitting fitting = broad__fitting_of(&model->settings);
    if (!model->group_name || data->groups || fitting == BROAD__FIT_CHAIN || fitting == BROAD__FIT_WINDOW)
        return BROAD_OK;
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
    broad_options more = *run; /* what is added is not known yet, and little beside what is there */
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
    if (status < 0) broad__trainer_close(NULL, t);
    else *out = t;
    return status;
}

int broad__trainer_validate(broad_trainer *t, const broad_data *rows)
{
    int status = broad__model_fits(t->model, rows);
    if (status == BROAD_OK && rows->outputs > t->model->outputs)
        status = broad__fail(BROAD_BAD_DATA, "the validation rows have classes that the model does not know");
    if (status == BROAD_OK && t->validation.part_count)
        status = broad__fail(BROAD_USAGE, "there are validation rows already");
    broad__part part = {rows, 0, rows->rows, 1};
    if (status == BROAD_OK) status = replay(t, &t->validation, &part, 1, 0);
    if (status < 0) return status;
    t->best = (broad__best){t->model->layer_count, t->model->group_count, t->validation.rows.norm};
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
    if (out) *out = t->model;
    else broad_model_free(t->model);
    broad__free(t);
}
