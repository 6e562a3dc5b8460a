#include "model/train/choose_range.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "layer/score.h"
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

/* What a layer 1 with the ranges in force is judged by, with just enough nodes to tell ranges apart: its leave-one-out
 * norm, or the score where layers are kept by it. */
static int judge_ranges(double *out, broad_trainer *t)
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
    int scored = o->supervise == BROAD_SUPERVISE_GCV;
    broad__ridge_request request = {
        .lambda_auto = o->lambda_auto, .lambda = o->lambda, .loo = !scored, .penalty = scored ? o->penalty : 0};
    status = broad__candidate_compute(&t->train.residual, &kblock, 1);
    if (status == BROAD_OK) status = broad__ridge_solve(&s->ridge, &t->train.residual, &request);
    if (status < 0) return status;
    *out =
        scored ? broad__score(&t->train.residual.probes, s->ridge.estimate, s->ridge.inner, o->penalty) : s->ridge.loo;
    return BROAD_OK;
}

/* A pair of ranges, and how well layer 1 does with it. */
typedef struct range_choice {
    double features, nodes, value;
} range_choice;

static void set_ranges(broad_trainer *t, double features, double nodes)
{
    t->model->range = nodes;
    t->feature_factor = features / nodes;
}

static int use_ranges(broad_trainer *t, double features, double nodes)
{
    set_ranges(t, features, nodes);
    return broad__trainer_draw_features(t, 0);
}

static int try_ranges(range_choice *best, broad_trainer *t, double features, double nodes)
{
    double value = INFINITY;
    int status = use_ranges(t, features, nodes);
    if (status == BROAD_OK) status = judge_ranges(&value, t);
    if (status == BROAD_OK && value < best->value) *best = (range_choice){features, nodes, value};
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

/* ---- pairs of ranges, by the score ------------------------------------------------------------------------------- */

/* The pairs looked at: multiples in rising order, and the score of each pair, features by nodes; 0: not yet. */
typedef struct pairs {
    broad_trainer *t;
    range_choice base;
    size_t features, nodes; /* how many there are of each */
    double steps[BROAD_LIST_MAX];
    double *values;
    size_t drawn; /* the features in Z are of this step; SIZE_MAX: none */
    size_t best;  /* index of the best pair */
} pairs;

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Feature nodes that the pilot has chosen the range of, and inputs that are no nodes, have one range. */
static int features_settled(const broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    return broad__kind_of(o->kind)->nodes != BROAD__NODES_FEATURES ||
           o->feature_weights == BROAD_FEATURE_WEIGHTS_AUTOENCODER ||
           (o->range_auto && o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED);
}

static int pairs_open(pairs *out, broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    double features = t->model->range * t->feature_factor, nodes = t->model->range;
    if (o->range_auto) nodes = grid_unit(o, t->train.residual.z.features);
    if (o->range_auto && !features_settled(t)) features = grid_unit(o, broad__model_columns(t->model));
    *out = (pairs){.t = t,
                   .base = {features, nodes, INFINITY},
                   .features = features_settled(t) ? 1 : o->range_steps_count,
                   .nodes = o->range_steps_count,
                   .drawn = SIZE_MAX};
    memcpy(out->steps, o->range_steps, o->range_steps_count * sizeof *out->steps);
    qsort(out->steps, o->range_steps_count, sizeof *out->steps, rising);
    out->values = broad__alloc_doubles(out->features, out->nodes);
    return out->values ? BROAD_OK : BROAD_NO_MEMORY;
}

static range_choice pair_at(const pairs *p, size_t feature, size_t node)
{
    double of_features = p->features > 1 ? p->steps[feature] : 1;
    return (range_choice){p->base.features * of_features, p->base.nodes * p->steps[node], 0};
}

static int try_pair(pairs *p, size_t feature, size_t node)
{
    size_t index = feature * p->nodes + node;
    range_choice pair = pair_at(p, feature, node);
    if (p->values[index] > 0) return BROAD_OK;
    set_ranges(p->t, pair.features, pair.nodes);
    int status = broad__watch_check(BROAD_OK);
    if (status == BROAD_OK && p->features > 1 && p->drawn != feature) status = broad__trainer_draw_features(p->t, 0);
    p->drawn = feature;
    double value = INFINITY;
    if (status == BROAD_OK) status = judge_ranges(&value, p->t);
    if (status < 0) return status;
    p->t->pairs++;
    p->values[index] = value > 0 ? value : DBL_MIN;
    if (!(p->values[p->best] > 0) || p->values[index] < p->values[p->best]) p->best = index;
    return BROAD_OK;
}

/* Every second of each, then the neighbours of the best until none is better. */
static int search_pairs(range_choice *best, broad_trainer *t)
{
    pairs p;
    int status = pairs_open(&p, t);
    size_t start = p.nodes / 2 % 2, start_features = p.features / 2 % 2, at = SIZE_MAX;
    p.best = start_features * p.nodes + start;
    for (size_t f = start_features; status == BROAD_OK && f < p.features; f += 2)
        for (size_t n = start; status == BROAD_OK && n < p.nodes; n += 2) status = try_pair(&p, f, n);
    while (status == BROAD_OK && at != p.best) {
        at = p.best;
        size_t f0 = at / p.nodes, n0 = at % p.nodes;
        for (size_t f = f0 ? f0 - 1 : 0; status == BROAD_OK && f <= f0 + 1 && f < p.features; f++)
            for (size_t n = n0 ? n0 - 1 : 0; status == BROAD_OK && n <= n0 + 1 && n < p.nodes; n++)
                status = try_pair(&p, f, n);
    }
    if (status == BROAD_OK) *best = pair_at(&p, p.best / p.nodes, p.best % p.nodes);
    broad__free(p.values);
    return status;
}

/* ---- on the rows that there are, or on some of them -------------------------------------------------------------- */

static int search(range_choice *best, broad_trainer *t)
{
    return t->model->settings.supervise == BROAD_SUPERVISE_GCV ? search_pairs(best, t) : search_ranges(best, t);
}

/* The search on a sample of the rows, which replaces all of them meanwhile. */
static int search_ranges_thinned(range_choice *best, broad_trainer *t, const broad_data *data)
{
    broad_data *some = NULL;
    broad__rowset all = t->train;
    memset(&t->train, 0, sizeof t->train);
    int status = broad__table_thin(&some, data, AUTO_ROWS);
    if (status == BROAD_OK) status = broad__rowset_open(&t->train, t->model, t->device, t->pool, NULL);
    if (status == BROAD_OK) broad__rowset_probe(&t->train, 0);
    t->train.groups = t->model->group_count;
    if (status == BROAD_OK) status = broad__rowset_add_rows(&t->train, (broad__part){some, 0, some->rows, 1}, 0);
    if (status == BROAD_OK) status = search(best, t);
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

/* Whether ranges are left open that a layer 1 is to be tried with. */
static int ranges_open(const broad_options *o)
{
    if (o->supervise == BROAD_SUPERVISE_GCV) return o->range_steps_count > 1 && o->enhance_layers > 0;
    return o->range_auto && o->feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED;
}

int broad__trainer_choose_range(broad_trainer *t, const broad_data *data)
{
    range_choice best;
    if (!ranges_open(&t->model->settings)) return BROAD_OK;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    int status = data->rows > AUTO_ROWS ? search_ranges_thinned(&best, t, data) : search(&best, t);
    broad__profile_leave(before);
    if (status < 0) return status;
    if (features_settled(t)) {
        set_ranges(t, best.features, best.nodes);
        for (size_t g = 0; g < t->model->group_count; g++)
            if (t->model->groups[g].source != BROAD__WEIGHT_SOURCE_DIRECT)
                t->model->groups[g].range = t->model->settings.range_steps[0] * t->feature_factor;
        return BROAD_OK;
    }
    return use_ranges(t, best.features, best.nodes);
}
