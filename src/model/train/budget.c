#include "model/train/budget.h"

#include <math.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "model/kind.h"
#include "model/train/features.h"
#include "model/train/plan.h"

/* Parts of the time: trials have ended at the first; what is left is planned up to the second, since plans err. */
static const double TRIALS_SHARE = 0.35, PLANNED_SHARE = 0.6;
/* Of less work than this no speed can be told. */
static const double WORK_LEAST = 2e8;
/* Of one core that computes without haste, in operations per second: where no speed is known. */
static const double SPEED_LOW = 2e9;
enum { NODES_LEAST = 8 };

static double max_seconds(const broad_trainer *t) { return t->run.max_seconds; }

/* Of all ranks the same: they decide by it. */
static double elapsed(const broad_trainer *t) { return broad__comm_agree(broad__seconds() - t->started); }

/* ---- work ------------------------------------------------------------------------------------------------------- */

/* What a network of these settings takes after its trials, with this number of layers. */
static broad_plan plan_of(const broad_options *settings, const broad_data *data, size_t layers)
{
    broad_options o = *settings;
    broad_plan plan = {0};
    o.features_auto = 0;
    o.enhance_layers = layers;
    o.memory = 0;
    broad__plan_run(&plan, &o, NULL, data->rows, data->inputs, data->outputs);
    double activations = BROAD__ACTIVATION_FLOPS * plan.rows * plan.nodes;
    plan.flops_features += activations;
    plan.flops_total += activations;
    return plan;
}

/* A trainer inside of another call, which has no progress of its own, leaves that of the call alone. */
static void begin_phase(const broad_trainer *t, double flops)
{
    if (t->run.progress) broad__watch_phase(flops);
}

static void expect_rest(broad_trainer *t, const broad_plan *plan)
{
    t->joint_work = plan->flops_joint;
    t->layers_work = plan->flops_total - plan->flops_features - plan->flops_joint;
    if (t->run.progress) broad__watch_expect(plan->flops_total);
}

void broad__budget_open(broad_trainer *t, const broad_data *data)
{
    broad_plan plan = plan_of(&t->model->settings, data, t->model->settings.enhance_layers);
    if (max_seconds(t) > 0) broad__watch_limit(t->started + max_seconds(t));
    if (t->run.progress) broad__watch_expect(plan.flops_trials + plan.flops_total);
    begin_phase(t, plan.flops_trials);
}

void broad__budget_begin(broad_trainer *t, size_t nodes, size_t layers)
{
    const broad_model *model = t->model;
    broad_options o = t->run;
    broad_plan plan = {0};
    o.enhance_nodes = nodes;
    o.enhance_layers = layers;
    o.feature_groups = 0;
    o.memory = 0;
    t->layer_began = broad__seconds();
    if (max_seconds(t) > 0) broad__watch_limit(t->started + max_seconds(t));
    if (t->run.progress) broad__watch_take(&t->work);
    t->work = (broad__work){0};
    if (model->layer_count && t->train.residual.rows &&
        broad__plan_run(&plan, &o, model, t->train.residual.rows, model->inputs, model->outputs) == BROAD_OK)
        expect_rest(t, &plan);
    begin_phase(t, t->layers_work);
}

void broad__budget_joint(const broad_trainer *t) { begin_phase(t, t->joint_work); }

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Operations per second so far. */
static double speed(const broad_trainer *t)
{
    double work = broad__comm_agree(broad__watch_counted());
    return work >= WORK_LEAST ? work / elapsed(t) : SPEED_LOW * (double)broad__pool_threads(t->pool);
}

double broad__budget_limit_trials(const broad_trainer *t)
{
    return broad__watch_limit(max_seconds(t) > 0 ? t->started + TRIALS_SHARE * max_seconds(t) : INFINITY);
}

/* Seconds that may be planned with. */
static double left(const broad_trainer *t) { return PLANNED_SHARE * (max_seconds(t) - elapsed(t)); }

/* Nodes of a group so that the whole fits: fewer by a tenth until it does. */
static size_t affordable(const broad_trainer *t, const broad_data *data)
{
    broad_options o = t->model->settings;
    double most = left(t) * speed(t);
    while (o.feature_nodes > 1 && plan_of(&o, data, 1).flops_total > most) o.feature_nodes -= 1 + o.feature_nodes / 10;
    return o.feature_nodes;
}

int broad__budget_size(broad_trainer *t, const broad_data *data)
{
    broad_model *model = t->model;
    int groups = broad__kind_of(model->settings.kind)->nodes == BROAD__NODES_FEATURES, status = BROAD_OK;
    if (max_seconds(t) > 0 && groups) {
        size_t nodes = affordable(t, data);
        if (nodes * model->group_count < NODES_LEAST) return broad__budget_fail();
        t->nodes_wanted =
            nodes < model->settings.feature_nodes ? model->settings.feature_nodes * model->group_count : 0;
        if (t->nodes_wanted) status = broad__model_resize_groups(model, nodes);
    }
    broad_plan plan = plan_of(&model->settings, data, model->settings.enhance_layers);
    expect_rest(t, &plan);
    begin_phase(t, plan.flops_features);
    return status;
}

size_t broad__budget_nodes(const broad_trainer *t, size_t nodes)
{
    double rows = (double)t->train.residual.rows, features = (double)t->train.residual.z.features;
    if (!(max_seconds(t) > 0)) return nodes;
    for (; nodes > 1; nodes -= 1 + nodes / 10) {
        double p = features + (double)nodes, side = p < rows ? p : rows;
        if (2 * rows * p * (features + side) + 4 * side * side * side <= left(t) * speed(t)) break;
    }
    return nodes;
}

int broad__budget_over(broad_trainer *t)
{
    double now = broad__seconds(), layer = now - t->layer_began;
    t->layer_began = now;
    if (!(max_seconds(t) > 0) || t->model->layer_count == 0) return 0;
    layer = broad__comm_agree(layer);
    return elapsed(t) + layer + t->joint_work / speed(t) >= max_seconds(t);
}

int broad__budget_fail(void)
{
    return broad__fail(BROAD_FAILED,
                       "option max-seconds: the time is too short to train anything on these rows; give more of it, or "
                       "fewer rows");
}
