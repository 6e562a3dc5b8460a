#include "model/train/race_ranges.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "layer/score.h"
#include "model/kind.h"
#include "model/train/features.h"
#include "rng/draw.h"

enum { NODES_ENOUGH = 200 }; /* more change the cost of judging a range, not the choice */

/* The races: how many pairs take part, and how many layers they go. Not fewer where fewer are asked for: a network that is
 * grown later is the same as one made at once. */
static const struct race {
    size_t pairs, layers;
} races[] = {{10, 8}, {4, 24}};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

double broad__ranges_unit(const broad_options *o, size_t inputs)
{
    return o->range_unit == BROAD_RANGE_ABSOLUTE ? o->range * sqrt(3.0 / (double)inputs) : o->range;
}

/* Inputs that are no nodes have no range, and that of nodes fitted by an autoencoder follows from the inputs. */
static int have_ranges(const broad_model *model)
{
    return model->groups[0].source == BROAD__WEIGHT_SOURCE_DRAWN ||
           model->groups[0].source == BROAD__WEIGHT_SOURCE_SAMPLED;
}

static void put_in_force(broad_trainer *t, double features, double nodes)
{
    t->model->range = nodes;
    t->feature_factor = features / nodes;
}

int broad__ranges_use(broad_trainer *t, double features, double nodes)
{
    put_in_force(t, features, nodes);
    return have_ranges(t->model) ? broad__trainer_draw_features(t, 0) : BROAD_OK;
}

int broad__ranges_judge(double *out, broad_trainer *t, size_t layer)
{
    broad__search *s = &t->search;
    const broad_options *o = &t->model->settings;
    size_t features = t->train.residual.z.features, count = broad__min(o->enhance_nodes, NODES_ENOUGH);
    int status = broad__reserve(&s->weight, &s->weight_capacity, features * count);
    if (status == BROAD_OK) status = broad__reserve(&s->bias, &s->bias_capacity, count);
    if (status < 0) return status;
    broad__draw draw = {{.seed = o->seed, .purpose = BROAD__FOR_ENHANCEMENT, .layer = (uint32_t)layer},
                        features,
                        count,
                        t->model->range * o->range_steps[0],
                        o->range_unit};
    broad__draw_nodes(s->weight, s->bias, &draw);
    size_t prefix = layer || broad__kind_of(o->kind)->nodes == BROAD__NODES_HIDDEN ? 0 : features;
    broad__kblock kblock = {
        {features, count, s->weight, s->bias, o->activation, o->precision == BROAD_PRECISION_FLOAT, NULL, NULL, {0}},
        0,
        prefix};
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

/* ---- layer 1 with many pairs --------------------------------------------------------------------------------------- */

/* Multiples of the base ranges, over six decades. */
enum { MULTIPLES = 13 };
static double multiple(size_t index) { return pow(10, ((double)index - (MULTIPLES - 1) / 2.0) / 2); }

/* The score of each pair, features by nodes; 0: not known. */
typedef struct pairs {
    broad_trainer *t;
    broad__ranges base;
    size_t features, nodes; /* how many there are of each */
    double *values;
    size_t drawn; /* the features in Z are of this step; SIZE_MAX: none */
    size_t best;  /* index of the best pair */
} pairs;

/* The pilot has chosen the range of sampled nodes. */
static int features_settled(const broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    return !have_ranges(t->model) || (o->range_auto && o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED);
}

static int pairs_open(pairs *out, broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    double features = t->model->range * t->feature_factor, nodes = t->model->range;
    if (o->range_auto) nodes = broad__ranges_unit(o, t->train.residual.z.features);
    if (o->range_auto && !features_settled(t)) features = broad__ranges_unit(o, broad__model_columns(t->model));
    *out = (pairs){.t = t,
                   .base = {features, nodes, INFINITY},
                   .features = features_settled(t) ? 1 : MULTIPLES,
                   .nodes = MULTIPLES,
                   .drawn = SIZE_MAX};
    out->values = broad__alloc_doubles(out->features, out->nodes);
    return out->values ? BROAD_OK : BROAD_NO_MEMORY;
}

static broad__ranges pair_at(const pairs *p, size_t index)
{
    double of_features = p->features > 1 ? multiple(index / p->nodes) : 1;
    return (broad__ranges){p->base.features * of_features, p->base.nodes * multiple(index % p->nodes), 0};
}

/* The pair is in force afterwards. Features are drawn again only where their range is another. */
static int use_pair(pairs *p, size_t index)
{
    broad__ranges pair = pair_at(p, index);
    size_t feature = index / p->nodes;
    int same = p->drawn == feature || (p->features == 1 && p->drawn != SIZE_MAX);
    put_in_force(p->t, pair.features, pair.nodes);
    p->drawn = feature;
    int status = broad__watch_check(BROAD_OK);
    return status < 0 || same || !have_ranges(p->t->model) ? status : broad__trainer_draw_features(p->t, 0);
}

static int try_pair(pairs *p, size_t index)
{
    double value = INFINITY;
    if (p->values[index] > 0) return BROAD_OK;
    int status = use_pair(p, index);
    if (status == BROAD_OK) status = broad__ranges_judge(&value, p->t, 0);
    if (status < 0) return status;
    p->t->pairs++;
    p->values[index] = fmax(value, DBL_MIN);
    if (!(p->values[p->best] > 0) || p->values[index] < p->values[p->best]) p->best = index;
    return BROAD_OK;
}

/* Multiples that are the same for both, then the neighbours of the best pair until none is better. */
static int try_pairs(pairs *p)
{
    size_t at = SIZE_MAX;
    int status = BROAD_OK;
    p->best = (p->features / 2) * p->nodes + p->nodes / 2;
    for (size_t n = 0; status == BROAD_OK && n < p->nodes; n++)
        status = try_pair(p, (p->features > 1 ? n : 0) * p->nodes + n);
    while (status == BROAD_OK && at != p->best) {
        at = p->best;
        size_t f0 = at / p->nodes, n0 = at % p->nodes;
        for (size_t f = f0 ? f0 - 1 : 0; status == BROAD_OK && f <= f0 + 1 && f < p->features; f++)
            for (size_t n = n0 ? n0 - 1 : 0; status == BROAD_OK && n <= n0 + 1 && n < p->nodes; n++)
                status = try_pair(p, f * p->nodes + n);
    }
    return status;
}

/* ---- races --------------------------------------------------------------------------------------------------------- */

/* The layer that was judged last becomes part of the chain. */
static int take_judged(broad_trainer *t)
{
    broad__residual *residual = &t->train.residual;
    broad__ridge *ridge = &t->search.ridge;
    int status = broad__ridge_complete(ridge, residual);
    if (status == BROAD_OK) status = broad__ridge_finish(ridge, residual);
    if (status == BROAD_OK) status = broad__probes_next(&ridge->inner, residual, ridge->probe_w);
    if (status < 0) return status;
    broad__residual_commit(residual, ridge->norm);
    broad__probes_commit(residual, ridge->inner);
    return BROAD_OK;
}

/* The score of a chain of this many layers with a pair; layers that do not lower it are left out. */
static int run_chain(double *out, pairs *p, size_t index, size_t layers)
{
    broad_trainer *t = p->t;
    double value = INFINITY, score = INFINITY;
    int status = use_pair(p, index);
    for (size_t j = 0; status == BROAD_OK && j < layers; j++) {
        status = broad__ranges_judge(&value, t, j);
        t->pairs += j > 0;
        if (status < 0 || !(value < score)) continue;
        score = value;
        status = take_judged(t);
    }
    *out = score;
    int restarted = broad__rowset_restart(&t->train);
    return status < 0 ? status : restarted;
}

typedef struct entrant {
    size_t index;
    double value;
} entrant;

static int better_first(const void *a, const void *b)
{
    const entrant *x = a, *y = b;
    if (x->value != y->value) return (x->value > y->value) - (x->value < y->value);
    return (x->index > y->index) - (x->index < y->index);
}

static int race(pairs *p)
{
    size_t count = 0;
    entrant *entrants = broad__alloc_array(p->features * p->nodes, sizeof *entrants);
    int status = entrants ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < p->features * p->nodes; i++)
        if (p->values[i] > 0) entrants[count++] = (entrant){i, p->values[i]};
    for (size_t r = 0; status == BROAD_OK && r < COUNT_OF(races); r++) {
        qsort(entrants, count, sizeof *entrants, better_first);
        count = broad__min(count, races[r].pairs);
        for (size_t i = 0; status == BROAD_OK && i < count; i++)
            status = run_chain(&entrants[i].value, p, entrants[i].index, races[r].layers);
    }
    if (status == BROAD_OK && count) {
        qsort(entrants, count, sizeof *entrants, better_first);
        p->best = entrants[0].index;
    }
    broad__free(entrants);
    return status;
}

int broad__ranges_race(broad__ranges *best, broad_trainer *t)
{
    pairs p;
    int status = pairs_open(&p, t);
    if (status < 0) return status;
    status = try_pairs(&p);
    if (status == BROAD_OK) status = race(&p);
    *best = pair_at(&p, p.best); /* where time is up, the best so far */
    broad__free(p.values);
    return status;
}
