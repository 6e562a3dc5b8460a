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
 * BRLS is the same without the test.
 */
#include "model/train.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "layer/supervise.h"
#include "model/check.h"
#include "rng/draw.h"

/* Below this part of the first norm the residual is rounding, and nothing can be certified about it. */
static const double NORM_FLOOR = 1e-12;

/* Ranges that `auto` looks at, as multiples of the one given: first of the feature nodes, then, with the best of these, of
 * the enhancement nodes. */
static const double AUTO_FEATURE_RANGES[] = {1.0, 0.1, 0.2, 0.5, 2.0};
static const double AUTO_NODE_RANGES[] = {0.2, 0.5, 2.0, 5.0};
/* More rows and nodes than these do not change the choice of a range, but its cost. */
enum { AUTO_ROWS = 4000, AUTO_NODES = 200 };
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { LAYERS_MAX = 1000000, GROUPS_MAX = 1000000 };

/* ---- features -------------------------------------------------------------------------------------------------- */

/* Draws every group with the range of `step` and computes Z. */
static int draw_features(void *context, size_t step)
{
    broad_trainer *t = context;
    broad_model *model = t->model;
    double began = broad__seconds();
    for (size_t g = 0; g < model->group_count; g++) {
        broad__group *group = &model->groups[g];
        group->step = step;
        group->range = model->settings.range_steps[step] * t->feature_factor;
        broad__group_draw(group, model, g);
    }
    int status = broad__side_refresh(&t->train);
    if (status == BROAD_OK && t->check.part_count) status = broad__side_refresh(&t->check);
    t->seconds.features += broad__seconds() - began;
    return status;
}

/* Room for one more group; it counts only once model->group_count says so. */
static int make_group(broad_model *model, size_t nodes)
{
    size_t room = model->group_count;
    int status = broad__grow(&model->groups, &room, model->group_count + 1, sizeof *model->groups, GROUPS_MAX);
    if (status < 0) return status;
    broad__group *group = &model->groups[model->group_count];
    *group = (broad__group){.nodes = nodes};
    group->weight = broad__alloc_doubles(model->inputs, nodes);
    group->bias = broad__alloc_doubles(nodes, 1);
    if (group->weight && group->bias) return BROAD_OK;
    broad__group_clear(group);
    return BROAD_NO_MEMORY;
}

static int make_groups(broad_model *model)
{
    const broad_options *o = &model->settings;
    for (size_t g = 0; g < o->feature_groups; g++) {
        int status = make_group(model, o->feature_nodes);
        if (status < 0) return status;
        broad__group *group = &model->groups[model->group_count++];
        group->range = o->range_steps[0];
        broad__group_draw(group, model, g);
    }
    return BROAD_OK;
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
    broad__nodes nodes = {features, count, s->weight, s->bias, o->activation};
    broad__ridge_wish wish = {.lambda_auto = o->lambda_auto, .lambda = o->lambda, .loo = 1};
    status = broad__rows_candidate(&t->train.rows, &nodes, 0, features);
    if (status == BROAD_OK) status = broad__ridge_solve(&s->ridge, &t->train.rows, &wish);
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
    return draw_features(t, 0);
}

static int try_ranges(range_choice *best, broad_trainer *t, double features, double nodes)
{
    double loo = INFINITY;
    int status = use_ranges(t, features, nodes);
    if (status == BROAD_OK) status = range_loo(&loo, t);
    if (status == BROAD_OK && loo < best->loo) *best = (range_choice){features, nodes, loo};
    return status;
}

static int search_ranges(range_choice *best, broad_trainer *t)
{
    double base = t->model->settings.range;
    int status = BROAD_OK;
    *best = (range_choice){base, base, INFINITY};
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_FEATURE_RANGES); i++)
        status = try_ranges(best, t, base * AUTO_FEATURE_RANGES[i], base);
    double features = best->features;
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_NODE_RANGES); i++)
        status = try_ranges(best, t, features, base * AUTO_NODE_RANGES[i]);
    return status;
}

/* Rows at equal distances: files are often sorted. */
static int thin_out(broad_data **out, const broad_data *data, size_t count)
{
    size_t *rows = broad__alloc_array(count, sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) rows[i] = (size_t)((double)i * (double)data->rows / (double)count);
    int status = broad__table_rows(out, data, rows, count);
    broad__free(rows);
    return status;
}

/* The search on some of the rows, which stand in for all of them meanwhile. */
static int search_ranges_thinned(range_choice *best, broad_trainer *t, const broad_data *data)
{
    broad_data *some = NULL;
    broad__side all = t->train;
    memset(&t->train, 0, sizeof t->train);
    int status = thin_out(&some, data, AUTO_ROWS);
    if (status == BROAD_OK) status = broad__side_open(&t->train, t->model, t->device, t->pool);
    t->train.groups = t->model->group_count;
    if (status == BROAD_OK) status = broad__side_add_rows(&t->train, (broad__part){some, 0, some->rows}, 0);
    if (status == BROAD_OK) status = search_ranges(best, t);
    broad__side_close(&t->train);
    broad__table_free(some);
    t->train = all;
    return status;
}

static int choose_range(broad_trainer *t, const broad_data *data)
{
    range_choice best;
    if (!t->model->settings.range_auto) return BROAD_OK;
    int status = data->rows > AUTO_ROWS ? search_ranges_thinned(&best, t, data) : search_ranges(&best, t);
    return status == BROAD_OK ? use_ranges(t, best.features, best.nodes) : status;
}

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

/* Appends the layer that the search has found. */
static int append_layer(broad_trainer *t, size_t first_group, size_t groups)
{
    broad_model *model = t->model;
    const broad__search *s = &t->search;
    size_t inputs = t->train.rows.features, width = s->prefix + s->nodes;
    if (model->layer_room < model->layer_count) model->layer_room = model->layer_count;
    int status =
        broad__grow(&model->layers, &model->layer_room, model->layer_count + 1, sizeof *model->layers, LAYERS_MAX);
    if (status < 0) return status;
    broad__layer *layer = &model->layers[model->layer_count];
    *layer = (broad__layer){
        .inputs = inputs,
        .nodes = s->nodes,
        .first_group = groups ? first_group : 0,
        .groups = groups,
        .width = width,
        .weight = copy_doubles(s->weight, inputs * s->nodes),
        .bias = copy_doubles(s->bias, s->nodes),
        .output = copy_doubles(s->ridge.w, width * model->outputs),
        .certificate = s->certificate,
    };
    layer->certificate.first_row = t->first_row;
    if (!layer->weight || !layer->bias || !layer->output) {
        broad__layer_clear(layer);
        return BROAD_NO_MEMORY;
    }
    model->layer_count++;
    return BROAD_OK;
}

static int stalled(broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    broad__bound bound = broad__schedule(o, t->search.index + 1, o->relax_count);
    return broad__model_outcome(
        t->model, BROAD_STALLED,
        "layer %zu: no draw of any range met the bound %.6g, also after relaxing it %zu times; the "
        "best had %.6g",
        t->search.index + 1, bound.sum, o->relax_count, t->search.best);
}

/* Searches one layer whose K starts with the nodes of `groups` groups. Returns a status; t->search says what came out. */
static int search_layer(broad_trainer *t, size_t nodes, broad__origin origin, size_t first_group, size_t groups)
{
    broad_model *model = t->model;
    broad__search *s = &t->search;
    s->options = &model->settings;
    s->range = model->range;
    s->rows = &t->train.rows;
    s->index = model->layer_count;
    s->nodes = nodes;
    s->first = broad__model_feature_nodes(model, first_group);
    s->prefix = broad__model_feature_nodes(model, first_group + groups) - s->first;
    s->origin = origin;
    s->redraw = origin == BROAD__ORIGIN_INITIAL ? draw_features : NULL;
    s->watch = watch_draws;
    s->context = t;
    int status = broad__search_run(s);
    if (status == BROAD_OK && s->kept) status = append_layer(t, first_group, groups);
    if (status == BROAD_OK && s->kept && t->check.part_count)
        status = broad__side_follow(&t->check, model->layer_count - 1);
    if (status < 0) t->stale = 1; /* Z or E may be past what the model has */
    return status;
}

/* 0: go on, 1: the run is over and the outcome set, or a status. Looked at before each layer. */
static int run_over(broad_trainer *t, size_t next_nodes)
{
    broad_model *model = t->model;
    if (t->run.max_layers && model->layer_count >= t->run.max_layers) return 1;
    if (!(t->train.rows.norm > NORM_FLOOR * model->first_norm)) {
        int status = broad__model_outcome(model, BROAD_TARGET_REACHED, "the training error is zero up to rounding");
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
        status = broad__model_outcome(t->model, BROAD_STOPPED, "stopped by the caller");
    else return 0;
    return status < 0 ? status : 1;
}

static int rebuild(broad_trainer *t);

/* What every increment begins with. */
static int begin(broad_trainer *t, size_t nodes, size_t layers)
{
    if (nodes == 0) return broad__fail(BROAD_USAGE, "a layer needs at least one node");
    if (t->partial)
        return broad__fail(BROAD_USAGE, "the older training rows are not there: only forgetful learning can go on");
    int status = t->stale ? rebuild(t) : BROAD_OK;
    t->wanted = t->model->layer_count + layers;
    if (t->run.max_layers && t->wanted > t->run.max_layers) t->wanted = t->run.max_layers;
    return status == BROAD_OK ? broad__model_outcome(t->model, BROAD_COMPLETE, "%s", "") : status;
}

static int add_layers(broad_trainer *t, size_t nodes, size_t layers, broad__origin origin)
{
    broad_model *model = t->model;
    int over = 0;
    /* A test that later layers can never pass is refused before the first one is made. */
    int status = layers > 1 || model->layer_count
                     ? broad__supervise_possible(&model->settings, t->train.rows.rows, nodes)
                     : BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && !over && i < layers; i++) {
        over = run_over(t, nodes);
        if (over) break;
        int initial = model->layer_count == 0;
        status = search_layer(t, nodes, initial ? BROAD__ORIGIN_INITIAL : origin, 0, initial ? model->group_count : 0);
        /* The first layer on new rows is algorithm 4, those after it are algorithm 2. */
        if (origin == BROAD__ORIGIN_DATA) origin = BROAD__ORIGIN_ENHANCE;
        if (status == BROAD_OK) over = layer_over(t, i + 1 == layers);
    }
    if (status == BROAD_OK && !over) over = broad__stop_rules(t, 0);
    return status < 0 ? status : over < 0 ? over : BROAD_OK;
}

int broad__trainer_enhance(broad_trainer *t, size_t nodes, size_t layers)
{
    double began = broad__seconds(), features = t->seconds.features;
    int status = begin(t, nodes, layers);
    if (status == BROAD_OK) status = add_layers(t, nodes, layers, BROAD__ORIGIN_ENHANCE);
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status;
}

/* ---- further features ------------------------------------------------------------------------------------------ */

/* One group, drawn as the first ones were, and its columns of Z. */
static int add_group(broad_trainer *t, size_t nodes)
{
    broad_model *model = t->model;
    double began = broad__seconds();
    int status = make_group(model, nodes);
    if (status < 0) return status;
    size_t index = model->group_count++;
    broad__group *group = &model->groups[index];
    group->step = model->groups[0].step;
    group->range = model->groups[0].range;
    broad__group_draw(group, model, index);
    status = broad__side_add_groups(&t->train, 1);
    if (status == BROAD_OK && t->check.part_count) status = broad__side_add_groups(&t->check, 1);
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
    int over = 0, status = begin(t, enhance, groups);
    if (status == BROAD_OK && (nodes == 0 || model->layer_count == 0))
        status = broad__fail(BROAD_USAGE, nodes ? "the network has no layer yet that feature nodes could be added to"
                                                : "a group needs at least one feature node");
    if (status == BROAD_OK) status = broad__supervise_possible(&model->settings, t->train.rows.rows, nodes + enhance);
    for (size_t i = 0; status == BROAD_OK && !over && i < groups; i++) {
        over = run_over(t, nodes + enhance);
        if (over) break;
        size_t before = model->group_count, layers = model->layer_count;
        status = add_group(t, nodes);
        if (status == BROAD_OK) status = search_layer(t, enhance, BROAD__ORIGIN_FEATURES, before, 1);
        if (model->group_count > before && model->layer_count == layers) drop_group(t);
        if (status == BROAD_OK) over = layer_over(t, i + 1 == groups);
    }
    if (status == BROAD_OK && !over) over = broad__stop_rules(t, 0);
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status < 0 ? status : over < 0 ? over : BROAD_OK;
}

/* ---- further rows ---------------------------------------------------------------------------------------------- */

/* The new rows alone take the place of the training rows. */
static int forget(broad_trainer *t, size_t first_row)
{
    broad__side_close(&t->train);
    int status = broad__side_open(&t->train, t->model, t->device, t->pool);
    t->train.groups = t->model->group_count;
    t->first_row = first_row;
    t->partial = 1;
    return status;
}

static int widen_sides(broad_trainer *t)
{
    size_t outputs = t->model->outputs;
    int status = BROAD_OK;
    if (t->train.rows.outputs != outputs && t->train.part_count) status = broad__rows_widen(&t->train.rows, outputs);
    if (status == BROAD_OK && t->check.rows.outputs != outputs && t->check.part_count)
        status = broad__rows_widen(&t->check.rows, outputs);
    t->train.rows.outputs = outputs;
    return status;
}

/* Rows and classes are the model's before its first layer on them is searched; a failure in between leaves Z and E to be
 * made again. */
static int take_rows(broad_trainer *t, const broad_data *rows, int forgetful)
{
    broad_model *model = t->model;
    size_t before = model->rows, segments = model->segment_count;
    int status = broad__model_add_segment(model, rows);
    if (status < 0) return status;
    status = broad__model_add_classes(model, rows);
    if (status == BROAD_OK) status = widen_sides(t);
    if (status == BROAD_OK && forgetful) status = forget(t, before);
    if (status == BROAD_OK)
        status = broad__side_add_rows(&t->train, (broad__part){rows, 0, rows->rows}, model->layer_count);
    if (status == BROAD_OK) return BROAD_OK;
    model->rows = before;
    model->segment_count = segments;
    t->stale = 1;
    return status;
}

int broad__trainer_learn(broad_trainer *t, const broad_data *rows, size_t nodes, size_t layers, int forgetful)
{
    double began = broad__seconds(), features = t->seconds.features;
    int partial = t->partial, status = broad__model_fits(t->model, rows);
    if (status == BROAD_OK && t->model->layer_count == 0)
        status = broad__fail(BROAD_USAGE, "the network has no layer yet: fit it to all rows instead");
    if (forgetful) t->partial = 0;
    if (status == BROAD_OK) status = begin(t, nodes, layers);
    t->partial = partial;
    if (status == BROAD_OK) status = take_rows(t, rows, forgetful);
    if (status == BROAD_OK)
        status = add_layers(t, nodes, layers, forgetful ? BROAD__ORIGIN_FORGETFUL : BROAD__ORIGIN_DATA);
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status;
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

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

/* The settings that stay with the model: nothing of this run alone. */
static broad_options lasting(const broad_options *options)
{
    broad_options o = *options;
    o.positive = NULL;
    o.progress = NULL;
    o.progress_context = NULL;
    return o;
}

/* A trainer with threads and device, and a model if the caller has none yet. */
static int start(broad_trainer **out, const broad_options *run)
{
    broad_trainer *t = broad__alloc(sizeof *t);
    if (!t) return BROAD_NO_MEMORY;
    t->started = broad__seconds();
    t->run = *run;
    t->best.norm = INFINITY;
    t->feature_factor = 1;
    t->device = broad__device_cpu();
    int status = broad__pool_open(&t->pool, run->threads);
    if (status < 0) {
        broad__trainer_close(NULL, t);
        return status;
    }
    t->device->hold();
    t->holding = 1;
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
    if (status == BROAD_OK) status = make_groups(t->model);
    if (status == BROAD_OK) status = broad__side_open(&t->train, t->model, t->device, t->pool);
    if (status < 0) return status;
    t->train.groups = t->model->group_count;
    double began = broad__seconds();
    status = broad__side_add_rows(&t->train, (broad__part){data, 0, data->rows}, 0);
    t->seconds.features += broad__seconds() - began;
    t->model->first_norm = t->train.rows.norm;
    if (status == BROAD_OK && !isfinite(t->train.rows.norm))
        status = broad__fail(BROAD_BAD_DATA,
                             "the targets are too large to be squared: scale them (--scale-target standard)");
    return status;
}

int broad__trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options)
{
    broad_trainer *t = NULL;
    int status = broad__options_check(options);
    if (status == BROAD_OK) status = check_data(data);
    if (status == BROAD_OK)
        status = broad__supervise_possible(options, data->rows,
                                           options->feature_groups * options->feature_nodes + options->enhance_nodes);
    if (status == BROAD_OK) status = start(&t, options);
    if (status < 0) return status;
    status = open_model(t, data, options);
    t->wanted = options->enhance_layers;
    if (status == BROAD_OK) report(t, "features", 0);
    if (status == BROAD_OK) status = choose_range(t, data);
    if (status < 0) broad__trainer_close(NULL, t);
    else *out = t;
    return status;
}

/* Brings a side from nothing to the model as it is: rows, groups and layers in the order in which they came. For rows that
 * are not in the model's segments (validation, or forced), all parts are there from the start. */
static int replay(broad_trainer *t, broad__side *side, const broad__part *parts, size_t count, int staged)
{
    broad_model *model = t->model;
    size_t next = 0;
    int status = broad__side_open(side, model, t->device, t->pool);
    side->groups = model->layer_count ? model->layers[0].groups : model->group_count;
    for (size_t j = 0; status == BROAD_OK && j <= model->layer_count; j++) {
        const broad__layer *layer = j < model->layer_count ? &model->layers[j] : NULL;
        size_t wanted = layer && staged ? layer->certificate.first_row + layer->certificate.rows : SIZE_MAX;
        while (status == BROAD_OK && next < count && side->rows.rows < wanted)
            status = broad__side_add_rows(side, parts[next++], j);
        if (status < 0 || !layer) break;
        if (j && layer->groups) status = broad__side_add_groups(side, layer->groups);
        if (status == BROAD_OK) status = broad__side_follow(side, j);
    }
    return status;
}

/* Z and E of both sides anew, from the parts they have. */
static int rebuild(broad_trainer *t)
{
    broad__side *sides[2] = {&t->train, &t->check};
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < 2; i++) {
        broad__side old = *sides[i];
        if (old.part_count == 0) continue;
        memset(sides[i], 0, sizeof *sides[i]);
        status = replay(t, sides[i], old.parts, old.part_count, i == 0 && !t->partial);
        broad__side_close(&old);
    }
    t->stale = status < 0;
    return status;
}

/* With force the rows become one new segment, whatever the model was trained on before. */
static int accept_rows(broad_trainer *t, const broad_data *data, int force)
{
    int status = broad__model_fits(t->model, data);
    if (status < 0) return status;
    status = broad__model_check_rows(t->model, data);
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
    return broad__model_add_segment(model, data);
}

static int resume_rows(broad_trainer *t, const broad_data *data, int force)
{
    broad_model *model = t->model;
    int status = accept_rows(t, data, force);
    broad__part *parts = status == BROAD_OK ? broad__alloc_array(model->segment_count, sizeof *parts) : NULL;
    if (status == BROAD_OK && !parts) status = BROAD_NO_MEMORY;
    size_t first = 0;
    for (size_t i = 0; status == BROAD_OK && i < model->segment_count; i++) {
        parts[i] = (broad__part){data, first, model->segments[i].rows};
        first += model->segments[i].rows;
    }
    if (status == BROAD_OK) status = replay(t, &t->train, parts, model->segment_count, 1);
    broad__free(parts);
    return status;
}

int broad__trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                          const broad_options *run, int force)
{
    broad_trainer *t = NULL;
    int status = broad__options_check(run);
    if (status == BROAD_OK && model->seed_map != BROAD__SEED_MAP)
        status = broad__fail(
            BROAD_BAD_MODEL,
            "the model's nodes were drawn by seed map %zu, and this version has map %d: it can predict with "
            "the model, but not grow it",
            model->seed_map, (int)BROAD__SEED_MAP);
    if (status == BROAD_OK) status = start(&t, run);
    if (status < 0) return status;
    status = broad__model_copy(&t->model, model);
    if (status == BROAD_OK && model->group_count)
        t->feature_factor = model->groups[0].range / model->settings.range_steps[model->groups[0].step];
    double began = broad__seconds();
    if (status == BROAD_OK && data) status = resume_rows(t, data, force);
    if (status == BROAD_OK && !data) {
        status = broad__side_open(&t->train, t->model, t->device, t->pool);
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
    if (status == BROAD_OK && t->check.part_count)
        status = broad__fail(BROAD_USAGE, "there are validation rows already");
    broad__part part = {rows, 0, rows->rows};
    if (status == BROAD_OK) status = replay(t, &t->check, &part, 1, 0);
    if (status < 0) return status;
    t->best = (broad__best){t->model->layer_count, t->model->group_count, t->check.rows.norm};
    return BROAD_OK;
}

void broad__trainer_close(broad_model **out, broad_trainer *t)
{
    if (out) *out = NULL;
    if (!t) return;
    broad__search_clear(&t->search);
    broad__side_close(&t->train);
    broad__side_close(&t->check);
    if (t->holding) t->device->release();
    broad__pool_close(t->pool);
    if (out) *out = t->model;
    else broad_model_free(t->model);
    broad__free(t);
}
