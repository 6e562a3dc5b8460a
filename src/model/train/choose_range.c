#include "model/train/choose_range.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "model/kind.h"
#include "model/train/budget.h"
#include "model/train/features.h"
#include "model/train/pilot.h"
#include "model/train/race_ranges.h"

/* Ranges that `auto` tries, as multiples of the one given: first of the feature nodes, then, with the best of these, of
 * the enhancement nodes. */
static const double AUTO_FEATURE_RANGES[] = {1.0, 0.1, 0.2, 0.5, 2.0};
static const double AUTO_NODE_RANGES[] = {0.2, 0.5, 2.0, 5.0};
/* More rows than these change the cost of choosing a range, not the choice. */
enum { AUTO_ROWS = 4000 };
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* By leave-one-out. */
static int try_ranges(broad__ranges *best, broad_trainer *t, double features, double nodes)
{
    double value = INFINITY;
    int status = broad__ranges_use(t, features, nodes);
    if (status == BROAD_OK) status = broad__ranges_judge(&value, t, 0);
    if (status == BROAD_OK && value < best->value) *best = (broad__ranges){features, nodes, value};
    return status;
}

static int search_ranges(broad__ranges *best, broad_trainer *t)
{
    const broad_options *o = &t->model->settings;
    double first = broad__ranges_unit(o, broad__model_columns(t->model)),
           nodes = broad__ranges_unit(o, t->train.residual.z.features);
    int status = BROAD_OK;
    *best = (broad__ranges){first, nodes, INFINITY};
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_FEATURE_RANGES); i++)
        status = try_ranges(best, t, first * AUTO_FEATURE_RANGES[i], nodes);
    double features = best->features;
    for (size_t i = 0; status == BROAD_OK && i < COUNT_OF(AUTO_NODE_RANGES); i++)
        status = try_ranges(best, t, features, nodes * AUTO_NODE_RANGES[i]);
    return status;
}

/* ---- on the rows that there are, or on some of them -------------------------------------------------------------- */

static int search(broad__ranges *best, broad_trainer *t)
{
    return t->model->settings.supervise == BROAD_SUPERVISE_GCV ? broad__ranges_race(best, t) : search_ranges(best, t);
}

/* The search on a sample of the rows, which replaces all of them meanwhile. */
static int search_ranges_thinned(broad__ranges *best, broad_trainer *t, const broad_data *data)
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
    const broad_options *o = &model->settings;
    int sampled = o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED;
    if (!broad__pilot_wanted(o)) return BROAD_OK;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    double limit = broad__budget_limit_trials(t), range = 1;
    int status = broad__pilot_run(&range, t, data);
    if (sampled && o->range_auto) t->feature_factor = range;
    if (broad__watch_forgive(limit)) status = BROAD_OK; /* with the best so far */
    broad__profile_leave(before);
    for (size_t g = 0; status == BROAD_OK && g < model->group_count; g++)
        model->groups[g].range = o->range_steps[0] * t->feature_factor;
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
    broad__ranges best = {t->model->range * t->feature_factor, t->model->range, 0};
    if (!ranges_open(&t->model->settings)) return BROAD_OK;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    int scored = t->model->settings.supervise == BROAD_SUPERVISE_GCV;
    double limit = scored ? broad__budget_limit_trials(t) : 0;
    int status = data->rows > AUTO_ROWS ? search_ranges_thinned(&best, t, data) : search(&best, t);
    broad__profile_leave(before);
    /* Time was up in the middle of a chain. */
    if (scored && broad__watch_forgive(limit)) status = broad__rowset_restart(&t->train);
    if (status < 0) return status;
    return broad__ranges_use(t, best.features, best.nodes);
}
