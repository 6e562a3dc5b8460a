#include "model/train/pilot.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "model/train/trial.h"

enum {
    PILOT_ROWS = 1000,
    SCREEN_NODES = 300, /* of the trials that only tell which are worth a larger one */
    KEPT = 4,           /* of them */
    NODES_LEAST = 500,
    NODES_MOST = 1500,
    GRADIENT_ROWS = 1000,
    ROUNDS = 2,
    BLOCKS = 2,
    RANGES_MOST = 5
};

/* Ranges to try for each style, in this order. Those of differences are standard deviations. */
typedef struct style_ranges {
    broad__style style;
    size_t count;
    double ranges[RANGES_MOST];
} style_ranges;

static const style_ranges first_round[] = {
    {BROAD__STYLE_MIX, 5, {0.5, 1, 2, 4, 8}},
    {BROAD__STYLE_DENSE, 4, {0.5, 1, 2, 4}},
    {BROAD__STYLE_DIFFERENCE, 4, {0.5, 1, 2, 4}},
};
static const double near_ranges[] = {0.6, 1, 1.7};
/* A round that weighs columns must be better by this part: with few rows it easily looks better than it is. */
static const double GAIN = 0.02;
static const double CAUTION = 20; /* rows per column at which its relevance is trusted by half */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A style and a range, and how well they did. */
typedef struct choice {
    broad__style style;
    double range, loo, exponent; /* exponent: of lambda */
} choice;

typedef struct pilot {
    broad_trainer *trainer;
    broad__trial trial;
    size_t nodes;      /* of a trial: half of them dense, half sparse */
    double *relevance; /* in force */
    /* The best trial of this round, and of all. */
    choice round, best;
    double *round_weight, *round_z, *round_w; /* nodes, Z and output weights of the round's best */
    double *best_relevance;
} pilot;

static void pilot_close(pilot *p)
{
    broad__trial_close(&p->trial);
    broad__free(p->relevance), broad__free(p->best_relevance);
    broad__free(p->round_weight), broad__free(p->round_z), broad__free(p->round_w);
}

/* As many nodes per row as the whole network has, but enough to tell ranges apart. */
static size_t pilot_nodes(const broad_options *o, size_t rows, size_t all_rows)
{
    size_t whole = o->feature_groups * o->feature_nodes;
    size_t least = whole < NODES_LEAST ? whole : NODES_LEAST;
    size_t nodes = (size_t)((double)whole * (double)rows / (double)all_rows);
    nodes = nodes < least ? least : nodes > NODES_MOST ? NODES_MOST : nodes;
    return nodes < BLOCKS ? BLOCKS : nodes / BLOCKS * BLOCKS;
}

static int pilot_open(pilot *p, const broad_data *data)
{
    broad_trainer *t = p->trainer;
    size_t rows = data->rows < PILOT_ROWS ? data->rows : PILOT_ROWS;
    p->nodes = pilot_nodes(&t->model->settings, rows, data->rows);
    int status = broad__trial_open(&p->trial, t, data, rows, p->nodes);
    if (status < 0) return status;
    size_t columns = p->trial.columns;
    p->relevance = broad__alloc_doubles(columns, 1);
    p->best_relevance = broad__alloc_doubles(columns, 1);
    p->round_weight = broad__alloc_doubles(columns, p->nodes);
    p->round_z = broad__alloc_doubles(rows, p->nodes);
    p->round_w = broad__alloc_doubles(p->nodes, t->model->outputs);
    if (!p->relevance || !p->best_relevance || !p->round_weight || !p->round_z || !p->round_w) return BROAD_NO_MEMORY;
    for (size_t j = 0; j < columns; j++) p->relevance[j] = p->best_relevance[j] = 1;
    p->best = (choice){.range = 1, .loo = INFINITY};
    return BROAD_OK;
}

/* ---- one trial ------------------------------------------------------------------------------------------------- */

/* Two blocks, as the groups of the network will be. */
static int run_trial(pilot *p, choice *c, size_t nodes)
{
    broad__trial_block block = {c->style, c->range, p->relevance, nodes / BLOCKS};
    int status = BROAD_OK;
    broad__trial_restart(&p->trial);
    for (size_t b = 0; status == BROAD_OK && b < BLOCKS; b++) status = broad__trial_add(&p->trial, &block);
    if (status == BROAD_OK) status = broad__trial_fit(&p->trial);
    c->loo = p->trial.joint.loo;
    c->exponent = p->trial.exponent;
    return status;
}

/* One that counts. */
static int try_choice(pilot *p, choice c)
{
    const broad__trial *trial = &p->trial;
    int status = run_trial(p, &c, p->nodes);
    if (status < 0 || !(c.loo < p->round.loo)) return status;
    p->round = c;
    memcpy(p->round_weight, trial->weight, trial->columns * p->nodes * sizeof(double));
    memcpy(p->round_z, trial->z, trial->rows->rows * p->nodes * sizeof(double));
    memcpy(p->round_w, trial->joint.w, p->nodes * p->trainer->model->outputs * sizeof(double));
    return BROAD_OK;
}

static void keep_round(pilot *p)
{
    p->best = p->round;
    memcpy(p->best_relevance, p->relevance, p->trial.columns * sizeof(double));
}

/* For the record: the least error of each style. */
static void note_error(pilot *p, broad__style style)
{
    double *least = &p->trainer->model->pilot[style], error = broad__trial_error(&p->trial);
    if (isfinite(error) && (*least == 0 || error < *least)) *least = error;
}

/* Keeps the best KEPT of the choices, best first; the earlier of equals. */
static void rank(choice kept[KEPT], size_t *count, choice c)
{
    size_t at = *count;
    while (at > 0 && c.loo < kept[at - 1].loo) at--;
    if (at == KEPT) return;
    if (*count < KEPT) ++*count;
    memmove(kept + at + 1, kept + at, (*count - at - 1) * sizeof *kept);
    kept[at] = c;
}

/* All of them with few nodes, and the best of these with enough. */
static int try_styles(pilot *p)
{
    choice kept[KEPT];
    size_t count = 0, nodes = p->nodes < SCREEN_NODES ? p->nodes : SCREEN_NODES;
    int status = BROAD_OK;
    for (size_t i = 0; i < COUNT_OF(first_round); i++)
        for (size_t r = 0; status == BROAD_OK && r < first_round[i].count; r++) {
            choice c = {.style = first_round[i].style, .range = first_round[i].ranges[r]};
            status = run_trial(p, &c, nodes);
            if (status == BROAD_OK) note_error(p, c.style);
            if (status == BROAD_OK) rank(kept, &count, c);
        }
    p->round.loo = INFINITY;
    for (size_t i = 0; status == BROAD_OK && i < count; i++) status = try_choice(p, kept[i]);
    if (broad__watch_late() && count && !isfinite(p->round.loo)) p->round = kept[0]; /* there was no time for more */
    if (status == BROAD_OK || broad__watch_late()) keep_round(p);
    return status;
}

static int try_relevance(pilot *p)
{
    choice base = p->round;
    int status = BROAD_OK;
    p->round.loo = INFINITY;
    for (size_t r = 0; status == BROAD_OK && r < COUNT_OF(near_ranges); r++)
        status = try_choice(p, (choice){.style = base.style, .range = base.range * near_ranges[r]});
    if (p->round.loo * p->round.loo < (1 - GAIN) * p->best.loo * p->best.loo) keep_round(p);
    return status;
}

/* ---- relevance ------------------------------------------------------------------------------------------------- */

/* Of the activation, from its value; 0 where the value does not tell. */
static double slope(broad_activation activation, double z)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: return z * (1 - z);
    case BROAD_ACTIVATION_TANH: return 1 - z * z;
    case BROAD_ACTIVATION_RELU: return z > 0;
    case BROAD_ACTIVATION_IDENTITY: return 1;
    case BROAD_ACTIVATION_SINE:
    case BROAD_ACTIVATION_GAUSSIAN: break;
    }
    return 0;
}

/* g_j summed over the outputs, from the round's best trial. */
static int mean_square_gradients(double *g, const pilot *p)
{
    const broad_model *model = p->trainer->model;
    size_t rows = p->trial.rows->rows, columns = p->trial.columns, c = model->outputs;
    size_t n = rows < GRADIENT_ROWS ? rows : GRADIENT_ROWS;
    double *moved = broad__alloc_doubles(n, p->nodes), *gradient = broad__alloc_doubles(n, columns);
    int status = moved && gradient ? BROAD_OK : BROAD_NO_MEMORY;
    memset(g, 0, columns * sizeof(double));
    for (size_t q = 0; status == BROAD_OK && q < c; q++) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < p->nodes; k++)
                moved[i * p->nodes + k] =
                    slope(model->settings.feature_activation, p->round_z[i * p->nodes + k]) * p->round_w[k * c + q];
        memset(gradient, 0, n * columns * sizeof(double));
        p->trainer->device->outer(gradient, columns, moved, p->nodes, n, p->round_weight, p->nodes, columns, p->nodes);
        for (size_t i = 0; i < n * columns; i++) g[i % columns] += gradient[i] * gradient[i];
    }
    broad__free(moved);
    broad__free(gradient);
    return status;
}

/* *out_known: 0 where the gradients do not tell anything. */
static int weigh_columns(int *out_known, pilot *p)
{
    size_t count = p->trial.columns;
    double rows = (double)p->trial.rows->rows, columns = (double)count, sum = 0,
           share = rows / (rows + CAUTION * columns);
    int status = mean_square_gradients(p->relevance, p);
    for (size_t j = 0; j < count; j++) sum += p->relevance[j];
    *out_known = sum > 0 && isfinite(sum);
    for (size_t j = 0; j < count; j++)
        p->relevance[j] = *out_known ? sqrt(share * p->relevance[j] * columns / sum + 1 - share) : 1;
    return status;
}

int broad__pilot_run(double *out_range, broad_trainer *t, const broad_data *data)
{
    pilot p = {.trainer = t};
    int known = 1, status = pilot_open(&p, data);
    if (status == BROAD_OK) status = try_styles(&p);
    for (size_t i = 0; status == BROAD_OK && known && i < ROUNDS; i++) {
        status = weigh_columns(&known, &p);
        if (status == BROAD_OK && known) status = try_relevance(&p);
    }
    if (status == BROAD_OK || (broad__watch_late() && p.best.loo > 0 && isfinite(p.best.loo))) {
        *out_range = p.best.range;
        t->model->style = p.best.style;
        t->model->exponent = p.best.exponent;
        memcpy(t->model->relevance, p.best_relevance, p.trial.columns * sizeof(double));
    }
    pilot_close(&p);
    return status;
}
