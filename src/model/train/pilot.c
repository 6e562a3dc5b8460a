#include "model/train/pilot.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "feature/phi.h"
#include "feature/sample.h"
#include "layer/joint.h"
#include "model/train/describe_data.h"
#include "model/train/features.h"

enum {
    PILOT_ROWS = 1000,
    NODES_LEAST = 700,
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

typedef struct pilot {
    broad_trainer *trainer;
    broad_data *rows;
    double *y;
    size_t nodes, columns;    /* nodes of a trial: half of them dense, half sparse */
    double *weight, *bias;    /* columns x nodes, nodes */
    double *z;                /* rows x nodes */
    double *relevance;        /* in force */
    double exponent;          /* of lambda: where the last search ended */
    broad__residual residual; /* Z as rows of the joint fit */
    broad__joint joint;
    /* The best trial of this round, and of all. */
    broad__style style, best_style;
    double range, loo, best_range, best_loo, round_exponent, best_exponent;
    double *round_weight, *round_z, *round_w; /* nodes, Z and output weights of the round's best */
    double *best_relevance;
} pilot;

static void pilot_close(pilot *p)
{
    broad__table_free(p->rows);
    broad__joint_clear(&p->joint);
    p->residual.z.stored = NULL;
    broad__residual_close(&p->residual);
    broad__free(p->y), broad__free(p->weight), broad__free(p->bias), broad__free(p->z), broad__free(p->relevance);
    broad__free(p->round_weight), broad__free(p->round_z), broad__free(p->round_w), broad__free(p->best_relevance);
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
    broad_model *model = t->model;
    size_t rows = data->rows < PILOT_ROWS ? data->rows : PILOT_ROWS, outputs = model->outputs;
    int status = broad__table_thin(&p->rows, data, rows);
    if (status < 0) return status;
    p->columns = broad__model_columns(model);
    p->nodes = pilot_nodes(&model->settings, rows, data->rows);
    p->y = broad__alloc_doubles(rows, outputs);
    p->weight = broad__alloc_doubles(p->columns, p->nodes);
    p->bias = broad__alloc_doubles(p->nodes, 1);
    p->z = broad__alloc_doubles(rows, p->nodes);
    p->relevance = broad__alloc_doubles(p->columns, 1);
    p->best_relevance = broad__alloc_doubles(p->columns, 1);
    p->round_weight = broad__alloc_doubles(p->columns, p->nodes);
    p->round_z = broad__alloc_doubles(rows, p->nodes);
    p->round_w = broad__alloc_doubles(p->nodes, outputs);
    if (!p->y || !p->weight || !p->bias || !p->z || !p->relevance || !p->best_relevance || !p->round_weight ||
        !p->round_z || !p->round_w)
        return BROAD_NO_MEMORY;
    broad__model_targets(p->y, model, p->rows, 0, rows);
    for (size_t j = 0; j < p->columns; j++) p->relevance[j] = p->best_relevance[j] = 1;
    p->best_loo = INFINITY;
    p->best_range = 1;
    p->exponent = -4;
    status = broad__residual_open(&p->residual, t->device, t->pool, outputs);
    if (status == BROAD_OK) status = broad__residual_append(&p->residual, p->y, rows);
    p->residual.z.stored = p->z;
    p->residual.z.features = p->nodes;
    p->residual.group = p->rows->groups;
    return status;
}

/* ---- one trial ------------------------------------------------------------------------------------------------- */

/* Two blocks, as the groups of the network will be. */
static int draw_trial(pilot *p, broad__style style, double range)
{
    const broad_model *model = p->trainer->model;
    size_t half = p->nodes / BLOCKS;
    double *weight = broad__alloc_doubles(p->columns, half);
    int status = weight ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t b = 0; status == BROAD_OK && b < BLOCKS; b++) {
        broad__sample_task task = {
            .scaling = broad__model_scaling(model),
            .x = p->rows->x,
            .rows = p->rows->rows,
            .relevance = p->relevance,
            .nodes = half,
            .range = range * model->settings.range,
            .grid_height = p->rows->grid_height,
            .grid_width = p->rows->grid_width,
            .direction = broad__style_direction(style, b),
            .stream = {.seed = model->settings.seed, .purpose = BROAD__FOR_PILOT, .layer = (uint32_t)b}};
        status = broad__sample_nodes(weight, p->bias + b * half, &task);
        for (size_t j = 0; status == BROAD_OK && j < p->columns; j++)
            memcpy(p->weight + j * p->nodes + b * half, weight + j * half, half * sizeof(double));
    }
    broad__free(weight);
    return status;
}

/* For the record. Later rounds do not count: they are of one style only. */
static void note_error(pilot *p, broad__style style)
{
    double *least = &p->trainer->model->pilot[style], square = 0;
    for (size_t i = 0; i < p->rows->rows * p->trainer->model->outputs; i++) square += p->y[i] * p->y[i];
    double error = square > 0 ? p->joint.loo * p->joint.loo / square : 0;
    if (isfinite(p->best_loo) || !isfinite(error)) return;
    if (*least == 0 || error < *least) *least = error;
}

static int trial(pilot *p, broad__style style, double range)
{
    broad_trainer *t = p->trainer;
    const broad_options *o = &t->model->settings;
    int status = draw_trial(p, style, range);
    if (status < 0) return status;
    broad__phi phi = {
        t->device,
        {p->columns, p->nodes, p->weight, p->bias, o->feature_activation, o->precision == BROAD_PRECISION_FLOAT},
        broad__model_scaling(t->model)};
    status = broad__phi_rows(p->z, p->nodes, &phi, t->pool, p->rows->x, p->rows->rows);
    broad__kblock kblock = {{p->nodes, 0, NULL, NULL, o->activation, 0}, 0, p->nodes};
    broad__joint_task task = {.residual = &p->residual,
                              .y = p->y,
                              .kblocks = &kblock,
                              .count = 1,
                              .lambda_auto = o->lambda_auto,
                              .lambda = o->lambda,
                              .exponent = &p->exponent,
                              .loo = 1};
    broad__joint_clear(&p->joint);
    if (status == BROAD_OK) status = broad__joint_fit(&p->joint, &task);
    if (status == BROAD_OK) note_error(p, style);
    if (status < 0 || !(p->joint.loo < p->loo)) return status;
    p->loo = p->joint.loo;
    p->style = style;
    p->range = range;
    p->round_exponent = p->exponent;
    memcpy(p->round_weight, p->weight, p->columns * p->nodes * sizeof(double));
    memcpy(p->round_z, p->z, p->rows->rows * p->nodes * sizeof(double));
    memcpy(p->round_w, p->joint.w, p->nodes * t->model->outputs * sizeof(double));
    return BROAD_OK;
}

static void keep_round(pilot *p)
{
    p->best_loo = p->loo;
    p->best_style = p->style;
    p->best_range = p->range;
    p->best_exponent = p->round_exponent;
    memcpy(p->best_relevance, p->relevance, p->columns * sizeof(double));
}

static int try_styles(pilot *p)
{
    int status = BROAD_OK;
    p->loo = INFINITY;
    for (size_t i = 0; i < COUNT_OF(first_round); i++)
        for (size_t r = 0; status == BROAD_OK && r < first_round[i].count; r++)
            status = trial(p, first_round[i].style, first_round[i].ranges[r]);
    keep_round(p);
    return status;
}

static int try_relevance(pilot *p)
{
    broad__style style = p->style;
    double base = p->range;
    int status = BROAD_OK;
    p->loo = INFINITY;
    for (size_t r = 0; status == BROAD_OK && r < COUNT_OF(near_ranges); r++)
        status = trial(p, style, base * near_ranges[r]);
    if (p->loo * p->loo < (1 - GAIN) * p->best_loo * p->best_loo) keep_round(p);
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
    size_t n = p->rows->rows < GRADIENT_ROWS ? p->rows->rows : GRADIENT_ROWS, c = model->outputs;
    double *moved = broad__alloc_doubles(n, p->nodes), *gradient = broad__alloc_doubles(n, p->columns);
    int status = moved && gradient ? BROAD_OK : BROAD_NO_MEMORY;
    memset(g, 0, p->columns * sizeof(double));
    for (size_t q = 0; status == BROAD_OK && q < c; q++) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < p->nodes; k++)
                moved[i * p->nodes + k] =
                    slope(model->settings.feature_activation, p->round_z[i * p->nodes + k]) * p->round_w[k * c + q];
        memset(gradient, 0, n * p->columns * sizeof(double));
        p->trainer->device->outer(gradient, p->columns, moved, p->nodes, n, p->round_weight, p->nodes, p->columns,
                                  p->nodes);
        for (size_t i = 0; i < n * p->columns; i++) g[i % p->columns] += gradient[i] * gradient[i];
    }
    broad__free(moved);
    broad__free(gradient);
    return status;
}

/* *out_known: 0 where the gradients do not tell anything. */
static int weigh_columns(int *out_known, pilot *p)
{
    double rows = (double)p->rows->rows, columns = (double)p->columns, sum = 0,
           share = rows / (rows + CAUTION * columns);
    int status = mean_square_gradients(p->relevance, p);
    for (size_t j = 0; j < p->columns; j++) sum += p->relevance[j];
    *out_known = sum > 0 && isfinite(sum);
    for (size_t j = 0; j < p->columns; j++)
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
    if (status == BROAD_OK || (broad__watch_late() && isfinite(p.best_loo))) {
        *out_range = p.best_range;
        t->model->style = p.best_style;
        t->model->exponent = p.best_exponent;
        memcpy(t->model->relevance, p.best_relevance, p.columns * sizeof(double));
    }
    pilot_close(&p);
    return status;
}
