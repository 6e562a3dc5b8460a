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
 * BRLS is the same without the test. SCN and RVFL have the inputs themselves for Z, SCN without them in K_1. BLS and
 * RVFL have no chain: one block of nodes, one ridge (model/kind.h, model/train/output_weights.h).
 */
#include "model/train/train.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "layer/supervise.h"
#include "model/kind.h"
#include "model/predict/estimate.h"
#include "model/train/budget.h"
#include "model/train/features.h"
#include "model/train/network_metric.h"
#include "model/train/output_weights.h"
#include "model/train/stop.h"
#include "model/train/train_layers.h"
#include "model/train/train_open.h"

/* Without joint weights a chain predicts by itself; blocks that never had any weights are dropped. */
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

/* Layers of a chain stand by themselves. Joint weights are solved at the end for all layers and rows together: an increment
 * that is stopped or fails before that is undone. */
static int keep_before(broad_trainer *t)
{
    broad__fitting fitting = broad__fitting_of(&t->model->settings);
    t->before_parts = t->train.part_count;
    broad_model_free(t->before);
    t->before = NULL;
    if (!t->model->layer_count || fitting == BROAD__FIT_CHAIN || fitting == BROAD__FIT_WINDOW) return BROAD_OK;
    return broad__model_copy(&t->before, t->model);
}

static void go_back(broad_trainer *t)
{
    broad_model_free(t->model);
    t->model = t->before;
    t->before = NULL;
    t->train.part_count = t->before_parts;
    t->stale = 1;
}

int broad__trainer_begin(broad_trainer *t, size_t nodes, size_t layers)
{
    if (nodes == 0) return broad__fail(BROAD_USAGE, "a layer needs at least one node");
    if (t->partial)
        return broad__fail(BROAD_USAGE, "the older training rows are missing: only forgetful learning is possible");
    int status = t->stale ? broad__trainer_rebuild(t) : BROAD_OK;
    if (status == BROAD_OK) status = keep_before(t);
    t->wanted = t->model->layer_count + layers;
    if (t->run.max_layers && t->wanted > t->run.max_layers) t->wanted = t->run.max_layers;
    if (status == BROAD_OK) broad__budget_begin(t, nodes, layers);
    return status == BROAD_OK ? broad__model_outcome(t->model, BROAD_OUTCOME_COMPLETE, "%s", "") : status;
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

/* With a chain, what was added before the caller stopped it; with joint weights what was there before. */
static int end_stopped(broad_trainer *t)
{
    int late = broad__watch_late(), nothing = t->before || t->model->layer_count == 0;
    if (t->before) go_back(t);
    if (nothing) return late ? broad__budget_fail() : BROAD_INTERRUPTED;
    broad__estimate_clear(t->model);
    if (late)
        return broad__model_outcome(t->model, BROAD_OUTCOME_TIME_LIMIT,
                                    "the time was up before all weights were solved together");
    return broad__model_outcome(t->model, BROAD_OUTCOME_STOPPED, "stopped by the caller");
}

/* The model may have been cut back; the caller may stop it; and whatever fails, a valid model remains. */
int broad__trainer_finish(broad_trainer *t, int status)
{
    if (status == BROAD_OK && t->stale) status = broad__trainer_rebuild(t);
    if (status == BROAD_OK) status = broad__outputs_finish(t);
    int nothing = t->model->outcome == BROAD_OUTCOME_STOPPED && t->model->layer_count == 0;
    status = status == BROAD_OK && nothing ? broad__watch_stop() : broad__watch_check(status);
    if (status < 0 && !t->before && !solved(t->model)) drop_unsolved(t);
    if (status == BROAD_INTERRUPTED) status = end_stopped(t);
    else if (status < 0 && t->before) go_back(t);
    if (status == BROAD_OK && t->nodes_wanted && t->model->outcome == BROAD_OUTCOME_COMPLETE)
        status = broad__model_outcome(t->model, BROAD_OUTCOME_TIME_LIMIT, "the time allowed %zu of %zu feature nodes",
                                      broad__model_feature_nodes(t->model, t->model->group_count), t->nodes_wanted);
    broad_model_free(t->before);
    t->before = NULL;
    return status;
}

int broad__trainer_enhance(broad_trainer *t, size_t nodes, size_t layers)
{
    double began = broad__seconds(), features = t->seconds.features;
    int status = broad__trainer_begin(t, nodes, layers);
    if (status == BROAD_OK) status = broad__trainer_add_layers(t, nodes, layers, BROAD__ORIGIN_ENHANCE);
    status = broad__trainer_finish(t, status);
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status;
}

/* One group, drawn as the first ones were, and its columns of Z. before, replaced: broad__network_metric_use(). */
static int add_group(broad_trainer *t, size_t nodes, broad__directions *before, int *replaced)
{
    broad_model *model = t->model;
    double began = broad__seconds();
    int status = broad__model_make_group(model, broad__feature_source(&model->settings), nodes);
    if (status < 0) return status;
    if (broad__network_metric_wanted(model)) status = broad__network_metric_use(before, replaced, t);
    size_t index = model->group_count++;
    broad__group *group = &model->groups[index];
    group->step = model->groups[0].step;
    group->range = model->groups[0].range;
    if (status == BROAD_OK) status = broad__trainer_fill_group(t, index);
    if (status == BROAD_OK) status = broad__rowset_add_groups(&t->train, 1);
    if (status == BROAD_OK && t->validation.part_count) status = broad__rowset_add_groups(&t->validation, 1);
    t->seconds.features += broad__seconds() - began;
    return status;
}

/* A group that no layer took is not part of the network, nor is the metric that it was drawn with. */
static void drop_group(broad_trainer *t, broad__directions *before, int replaced)
{
    broad__group_clear(&t->model->groups[--t->model->group_count]);
    if (replaced) broad__model_take_directions(t->model, before);
    t->stale = 1;
}

static int check_features(const broad_trainer *t, size_t nodes, size_t enhance)
{
    const broad_model *model = t->model;
    if (broad__kind_of(model->settings.kind)->nodes != BROAD__NODES_FEATURES)
        return broad__fail(BROAD_USAGE, "this kind of network has no feature nodes; add enhancement nodes instead");
    if (nodes == 0) return broad__fail(BROAD_USAGE, "a group needs at least one feature node");
    if (model->layer_count == 0)
        return broad__fail(BROAD_USAGE, "the network has no layer yet that feature nodes could be added to");
    return broad__supervise_possible(&model->settings, t->train.residual.rows, nodes + enhance);
}

/* One group and the layer that starts with it. */
static int add_group_layer(broad_trainer *t, size_t nodes, size_t enhance)
{
    broad_model *model = t->model;
    size_t groups = model->group_count, layers = model->layer_count;
    broad__layer_request request = {enhance, BROAD__ORIGIN_FEATURES, groups, 1, 0};
    broad__directions before = {0};
    int replaced = 0, status = add_group(t, nodes, &before, &replaced);
    if (status == BROAD_OK) status = broad__trainer_add_layer(t, &request);
    if (model->group_count > groups && model->layer_count == layers) drop_group(t, &before, replaced);
    broad__directions_close(&before);
    return status;
}

int broad__trainer_features(broad_trainer *t, size_t groups, size_t nodes, size_t enhance)
{
    double began = broad__seconds(), features = t->seconds.features;
    int over = 0, at_once = broad__kind_of(t->model->settings.kind)->at_once;
    int status = broad__trainer_begin(t, enhance, groups);
    if (status == BROAD_OK) status = check_features(t, nodes, enhance);
    for (size_t i = 0; status == BROAD_OK && !over && i < groups; i++) {
        over = broad__trainer_run_over(t, nodes + enhance);
        if (over) break;
        status = add_group_layer(t, nodes, enhance);
        if (status == BROAD_OK && !at_once) over = broad__trainer_layer_over(t, i + 1 == groups);
    }
    if (status == BROAD_OK && !over && !at_once) over = broad__stop_rules(t, 0);
    status = broad__trainer_finish(t, status == BROAD_OK && over < 0 ? over : status);
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status < 0 ? status : over < 0 ? over : BROAD_OK;
}
