#include "model/train/choose_range.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/train/budget.h"
#include "model/train/features.h"
#include "model/train/pilot.h"
#include "rng/draw.h"

/* Ranges that `auto` tries, as multiples of the one given: first of the feature nodes, then, with the best of these, of
 * the enhancement nodes. */
static const double AUTO_FEATURE_RANGES[] = {1.0, 0.1, 0.2, 0.5, 2.0};
static const double AUTO_NODE_RANGES[] = {0.2, 0.5, 2.0, 5.0};
/* More rows and nodes than these change the cost of choosing a range, not the choice. */
enum { AUTO_ROWS = 4000, AUTO_NODES = 200 };
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The leave-one-out norm of a layer 1 with the ranges in force, with just enough nodes to tell ranges apart. */
static int range_loo(double *out, broad_trainer *t)
{
    broad__search *s = &t->search;
    const broad_options *o = &t->model->settings;
    size_t features = t->train.residual.z.features,
           count = o->enhance_nodes < AUTO_NODES ? o->enhance_nodes : AUTO_NODES;
    int status = broad__reserve(&s->weight, &s->weight_capacity, features * count);
    if (status == BROAD_OK) status = broad__reserve(&s->bias, &s->bias_capacity, count);
    if (status < 0) return status;
    broad__draw draw = {{.seed = o->seed, .purpose = BROAD__FOR_ENHANCEMENT},
                        features,
                        count,
                        t->model->range * o->range_steps[0],
                        o->range_unit};
    broad__draw_nodes(s->weight, s->bias, &draw);
    size_t prefix = broad__kind_of(o->kind)->nodes == BROAD__NODES_HIDDEN ? 0 : features;
    broad__kblock kblock = {
        {features, count, s->weight, s->bias, o->activation, o->precision == BROAD_PRECISION_FLOAT}, 0, prefix};
    broad__ridge_request request = {.lambda_auto = o->lambda_auto, .lambda = o->lambda, .loo = 1};
    status = broad__candidate_compute(&t->train.residual, &kblock, 1);
    if (status == BROAD_OK) status = broad__ridge_solve(&s->ridge, &t->train.residual, &request);
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
    return broad__trainer_draw_features(t, 0);
}

static int try_ranges(range_choice *best, broad_trainer *t, double features, double nodes)
{
    double loo = INFINITY;
    int status = use_ranges(t, features, nodes);
    if (status == BROAD_OK) status = range_loo(&loo, t);
    if (status == BROAD_OK && loo < best->loo) *best = (range_choice){features, nodes, loo};
    return status;
}

/* The unit of the grid for nodes with this many inputs: absolute ranges are divided by the root of their number,
 * since a node's argument grows with it. */
static double grid_unit(const broad_options *o, size_t inputs)
{
    return o->range_unit == BROAD_RANGE_ABSOLUTE ? o->range * sqrt(3.0 / (double)inputs) : o->range;
}

static int search_ranges(range_choice *best, broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    double first = grid_unit(o, broad__model_columns(t->model)), nodes = grid_unit(o, t->train.residual.z.features);
    int status = BROAD_OK;
    *best = (range_choice){first, nodes, INFINITY};
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_FEATURE_RANGES); i++)
        status = try_ranges(best, t, first * AUTO_FEATURE_RANGES[i], nodes);
    double features = best->features;
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_NODE_RANGES); i++)
        status = try_ranges(best, t, features, nodes * AUTO_NODE_RANGES[i]);
    return status;
}

/* The search on a sample of the rows, which replaces all of them meanwhile. */
static int search_ranges_thinned(range_choice *best, broad_trainer *t, const broad_data *data)
{
    broad_data *some = NULL;
    broad__rowset all = t->train;
    memset(&t->train, 0, sizeof t->train);
    int status = broad__table_thin(&some, data, AUTO_ROWS);
    if (status == BROAD_OK) status = broad__rowset_open(&t->train, t->model, t->device, t->pool, NULL);
    t->train.groups = t->model->group_count;
    if (status == BROAD_OK) status = broad__rowset_add_rows(&t->train, (broad__part){some, 0, some->rows, 1}, 0);
    if (status == BROAD_OK) status = search_ranges(best, t);
    broad__rowset_close(&t->train);
    broad__table_free(some);
    t->train = all;
    return status;
}

int broad__trainer_run_pilot(broad_trainer *t, const broad_data *data)
{
    broad_model *model = t->model;
    if (!model->settings.range_auto || model->settings.feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED)
        return BROAD_OK;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    double limit = broad__budget_limit_trials(t);
    int status = broad__pilot_run(&t->feature_factor, t, data);
    if (broad__watch_forgive(limit)) status = BROAD_OK; /* with the best so far */
    broad__profile_leave(before);
    for (size_t g = 0; status == BROAD_OK && g < model->group_count; g++)
        model->groups[g].range = model->settings.range_steps[0] * t->feature_factor;
    return status;
}

int broad__trainer_choose_range(broad_trainer *t, const broad_data *data)
{
    range_choice best;
    if (!t->model->settings.range_auto || t->model->settings.feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED)
        return BROAD_OK;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    int status = data->rows > AUTO_ROWS ? search_ranges_thinned(&best, t, data) : search_ranges(&best, t);
    broad__profile_leave(before);
    return status == BROAD_OK ? use_ranges(t, best.features, best.nodes) : status;
}
