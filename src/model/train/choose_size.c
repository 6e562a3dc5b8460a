#include "model/train/choose_size.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/train/features.h"
#include "model/train/trial.h"

enum {
    ROWS_MOST = 4096,   /* of the sample */
    NODES_FIRST = 400,  /* of the first step */
    NODES_LAST = 1600,  /* and of the last one: where that still gains, twice as many are taken untried */
    STEPS_WITHOUT = 2,  /* that end the search if neither gains */
    BLOCKS_OF_STEP = 2, /* one of each kind of direction */
    NODES_LEAST = 1600  /* of the network: fewer save little time, and those drawn matter more */
};
/* A step that does not lower the mean square by this part is not worth its nodes; where the sample stands for more rows, which
 * can tell more nodes apart, by so many times less. */
static const double GAIN = 0.01;
/* Nor is one whose gain is below so many standard errors of itself, as all rows that the sample stands for would have them: a
 * few rows made it. */
static const double SPREAD = 1;

/* The squares of the leave-one-out residuals, row by row; below 0 where there is none. */
typedef struct climb {
    broad__trial trial;
    double *now, *best;
    double gain;   /* that a step is worth its nodes for */
    double spread; /* standard errors of its rows */
} climb;

static void climb_close(climb *c)
{
    broad__trial_close(&c->trial);
    broad__free(c->now);
    broad__free(c->best);
}

static int climb_open(climb *out, broad_trainer *t, const broad_data *data, size_t capacity)
{
    double part = data->rows > ROWS_MOST ? ROWS_MOST / (double)data->rows : 1;
    *out = (climb){.gain = GAIN * part, .spread = SPREAD * sqrt(part)};
    int status = broad__trial_open(&out->trial, t, data, ROWS_MOST, capacity);
    if (status < 0) return status;
    out->trial.scores_alone = 1;
    if (t->model->exponent != 0) out->trial.exponent = t->model->exponent;
    out->now = broad__alloc_doubles(out->trial.rows->rows, 1);
    out->best = broad__alloc_doubles(out->trial.rows->rows, 1);
    return out->now && out->best ? BROAD_OK : BROAD_NO_MEMORY;
}

/* Adds nodes until there are so many, and solves. */
static int climb_to(climb *c, size_t nodes)
{
    broad__trial *trial = &c->trial;
    const broad_model *model = trial->trainer->model;
    broad__trial_block block = {.style = model->style,
                                .range = model->settings.range_steps[0] * trial->trainer->feature_factor,
                                .relevance = model->relevance,
                                .root = model->root,
                                .nodes = (nodes - trial->nodes) / BLOCKS_OF_STEP};
    int status = BROAD_OK;
    for (size_t b = 0; status == BROAD_OK && b < BLOCKS_OF_STEP; b++) status = broad__trial_add(trial, &block);
    if (status == BROAD_OK) status = broad__trial_fit(trial);
    return status == BROAD_OK ? broad__trial_squares(c->now, trial) : status;
}

/* Whether this step is better than the best so far on the rows that both have, by the powers of their squares. */
static int gains_by(const climb *c, double power)
{
    double gain = 0, square = 0, before = 0;
    for (size_t i = 0; i < c->trial.rows->rows; i++) {
        if (c->now[i] < 0 || c->best[i] < 0) continue;
        double was = pow(c->best[i], power), less = was - pow(c->now[i], power);
        gain += less;
        square += less * less;
        before += was;
    }
    return gain > power * c->gain * before && gain > c->spread * sqrt(square);
}

/* By squares, or by sizes: where a few residuals are far larger than all others, squares say nothing of these. */
static int gains(const climb *c) { return gains_by(c, 1) || gains_by(c, 0.5); }

/* *out: the nodes that the sample warrants. */
static int climb_up(size_t *out, climb *c, size_t last)
{
    size_t without = 0, nodes = NODES_FIRST;
    int status = BROAD_OK;
    *out = nodes;
    for (; status == BROAD_OK && nodes <= last && without < STEPS_WITHOUT; nodes *= 2) {
        status = climb_to(c, nodes);
        without++;
        if (status < 0 || (nodes > NODES_FIRST && !gains(c))) continue;
        memcpy(c->best, c->now, c->trial.rows->rows * sizeof(double));
        c->trial.trainer->model->exponent = c->trial.exponent;
        *out = nodes;
        without = 0;
    }
    if (!without) *out = nodes;
    return status;
}

/* Nodes in the groups, in all; no more than they have. */
static int use_size(broad_model *model, double nodes)
{
    size_t each = (size_t)(fmax(nodes, NODES_LEAST) / (double)model->settings.feature_groups);
    return each < model->settings.feature_nodes ? broad__model_resize_groups(model, each) : BROAD_OK;
}

/* Where the search for lambda is to begin for all rows: lambda itself hardly grows with them, while the eigenvalues do. In half
 * steps; not 0, which says that nothing is known. */
static double exponent_for(double exponent, size_t rows)
{
    double less = rows > ROWS_MOST ? 0.5 * round(2 * log10((double)rows / ROWS_MOST)) : 0;
    return exponent != less ? exponent - less : -DBL_EPSILON;
}

int broad__trainer_choose_size(broad_trainer *t, const broad_data *data)
{
    broad_model *model = t->model;
    const broad_options *o = &model->settings;
    size_t most = o->feature_groups * o->feature_nodes, nodes = most;
    if (!broad__grows_by_gain(o) || most <= NODES_LEAST) return BROAD_OK;
    double more = data->rows > ROWS_MOST ? broad__size_for_rows(data->rows) / broad__size_for_rows(ROWS_MOST) : 1;
    size_t last = (size_t)((double)most / more);
    last = last < NODES_FIRST ? NODES_FIRST : last < NODES_LAST ? last : NODES_LAST;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_PILOT);
    climb c;
    int status = climb_open(&c, t, data, last);
    if (status == BROAD_OK) status = climb_up(&nodes, &c, last);
    climb_close(&c);
    if (model->exponent != 0) model->exponent = exponent_for(model->exponent, data->rows);
    broad__profile_leave(before);
    return status == BROAD_OK ? use_size(model, (double)nodes * more) : status;
}
