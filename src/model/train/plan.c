#include "model/train/plan.h"
#include "layer/probes.h"

#include <math.h>
#include <stdint.h>

#include "base/common.h"
#include "base/status.h"
#include "comm/comm.h"
#include "compute/pool.h"
#include "layer/joint.h"
#include "model/train/configure.h"
#include "model/train/pilot.h"
#include "model/train/plan_memory.h"

static double scaled_columns(const broad_options *o, double inputs)
{
    return o->scale == BROAD_SCALE_BOTH || o->scale == BROAD_SCALE_AUTO ? 2 * inputs : inputs;
}

/* A fit: what comes first of all. */
static void sizes_of_fit(broad__sizes *s, const broad_options *o)
{
    broad__node_plan plan = broad__kind_of(o->kind)->nodes;
    s->drawn = plan == BROAD__NODES_FEATURES ? (double)o->feature_groups * (double)o->feature_nodes : 0;
    s->features = plan == BROAD__NODES_FEATURES ? s->drawn : s->columns;
    s->first = s->nodes + (plan == BROAD__NODES_HIDDEN ? 0 : s->features);
    s->width = s->first + s->nodes * (s->layers - 1);
}

/* Growth: what is added to a model. */
static void sizes_of_growth(broad__sizes *s, const broad_options *o, const broad_model *model)
{
    double groups = (double)o->feature_groups, group_nodes = (double)o->feature_nodes;
    s->old = (double)broad__model_nodes(model);
    s->features = (double)broad__model_feature_nodes(model, model->group_count) + groups * group_nodes;
    s->drawn = broad__kind_of(model->settings.kind)->nodes == BROAD__NODES_FEATURES ? s->features : 0;
    s->first = groups > 0 ? group_nodes + s->nodes : s->nodes;
    if (groups > 0) s->layers = groups;
    s->width = s->first * s->layers;
    for (size_t j = 0; j < model->layer_count; j++) {
        s->first = fmax(s->first, (double)model->layers[j].width);
        s->old_width += (double)model->layers[j].width;
    }
    s->width += s->old_width;
}

/* Layers that the rules on size leave. */
static double layers_at_most(const broad_options *o)
{
    double layers = (double)o->enhance_layers;
    if (o->max_layers) layers = fmin(layers, (double)o->max_layers);
    if (o->max_nodes && o->enhance_nodes) layers = fmin(layers, ceil((double)o->max_nodes / (double)o->enhance_nodes));
    return layers;
}

broad__sizes broad__plan_sizes(const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                               size_t outputs)
{
    broad_options o = *options;
    const broad_options *lasting = model ? &model->settings : &o;
    if (!model) broad__size_features(&o, rows);
    broad__sizes s = {.fitting = broad__fitting_of(lasting),
                      .rows = (double)rows,
                      .inputs = (double)inputs,
                      .outputs = (double)outputs,
                      .threads = (double)o.threads,
                      .columns = model ? (double)broad__model_columns(model) : scaled_columns(&o, (double)inputs),
                      .nodes = (double)o.enhance_nodes,
                      .layers = model ? (double)o.enhance_layers : layers_at_most(&o)};
    if (o.threads == 0) s.threads = (double)broad__processors();
    if (model) sizes_of_growth(&s, &o, model);
    else sizes_of_fit(&s, &o);
    int exact = 0;
    if (lasting->supervise == BROAD_SUPERVISE_GCV) s.probes = (double)broad__probes_columns(&exact, rows);
    if (s.fitting == BROAD__FIT_WINDOW) s.first = fmax(s.first, fmin(s.width, (double)lasting->window));
    return s;
}

/* ---- work ------------------------------------------------------------------------------------------------------ */

/* The nodes of a layer of this width and its ridge. */
static double layer_flops(const broad__sizes *s, double width)
{
    double side = fmin(s->rows, width), nodes = 2 * s->rows * s->features * s->nodes;
    double columns = 8 * s->outputs + 6 * s->probes, score = s->probes > 0 ? 4 * side * side * side : 0;
    return nodes + s->rows * width * side + s->rows * width * columns + side * side * side / 3 + score;
}

double broad__plan_joint_same(const broad__sizes *s, const broad_options *o)
{
    enum { TRIES = 5, SEARCH_ROWS = 1000 };
    double p = s->width, side = fmin(s->rows, p), factor = side * side * side / 3;
    double search = s->rows < p ? factor : fmin(s->rows, SEARCH_ROWS) * p * p;
    double leave_out = s->rows < p ? factor : fmin(s->rows, BROAD__LOO_ROWS) * p * p;
    return leave_out + (o->lambda_auto ? TRIES : 1) * (factor + (o->lambda_auto ? search : 0));
}

/* The sums of a first layer are there already. lambda by leave-one-out takes some tries, on part of the rows; then the solution is
 * refined with all of them. */
static double joint_flops(const broad__sizes *s, const broad_options *o)
{
    enum { PASSES = 2 };
    double p = s->width, side = fmin(s->rows, p);
    double nodes = 2 * s->rows * s->features * fmax(p - s->features, 0);
    int adopted = s->fitting != BROAD__FIT_AT_ONCE && s->old == 0 && s->layers == 1;
    double sums = adopted ? 0 : nodes + s->rows * p * side;
    return sums + PASSES * (nodes + 4 * s->rows * p * s->outputs) + broad__plan_joint_same(s, o);
}

/* A joint fit of a part of the rows and nodes, with a short search for lambda on fewer rows, `judged` at most. */
static double trial_flops(const broad__sizes *s, double rows, double nodes, double judged)
{
    enum { LAMBDAS = 4 };
    double side = fmin(rows, nodes), search = side * side * (side / 3 + fmin(rows, judged));
    return rows * nodes * (2 * s->columns + side) + LAMBDAS * search;
}

/* Trials before the network is built: model/train/configure.h. */
static double trials_flops(const broad__sizes *s, const broad_options *o)
{
    enum { ROUNDS = 2, ROUGH = 600 }; /* rounds that gain, and one that does not; rows that a trial is judged on */
    broad__effort_sizes sizes = broad__effort_sizes_of(o, broad__whole(s->rows, SIZE_MAX));
    double rounds = broad__pilot_learns(o) ? (double)sizes.rounds : 0;
    if (!broad__pilot_wanted(o) || !(s->drawn > 0)) return 0;
    double rows = fmin(s->rows, 2 * (double)sizes.rows), ways = rows < BROAD__CROSSED_ROWS ? 2 : 1, half = rows / 2;
    double first = rounds > 0 && ways == 1 ? half : rows, last = fmin(s->rows, (double)sizes.final_rows);
    double trials =
        17 * trial_flops(s, first, (double)sizes.screen, ROUGH) + 3 * trial_flops(s, first, (double)sizes.nodes, ROUGH);
    if (rounds == 0) return trials;
    trials +=
        fmin(rounds, ROUNDS) * ways *
        (12 * trial_flops(s, half, (double)sizes.screen, ROUGH) + 4 * trial_flops(s, half, (double)sizes.nodes, ROUGH));
    return trials + 12 * trial_flops(s, last, (double)sizes.final_nodes, BROAD__LOO_ROWS);
}

/* Layer 1 with pairs of ranges, and races between the best of these: model/train/race_ranges.h. */
static double race_flops(const broad__sizes *s, const broad_options *o)
{
    enum { PAIRS = 45, LAYERS = 176, ROWS = 4000 };
    if (!(s->probes > 0) || o->range_steps_count < 2) return 0;
    broad__sizes some = *s;
    int exact = 0;
    some.rows = fmin(s->rows, ROWS);
    some.probes = (double)broad__probes_columns(&exact, (size_t)some.rows);
    return PAIRS * layer_flops(&some, s->features + s->nodes) + LAYERS * layer_flops(&some, s->nodes);
}

/* All weights again with each layer: Gram-Schmidt twice over, and with more columns than rows three products with a root
 * that has as many rows as the data. */
static double growing_flops(const broad__sizes *s)
{
    double columns = fmin(s->width, s->rows);
    return 4 * s->rows * columns * columns + 6 * s->rows * s->rows * (s->width - columns);
}

static void plan_work(broad_plan *out, const broad__sizes *s, const broad_options *o, const broad_model *model)
{
    double before = model ? (double)broad__model_feature_nodes(model, model->group_count) : 0;
    out->flops_features = 2 * s->rows * s->columns * (s->drawn - (s->drawn > 0 ? before : 0));
    if (model && s->drawn > 0) out->flops_features += 2 * s->rows * s->columns * before;
    out->flops_layer =
        s->fitting == BROAD__FIT_AT_ONCE ? 2 * s->rows * s->features * s->nodes : layer_flops(s, s->nodes);
    out->flops_total = out->flops_features + out->flops_layer * s->layers;
    if (s->fitting != BROAD__FIT_AT_ONCE && !model && s->layers > 0)
        out->flops_total += layer_flops(s, s->first) - layer_flops(s, s->nodes);
    if (s->fitting == BROAD__FIT_STEPWISE) out->flops_total += growing_flops(s);
    if (s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o)) out->flops_joint = joint_flops(s, o);
    out->flops_total += out->flops_joint;
    if (!model) out->flops_trials = trials_flops(s, o) + race_flops(s, o);
    /* Old layers are replayed when a model is resumed. */
    if (model) out->flops_total += 2 * s->rows * s->old * (s->features + s->outputs);
}

static void plan_sizes(broad_plan *out, const broad__sizes *s, const broad_model *model)
{
    double before = model && s->drawn > 0 ? (double)broad__model_feature_nodes(model, model->group_count) : 0;
    *out = (broad_plan){.rows = s->rows,
                        .inputs = s->inputs,
                        .outputs = s->outputs,
                        .nodes = s->old + s->drawn - before + s->nodes * s->layers};
}

int broad__plan_run(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                    size_t outputs)
{
    if (rows == 0 || inputs == 0 || outputs == 0)
        return broad__fail(BROAD_USAGE, "a plan needs at least one row, one input and one output");
    const broad_options *lasting = model ? &model->settings : options;
    broad__sizes s = broad__plan_sizes(options, model, rows, inputs, outputs);
    plan_sizes(out, &s, model);
    plan_work(out, &s, lasting, model);
    broad__plan_memory(out, &s, lasting, options->memory, model != NULL);
    return BROAD_OK;
}

int broad__plan_storage(broad__storage *out, const broad_options *options, const broad_model *model, size_t rows,
                        size_t inputs, size_t outputs)
{
    broad_plan plan;
    *out = (broad__storage){0};
    if (options->memory == SIZE_MAX) return BROAD_OK;
    int status = broad__plan_run(&plan, options, model, rows, inputs, outputs);
    if (status == BROAD_OK && !plan.fits) status = broad__plan_refuse(&plan);
    if (status < 0) return status;
    /* What one rank has no memory for all of them do without. */
    int spilled = broad__comm_most(plan.spilled);
    out->z_recomputed = broad__comm_most(plan.features_recomputed);
    out->k_recomputed = spilled || out->z_recomputed;
    return spilled ? broad__spill_open(&out->spill, broad__whole(plan.memory, SIZE_MAX)) : BROAD_OK;
}
