/*
 * The broad residual chain (Su, Li, Liu, arXiv 2511.16550, algorithm 1), with the supervision test made satisfiable.
 *
 *   E_0 = Y
 *   draw the feature groups;  Z = [Z_1 ... Z_n]
 *   for j = 1 ... m:
 *       search a draw of H_j whose K_j passes the test      K_1 = [Z | H_1],  K_j = H_j
 *       W_j = ridge(K_j, E_{j-1});  E_j = E_{j-1} - K_j W_j
 *
 * BRLS is the same without the test.
 */
#include "model/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/scale.h"
#include "layer/supervise.h"
#include "model/check.h"
#include "model/map.h"
#include "rng/draw.h"

/* Below this part of the first norm the residual is rounding, and nothing can be certified about it. */
static const double NORM_FLOOR = 1e-12;

/* Base ranges that `auto` looks at. */
static const double AUTO_RANGES[] = {0.1, 0.2, 0.5, 1.0, 2.0};
enum { AUTO_RANGE_COUNT = sizeof AUTO_RANGES / sizeof AUTO_RANGES[0] };

enum { LAYERS_MAX = 1000000 };

/* ---- what the data tells the model ----------------------------------------------------------------------------- */

static char **copy_names(char *const *names, size_t count)
{
    char **copy = broad__alloc_array(count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = broad__copy_text(names[i]);
        if (copy[i]) continue;
        for (size_t j = 0; j < i; j++) broad__free(copy[j]);
        broad__free(copy);
        return NULL;
    }
    return copy;
}

static int find_positive(broad_model *model, const char *label)
{
    model->positive = model->task == BROAD_TASK_CLASSIFY ? model->outputs - 1 : 0;
    if (!label) return BROAD_OK;
    if (model->task != BROAD_TASK_CLASSIFY)
        return broad__fail(BROAD_USAGE, "--positive '%s': a regression has no positive class", label);
    for (size_t i = 0; i < model->outputs; i++)
        if (strcmp(model->output_names[i], label) == 0) {
            model->positive = i;
            return BROAD_OK;
        }
    return broad__fail(BROAD_USAGE, "--positive '%s' is no class of the data; the first is '%s', the last '%s'", label,
                       model->output_names[0], model->output_names[model->outputs - 1]);
}

static int describe_data(broad_model *model, const broad_data *data)
{
    model->task = data->task;
    model->inputs = data->inputs;
    model->outputs = data->outputs;
    model->named = data->named;
    model->missing = data->missing;
    model->rows = data->rows;
    model->split_holdout = data->split_holdout;
    model->split_seed = data->split_seed;
    model->input_names = copy_names(data->input_names, data->inputs);
    model->output_names = copy_names(data->output_names, data->outputs);
    model->target_name = broad__copy_text(data->target_name ? data->target_name : "target");
    if (data->group_name) model->group_name = broad__copy_text(data->group_name);
    model->segments = broad__alloc_array(1, sizeof *model->segments);
    if (!model->input_names || !model->output_names || !model->target_name || !model->segments ||
        (data->group_name && !model->group_name))
        return BROAD_NO_MEMORY;
    model->segment_count = 1;
    model->segments[0].rows = data->rows;
    return broad__table_fingerprint(model->segments[0].fingerprint, data, 0, data->rows);
}

static int fit_scales(broad_model *model, const broad_data *data)
{
    model->input_shift = broad__alloc_doubles(model->inputs, 1);
    model->input_factor = broad__alloc_doubles(model->inputs, 1);
    model->input_fill = broad__alloc_doubles(model->inputs, 1);
    model->output_shift = broad__alloc_doubles(model->outputs, 1);
    model->output_factor = broad__alloc_doubles(model->outputs, 1);
    if (!model->input_shift || !model->input_factor || !model->input_fill || !model->output_shift ||
        !model->output_factor)
        return BROAD_NO_MEMORY;
    broad__scale_fit(model->input_shift, model->input_factor, model->input_fill, model->settings.scale, data->x,
                     data->rows, data->inputs);
    int classes = data->task == BROAD_TASK_CLASSIFY;
    broad__scale_fit(model->output_shift, model->output_factor, NULL,
                     classes ? BROAD_SCALE_NONE : model->settings.scale_target, data->values, classes ? 0 : data->rows,
                     data->outputs);
    return BROAD_OK;
}

static int open_residual(broad__trainer *t)
{
    const broad_data *data = t->data;
    broad_model *model = t->model;
    double *targets = broad__alloc_doubles(data->rows, data->outputs);
    if (!targets) return BROAD_NO_MEMORY;
    broad__table_targets(targets, data);
    broad__scale_apply(targets, targets, data->rows, data->outputs, data->outputs, model->output_shift,
                       model->output_factor, NULL);
    int status = broad__rows_open(&t->rows, t->device, t->pool, data->rows, data->outputs, targets);
    broad__free(targets);
    model->first_norm = t->rows.norm;
    if (status == BROAD_OK && !isfinite(t->rows.norm))
        status = broad__fail(BROAD_BAD_DATA,
                             "the targets are too large to be squared: scale them (--scale-target standard)");
    return status;
}

/* ---- features -------------------------------------------------------------------------------------------------- */

/* Draws every group with the range of `step` and computes Z. */
static int draw_features(void *context, size_t step)
{
    broad__trainer *t = context;
    broad_model *model = t->model;
    double began = broad__seconds();
    for (size_t g = 0; g < model->group_count; g++) {
        broad__group *group = &model->groups[g];
        group->step = step;
        group->range = model->settings.range_steps[step];
        broad__group_draw(group, model, g);
    }
    broad__model_map(&t->map, t->map_weight, t->map_bias, model, model->group_count);
    int status = broad__feature_rows(t->z, &t->map, t->device, t->pool, t->data->x, t->data->rows);
    t->seconds.features += broad__seconds() - began;
    return status;
}

static int open_features(broad__trainer *t)
{
    broad_model *model = t->model;
    const broad_options *o = &model->settings;
    size_t nodes;
    if (broad__multiply(&nodes, o->feature_groups, o->feature_nodes) < 0) return broad__fail_memory(SIZE_MAX);
    model->groups = broad__alloc_array(o->feature_groups, sizeof *model->groups);
    if (!model->groups) return BROAD_NO_MEMORY;
    model->group_count = o->feature_groups;
    for (size_t g = 0; g < o->feature_groups; g++) {
        broad__group *group = &model->groups[g];
        group->nodes = o->feature_nodes;
        group->weight = broad__alloc_doubles(model->inputs, group->nodes);
        group->bias = broad__alloc_doubles(group->nodes, 1);
        if (!group->weight || !group->bias) return BROAD_NO_MEMORY;
    }
    t->map_weight = broad__alloc_doubles(model->inputs, nodes);
    t->map_bias = broad__alloc_doubles(nodes, 1);
    t->z = broad__alloc_doubles(model->rows, nodes);
    if (!t->map_weight || !t->map_bias || !t->z) return BROAD_NO_MEMORY;
    t->rows.z = t->z;
    t->rows.features = nodes;
    return BROAD_OK;
}

/* ---- the base range by leave-one-out --------------------------------------------------------------------------- */

static int range_loo(double *out, broad__trainer *t)
{
    broad__search *s = &t->search;
    const broad_options *o = &t->model->settings;
    size_t features = t->rows.features;
    int status = broad__reserve(&s->weight, &s->weight_room, features * o->enhance_nodes);
    if (status == BROAD_OK) status = broad__reserve(&s->bias, &s->bias_room, o->enhance_nodes);
    if (status < 0) return status;
    broad__stream stream = {.seed = o->seed, .purpose = BROAD__FOR_ENHANCEMENT};
    broad__draw_nodes(s->weight, s->bias, &stream, features, o->enhance_nodes, t->model->range * o->range_steps[0],
                      o->range_unit);
    broad__nodes nodes = {features, o->enhance_nodes, s->weight, s->bias, o->activation};
    broad__ridge_wish wish = {.lambda_auto = o->lambda_auto, .lambda = o->lambda, .loo = 1};
    status = broad__rows_candidate(&t->rows, &nodes, 0, features);
    if (status == BROAD_OK) status = broad__ridge_solve(&s->ridge, &t->rows, &wish);
    if (status == BROAD_OK) *out = s->ridge.loo;
    return status;
}

static int choose_range(broad__trainer *t)
{
    broad_model *model = t->model;
    double base = model->settings.range, best = INFINITY, chosen = base;
    for (size_t i = 0; model->settings.range_auto && i < AUTO_RANGE_COUNT; i++) {
        double loo = INFINITY;
        model->range = base * AUTO_RANGES[i];
        int status = draw_features(t, 0);
        if (status == BROAD_OK) status = range_loo(&loo, t);
        if (status < 0) return status;
        if (!(loo < best)) continue;
        best = loo;
        chosen = model->range;
    }
    model->range = chosen;
    return draw_features(t, 0);
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static int report(broad__trainer *t, const char *stage, size_t draws)
{
    const broad_options *o = &t->model->settings;
    if (!o->progress) return 0;
    broad_progress progress = {stage, t->model->layer_count, t->wanted, draws, t->rows.norm, t->model->first_norm};
    return o->progress(&progress, o->progress_context);
}

static int watch_draws(void *context, size_t draws) { return report(context, "layers", draws); }

static int set_outcome(broad_model *model, broad_outcome outcome, const char *reason)
{
    char *copy = broad__copy_text(reason);
    if (!copy) return BROAD_NO_MEMORY;
    broad__free(model->reason);
    model->reason = copy;
    model->outcome = outcome;
    return BROAD_OK;
}

static double *copy_doubles(const double *values, size_t count)
{
    double *copy = broad__alloc_doubles(count, 1);
    if (copy) memcpy(copy, values, count * sizeof(double));
    return copy;
}

/* Appends the layer that the search has found. */
static int append_layer(broad__trainer *t)
{
    broad_model *model = t->model;
    const broad__search *s = &t->search;
    size_t inputs = t->rows.features;
    if (model->layer_room < model->layer_count) model->layer_room = model->layer_count;
    int status =
        broad__grow(&model->layers, &model->layer_room, model->layer_count + 1, sizeof *model->layers, LAYERS_MAX);
    if (status < 0) return status;
    broad__layer *layer = &model->layers[model->layer_count];
    *layer = (broad__layer){
        .inputs = inputs,
        .nodes = s->nodes,
        .first_group = 0,
        .groups = s->prefix ? model->group_count : 0,
        .width = s->prefix + s->nodes,
        .weight = copy_doubles(s->weight, inputs * s->nodes),
        .bias = copy_doubles(s->bias, s->nodes),
        .output = copy_doubles(s->ridge.w, (s->prefix + s->nodes) * model->outputs),
        .certificate = s->certificate,
    };
    if (!layer->weight || !layer->bias || !layer->output) {
        broad__layer_clear(layer);
        return BROAD_NO_MEMORY;
    }
    model->layer_count++;
    return BROAD_OK;
}

static int stalled(broad__trainer *t)
{
    const broad_options *o = &t->model->settings;
    broad__bound bound = broad__schedule(o, t->search.index + 1, o->relax_count);
    char reason[256];
    snprintf(reason, sizeof reason,
             "layer %zu: no draw of any range met the bound %.6g, also after relaxing it %zu times; the best had %.6g",
             t->search.index + 1, bound.sum, o->relax_count, t->search.best);
    return set_outcome(t->model, BROAD_STALLED, reason);
}

static void set_task(broad__trainer *t, size_t nodes)
{
    broad_model *model = t->model;
    broad__search *s = &t->search;
    int initial = model->layer_count == 0;
    s->options = &model->settings;
    s->range = model->range;
    s->rows = &t->rows;
    s->index = model->layer_count;
    s->nodes = nodes;
    s->first = 0;
    s->prefix = initial ? t->rows.features : 0;
    s->origin = initial ? BROAD__ORIGIN_INITIAL : BROAD__ORIGIN_ENHANCE;
    s->redraw = initial ? draw_features : NULL;
    s->watch = watch_draws;
    s->context = t;
}

int broad__trainer_enhance(broad__trainer *t, size_t nodes, size_t layers)
{
    broad_model *model = t->model;
    double began = broad__seconds(), features = t->seconds.features;
    int status = set_outcome(model, BROAD_COMPLETE, "");
    /* A test that later layers can never pass is refused before the first one is made. */
    if (status == BROAD_OK && layers > 1) status = broad__supervise_possible(&model->settings, t->rows.rows, nodes);
    t->wanted = model->layer_count + layers;
    for (size_t i = 0; status == BROAD_OK && i < layers; i++) {
        if (!(t->rows.norm > NORM_FLOOR * model->first_norm)) {
            status = set_outcome(model, BROAD_TARGET_REACHED, "the training error is zero up to rounding");
            break;
        }
        set_task(t, nodes);
        status = broad__search_run(&t->search);
        if (status == BROAD_OK && t->search.kept) status = append_layer(t);
        if (status < 0) break;
        if (!t->search.kept && !t->search.stopped) {
            status = stalled(t);
            break;
        }
        if (t->search.stopped || (report(t, "layers", 0) && i + 1 < layers)) {
            status = set_outcome(model, BROAD_STOPPED, "stopped by the caller");
            break;
        }
    }
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status;
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static int check_data(const broad_data *data)
{
    if (data->rows == 0 || data->inputs == 0)
        return broad__fail(BROAD_BAD_DATA, "there are no rows or no inputs to train on");
    if (data->task == BROAD_TASK_AUTO || data->outputs == 0)
        return broad__fail(BROAD_BAD_DATA, "the data has no targets to train on");
    return BROAD_OK;
}

int broad__trainer_open(broad__trainer *out, const broad_data *data, const broad_options *options)
{
    memset(out, 0, sizeof *out);
    out->started = broad__seconds();
    int status = broad__options_check(options);
    if (status == BROAD_OK) status = check_data(data);
    if (status < 0) return status;
    broad__trainer *t = out;
    t->data = data;
    t->device = broad__device_cpu();
    t->model = broad__model_new();
    if (!t->model) return BROAD_NO_MEMORY;
    t->model->settings = *options;
    t->model->settings.positive = NULL;
    t->model->range = options->range;
    status = broad__supervise_possible(options, data->rows,
                                       options->feature_groups * options->feature_nodes + options->enhance_nodes);
    if (status == BROAD_OK) status = broad__pool_open(&t->pool, options->threads);
    if (status == BROAD_OK) {
        t->device->hold();
        t->holding = 1;
        status = describe_data(t->model, data);
    }
    if (status == BROAD_OK) status = find_positive(t->model, options->positive);
    if (status == BROAD_OK) status = fit_scales(t->model, data);
    if (status == BROAD_OK) status = open_residual(t);
    if (status == BROAD_OK) status = open_features(t);
    t->wanted = options->enhance_layers;
    if (status == BROAD_OK) report(t, "features", 0);
    if (status == BROAD_OK) status = choose_range(t);
    if (status < 0) broad__trainer_close(t);
    return status;
}

broad_model *broad__trainer_finish(broad__trainer *trainer)
{
    broad_model *model = trainer->model;
    trainer->model = NULL;
    model->settings.progress = NULL;
    model->settings.progress_context = NULL;
    broad__trainer_close(trainer);
    return model;
}

void broad__trainer_close(broad__trainer *trainer)
{
    broad__search_clear(&trainer->search);
    broad__rows_close(&trainer->rows);
    broad__free(trainer->z);
    broad__free(trainer->map_weight);
    broad__free(trainer->map_bias);
    if (trainer->holding) trainer->device->release();
    broad__pool_close(trainer->pool);
    broad_model_free(trainer->model);
    memset(trainer, 0, sizeof *trainer);
}
