/* The layers of a network that is being built: one after the other by search, or a whole block of nodes at once. */
#include "model/train/train_layers.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "layer/score.h"
#include "layer/supervise.h"
#include "model/kind.h"
#include "model/train/budget.h"
#include "model/train/features.h"
#include "model/train/output_weights.h"
#include "model/train/stop.h"
#include "model/train/train_open.h"

/* Below this part of the first norm the residual is rounding, and nothing can be certified about it. */
static const double NORM_FLOOR = 1e-12;

enum { LAYERS_MAX = 1000000 };

int broad__trainer_report(broad_trainer *t, const char *stage, size_t draws)
{
    if (!t->run.progress && broad__comm_ranks() == 1) return 0;
    broad_progress progress = {.stage = stage, .total = t->wanted, .draws = draws, .norm = t->train.residual.norm};
    if (t->model) progress.done = t->model->layer_count, progress.first_norm = t->model->first_norm;
    return broad__watch_tell(&progress);
}

static int watch_draws(void *context, size_t draws) { return broad__trainer_report(context, "layers", draws); }

static double *copy_doubles(const double *values, size_t count)
{
    double *copy = broad__alloc_unset(count, sizeof *copy);
    if (copy) memcpy(copy, values, count * sizeof(double));
    return copy;
}

static int reserve_layer(broad_model *model)
{
    if (model->layer_capacity < model->layer_count) model->layer_capacity = model->layer_count;
    return broad__grow(&model->layers, &model->layer_capacity, model->layer_count + 1, sizeof *model->layers,
                       LAYERS_MAX);
}

/* Appends a layer whose arrays have been allocated, as far as memory went; it is cleared where it did not. */
static int append_layer(broad_model *model, broad__layer *layer)
{
    int status = layer->weight && layer->bias && layer->output ? reserve_layer(model) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) model->layers[model->layer_count++] = *layer;
    else broad__layer_clear(layer);
    return status;
}

/* A layer of the requested shape, without arrays. */
static broad__layer shape_layer(const broad_trainer *t, const broad__layer_request *request)
{
    size_t first = broad__model_feature_nodes(t->model, request->first_group);
    size_t end = broad__model_feature_nodes(t->model, request->first_group + request->groups);
    return (broad__layer){.inputs = t->train.residual.z.features,
                          .nodes = request->nodes,
                          .first_group = request->groups ? request->first_group : 0,
                          .groups = request->groups,
                          .width = end - first + request->nodes};
}

/* Appends the layer that the search has found. */
static int append_found(broad_trainer *t, const broad__layer_request *request)
{
    broad_model *model = t->model;
    const broad__search_result *found = &t->found;
    broad__layer layer = shape_layer(t, request);
    broad__search_take_nodes(&layer.weight, &layer.bias, &t->search, found, layer.inputs, layer.nodes);
    layer.output = found->w ? copy_doubles(found->w, layer.width * model->outputs)
                            : broad__alloc_doubles(layer.width, model->outputs);
    layer.certificate = found->certificate;
    layer.certificate.first_row = t->first_row;
    if (!model->layer_count) layer.certificate.tries += t->pairs;
    broad__residual *residual = &t->train.residual;
    const double *probe_w = NULL;
    int status = append_layer(model, &layer);
    if (status == BROAD_OK && found->probe_w)
        status = broad__probes_keep(&probe_w, &residual->probes, found->probe_w, layer.width);
    if (status < 0 || !found->deferred) return status;
    broad__kblock kblock = broad__model_kblock(model, model->layer_count - 1);
    broad__residual_defer(residual, &kblock, layer.output, found->certificate.norm_after);
    if (probe_w) broad__residual_defer_probes(residual, probe_w, found->inner);
    return BROAD_OK;
}

/* What a layer's record says about the residual after it, now that E is up to date. */
static void complete_record(broad__certificate *record, const broad__residual *residual)
{
    const broad__probes *probes = &residual->probes;
    double norm = residual->update.norm;
    record->norm_after = norm;
    record->ratio = record->tested = norm / record->norm_before;
    if (record->test == BROAD_SUPERVISE_GCV) {
        double before = broad__score_of(probes, record->norm_before, record->df_before, record->penalty);
        record->df = broad__probes_df_of(probes, residual->update.inner);
        record->score = broad__score(probes, norm, residual->update.inner, record->penalty);
        record->tested = record->score / before;
    }
    record->passed = record->ratio <= record->bound && record->tested <= record->bound;
}

/* Brings E up to date, and completes the last record. */
static int settle(broad_trainer *t)
{
    broad__residual *residual = &t->train.residual;
    if (!residual->update.pending) return BROAD_OK;
    int status = broad__residual_settle(residual);
    if (status == BROAD_OK) complete_record(&t->model->layers[t->model->layer_count - 1].certificate, residual);
    else residual->update.pending = 0, t->stale = 1; /* the record stays as the sums gave it */
    return status;
}

/* What a network without a layer predicts. */
static const char *predicted_alone(const broad_model *model)
{
    if (model->settings.scale_target != BROAD_SCALE_STANDARD) return "the same for every row";
    return model->task == BROAD_TASK_CLASSIFY ? "the frequencies of the classes" : "the mean of the targets";
}

/* The score says that the chain is as good as it gets: no failure. */
static int scored_enough(broad_trainer *t, size_t layer, double bound)
{
    if (layer == 1)
        return broad__model_outcome(t->model, BROAD_OUTCOME_STALLED,
                                    "nothing in the inputs explains the targets: no layer lowered the score, and "
                                    "the network predicts %s",
                                    predicted_alone(t->model));
    if (t->found.best >= 1)
        return broad__model_outcome(t->model, BROAD_OUTCOME_STALLED,
                                    "no further layer lowered the score: the best draw of layer %zu would have brought "
                                    "it to %.6g of what it was",
                                    layer, t->found.best);
    return broad__model_outcome(
        t->model, BROAD_OUTCOME_STALLED,
        "no further layer lowered the score enough: layer %zu had to bring it to %.8g of what it "
        "was, and its best draw would have brought it to %.8g",
        layer, bound, t->found.best);
}

static int stalled(broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    size_t layer = t->model->layer_count + 1;
    broad__bound bound = broad__schedule(o, layer, o->relax_count);
    if (o->supervise == BROAD_SUPERVISE_GCV) return scored_enough(t, layer, bound.sum);
    return broad__model_outcome(
        t->model, BROAD_OUTCOME_STALLED,
        "layer %zu: no draw of any range met the bound %.10g, also after relaxing it %zu times; the "
        "best had %.10g",
        layer, bound.sum, o->relax_count, t->found.best);
}

/* Feature nodes whose range may be searched too. */
static int drawn_features(const broad_model *model)
{
    return model->groups[0].source == BROAD__WEIGHT_SOURCE_DRAWN ||
           model->groups[0].source == BROAD__WEIGHT_SOURCE_SAMPLED;
}

static broad__search_task search_task(broad_trainer *t, const broad__layer_request *request)
{
    broad_model *model = t->model;
    size_t first = broad__model_feature_nodes(model, request->first_group);
    int redrawn = request->origin == BROAD__ORIGIN_INITIAL && drawn_features(model);
    return (broad__search_task){
        .options = &model->settings,
        .range = model->range,
        .chain_lambda = model->exponent != 0 ? pow(10, model->exponent) : 0,
        .residual = &t->train.residual,
        .index = model->layer_count,
        .nodes = request->nodes,
        .first = first,
        .prefix = broad__model_feature_nodes(model, request->first_group + request->groups) - first,
        .origin = request->origin,
        .qr = broad__fitting_of(&model->settings) == BROAD__FIT_STEPWISE ? &t->qr : NULL,
        .y = t->train.y,
        .following = request->another ? request->nodes : 0,
        .may_defer = t->may_defer,
        .redraw = redrawn ? broad__trainer_draw_features : NULL,
        .watch = watch_draws,
        .context = t,
    };
}

/* Whether the passes of a layer can run in the memory of a device of its own: they need sums alone, and no stop rule looks
 * at the rows. */
static int may_go_far(const broad_trainer *t, const broad__layer_request *request)
{
    const broad_options *o = &t->model->settings;
    broad__fitting fitting = broad__fitting_of(o);
    broad__ridge_request solved = broad__supervise_request(o);
    int sums = !solved.loo && !solved.operator_norm && (!solved.lambda_auto || solved.penalty > 0);
    return sums && o->precision == BROAD_PRECISION_DOUBLE &&
           (fitting == BROAD__FIT_CHAIN || fitting == BROAD__FIT_FINALLY) && !(t->run.until_accuracy > 0) &&
           t->train.residual.rows >= shape_layer(t, request).width;
}

static int search_and_append(broad_trainer *t, const broad__layer_request *request)
{
    broad_model *model = t->model;
    size_t index = model->layer_count;
    broad__search_task task = search_task(t, request);
    int status = broad__outputs_prepare(t), pending = t->train.residual.update.pending;
    if (status == BROAD_OK)
        status = may_go_far(t, request) ? broad__far_send(&t->train.residual, shape_layer(t, request).width)
                                        : broad__far_fetch(&t->train.residual);
    if (status == BROAD_OK) status = broad__search_run(&t->found, &t->search, &task);
    if (pending && !t->train.residual.update.pending)
        complete_record(&model->layers[index - 1].certificate, &t->train.residual);
    if (status == BROAD_OK && t->found.passed) status = append_found(t, request);
    if (status == BROAD_OK && t->found.passed) status = broad__outputs_follow(t);
    if (status == BROAD_OK) return BROAD_OK;
    t->stale = 1; /* Z or E may be ahead of the model */
    if (model->layer_count > index) {
        t->train.residual.update.pending = 0;
        broad__layer_clear(&model->layers[--model->layer_count]);
    }
    return status;
}

/* Searches one layer and appends it, if one was found: t->found. */
static int search_layer(broad_trainer *t, const broad__layer_request *request)
{
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_LAYER);
    int status = search_and_append(t, request);
    broad__profile_leave(before);
    return status;
}

int broad__trainer_run_over(broad_trainer *t, size_t next_nodes)
{
    broad_model *model = t->model;
    if (t->run.max_layers && model->layer_count >= t->run.max_layers) return 1;
    if (!(t->train.residual.norm > NORM_FLOOR * model->first_norm)) {
        int status =
            broad__model_outcome(model, BROAD_OUTCOME_TARGET_REACHED, "the training error is zero up to rounding");
        return status < 0 ? status : 1;
    }
    return broad__stop_rules(t, next_nodes);
}

int broad__trainer_layer_over(broad_trainer *t, int last)
{
    int status = BROAD_OK;
    if (!t->found.passed && !t->found.stopped) status = stalled(t);
    else if (t->found.stopped || (broad__trainer_report(t, "layers", 0) && !last))
        status = broad__model_outcome(t->model, BROAD_OUTCOME_STOPPED, "stopped by the caller");
    else return 0;
    return status < 0 ? status : 1;
}

/* Groups whose nodes are columns of the first layer. */
static size_t first_groups(const broad_model *model)
{
    return broad__kind_of(model->settings.kind)->nodes == BROAD__NODES_HIDDEN ? 0 : model->group_count;
}

/* Nodes of one draw, all kept; their weights are solved for with those of all others. */
static int add_block(broad_trainer *t, const broad__layer_request *request)
{
    broad_model *model = t->model;
    broad__layer layer = shape_layer(t, request);
    layer.weight = broad__alloc_doubles(layer.inputs, layer.nodes);
    layer.bias = broad__alloc_doubles(layer.nodes, 1);
    layer.output = broad__alloc_doubles(layer.width, model->outputs);
    layer.certificate = (broad__certificate){.origin = request->origin,
                                             .test = BROAD_SUPERVISE_NONE,
                                             .gamma = 1,
                                             .bound = 1,
                                             .range = model->settings.range_steps[0],
                                             .tries = 1,
                                             .passed = 1};
    int status = append_layer(model, &layer);
    if (status == BROAD_OK) broad__layer_draw(&layer, model, model->layer_count - 1);
    return status;
}

int broad__trainer_add_layer(broad_trainer *t, const broad__layer_request *request)
{
    if (broad__kind_of(t->model->settings.kind)->at_once) return add_block(t, request);
    int status = search_layer(t, request), fetched = broad__far_fetch(&t->train.residual);
    return status == BROAD_OK ? fetched : status;
}

/* Whether E may lag behind by a layer: nothing reads it between layers. */
static int may_defer(const broad_trainer *t)
{
    broad__fitting fitting = broad__fitting_of(&t->model->settings);
    return (fitting == BROAD__FIT_CHAIN || fitting == BROAD__FIT_FINALLY) && !(t->run.until > 0) &&
           !(t->run.until_accuracy > 0) && !t->run.patience;
}

/* All nodes as one block. */
static int add_at_once(broad_trainer *t, size_t nodes, broad__origin origin)
{
    int initial = t->model->layer_count == 0, over = nodes ? broad__trainer_run_over(t, nodes) : 1;
    if (!over) nodes = broad__budget_nodes(t, nodes);
    if (over) return over < 0 ? over : BROAD_OK;
    broad__layer_request request = {nodes, origin, 0, 0, 0};
    if (initial) request = (broad__layer_request){nodes, BROAD__ORIGIN_INITIAL, 0, t->model->group_count, 0};
    return add_block(t, &request);
}

/* The model as it was when no second layer passed, and what the search for that came to. */
static int return_to(broad_trainer *t, broad_model *before, const broad__search_result *refused)
{
    int stopped = t->found.stopped;
    t->found = *refused;
    t->found.stopped = stopped;
    t->train.residual.update.pending = 0; /* its weights are those of a layer that goes */
    broad_model_free(t->model);
    t->train.model = t->validation.model = t->model = before;
    t->stale = 1;
    return broad__trainer_rebuild(t);
}

/* Draws the features once more, with another layer 1. *out_better: its score is lower; otherwise all is as before. */
static int redraw_features(int *out_better, broad_trainer *t, const broad__layer_request *first, size_t step)
{
    broad_model *model = t->model, *before = NULL;
    double score = model->layers[0].certificate.score, factor = t->feature_factor;
    const double *steps = model->settings.range_steps;
    broad__search_result refused = t->found;
    int status = broad__model_copy(&before, model);
    if (status < 0) return status;
    broad__layer_clear(&model->layers[--model->layer_count]);
    size_t old_step = model->groups[0].step;
    t->feature_factor = factor * steps[old_step] / steps[step];
    status = broad__trainer_draw_features(t, step);
    if (status == BROAD_OK) status = broad__trainer_rebuild(t);
    if (status == BROAD_OK) status = search_layer(t, first);
    *out_better = status == BROAD_OK && t->found.passed && t->found.certificate.score < score;
    if (*out_better) {
        broad_model_free(before);
        return BROAD_OK;
    }
    t->feature_factor = factor;
    int returned = return_to(t, before, &refused);
    return status < 0 ? status : returned;
}

/* Draws of the features that are tried where no second layer passes. */
enum { REDRAWS = 3 };

/* A chain that ends with its first layer may have had bad luck with its features. */
static int may_redraw(const broad_trainer *t, size_t redraws)
{
    const broad_options *o = &t->model->settings;
    return o->supervise == BROAD_SUPERVISE_GCV && t->model->layer_count == 1 && !t->found.passed && !t->found.stopped &&
           redraws < REDRAWS && redraws < o->range_steps_count && t->model->segment_count == 1 &&
           t->model->layers[0].certificate.origin == BROAD__ORIGIN_INITIAL && drawn_features(t->model);
}

/* Layer after layer, each by search. *out_over: as broad__trainer_layer_over(). */
static int add_chain(int *out_over, broad_trainer *t, size_t nodes, size_t layers, broad__origin origin)
{
    broad_model *model = t->model;
    /* A test that later layers can never pass is refused before the first one is added. */
    int status = layers > 1 || model->layer_count
                     ? broad__supervise_possible(&model->settings, t->train.residual.rows, nodes)
                     : BROAD_OK;
    int began_empty = model->layer_count == 0, better = 0;
    size_t redraws = 1;
    broad__layer_request first = {nodes, BROAD__ORIGIN_INITIAL, 0, first_groups(model), layers > 1};
    for (size_t i = 0; status == BROAD_OK && i < layers; i++) {
        *out_over = broad__trainer_run_over(t, nodes);
        if (*out_over) break;
        broad__layer_request request = {nodes, origin, 0, 0, i + 1 < layers};
        status = search_layer(t, t->model->layer_count ? &request : &first);
        for (better = 0; status == BROAD_OK && !better && began_empty && may_redraw(t, redraws);)
            status = redraw_features(&better, t, &first, redraws++);
        if (better) {
            i = 0;
            continue;
        }
        /* The first layer on new rows is algorithm 4, those after it are algorithm 2. */
        if (origin == BROAD__ORIGIN_DATA) origin = BROAD__ORIGIN_ENHANCE;
        if (status == BROAD_OK) *out_over = broad__trainer_layer_over(t, i + 1 == layers);
        if (*out_over) break;
    }
    return status;
}

int broad__trainer_add_layers(broad_trainer *t, size_t nodes, size_t layers, broad__origin origin)
{
    if (broad__kind_of(t->model->settings.kind)->at_once) return add_at_once(t, nodes * layers, origin);
    int over = 0;
    t->may_defer = may_defer(t);
    int status = add_chain(&over, t, nodes, layers, origin);
    t->may_defer = 0;
    if (status == BROAD_OK && !broad__joint_beside(&t->model->settings)) broad__watch_forgive(0); /* all but done */
    int settled = settle(t);
    if (settled == BROAD_OK) settled = broad__far_fetch(&t->train.residual);
    if (status == BROAD_OK) status = settled;
    if (status == BROAD_OK && !over) over = broad__stop_rules(t, 0);
    return status < 0 ? status : over < 0 ? over : BROAD_OK;
}
