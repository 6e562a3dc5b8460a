/*
 * Of each layer m, over the rows given, with S_m = sum_{j <= m} K_j W_j:
 *
 *   norm      ||R (Y - S_m)||_F    Y and S in the network's units, R the roots of what the rows count
 *   accuracy  part of the rows whose class has the largest score
 *   rmse      of the values
 *   loo       ||R' (E_m)_i / (1 - h_i)||, h = diag K_m (K_m'K_m + lambda I)^-1 K_m', by the solution that training uses
 *
 * The first three come from one pass, which computes every node once: S_m is what prediction has anyway after layer m.
 */
#include "model/predict/curve.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/device_choice.h"
#include "compute/pool.h"
#include "compute/shards.h"
#include "layer/ridge.h"
#include "model/kind.h"
#include "model/predict/predict.h"
#include "model/train/describe_data.h"
#include "model/train/rowset.h"

enum {
    SUMS = 2,    /* a layer's: square of its norm; rows classified correctly, or squared errors of the values */
    STRETCH = 64 /* blocks of spilled rows that are processed before they are released */
};

typedef struct curve {
    const broad_model *model;
    const broad_data *data;
    broad__network network;
    int chain;          /* otherwise only the last layer counts */
    int segments;       /* the rows are the training rows, and those of some segments count differently */
    double *sums;       /* shards x layers x SUMS */
    double *scratch;    /* of each worker */
    size_t block, each; /* rows of a block at most; numbers of scratch */
    atomic_int refused; /* some input does not fit */
} curve;

/* ---- a block of rows ------------------------------------------------------------------------------------------- */

typedef struct block {
    const curve *of;
    size_t first, rows;
    double *scores, *targets, *values, *weights; /* rows x outputs twice, outputs, rows */
    double *sums;                                /* of its shard */
} block;

static double segment_weight(const broad_model *model, size_t row)
{
    size_t s = 0;
    for (; s + 1 < model->segment_count && row >= model->segments[s].rows; s++) row -= model->segments[s].rows;
    return model->segments[s].weight;
}

/* What each row counts in training. */
static void fill_weights(const block *b)
{
    const broad_data *data = b->of->data;
    const broad_model *model = b->of->model;
    for (size_t i = 0; i < b->rows; i++) {
        size_t row = b->first + i;
        b->weights[i] = (data->weights ? data->weights[row] : 1) *
                        (model->class_weights ? model->class_weights[data->classes[row]] : 1) *
                        (b->of->segments ? segment_weight(model, row) : 1);
    }
}

static int judged_rightly(const block *b, size_t row)
{
    size_t truth = b->of->data->classes[row], best = 0;
    for (size_t c = 1; c < b->of->network.outputs; c++)
        if (b->values[c] > b->values[best]) best = c;
    return best == truth;
}

static double squared_misses(const block *b, size_t row)
{
    size_t outputs = b->of->network.outputs;
    double sum = 0;
    for (size_t c = 0; c < outputs; c++) {
        double miss = b->of->data->values[row * outputs + c] - b->values[c];
        sum += miss * miss;
    }
    return sum;
}

static void after_layer(void *context, size_t layer, const double *scores)
{
    const block *b = context;
    const broad__network *network = &b->of->network;
    size_t outputs = network->outputs;
    double *sums = b->sums + layer * SUMS, norm = 0, other = 0;
    if (!b->of->chain && layer + 1 < network->term_count) return;
    for (size_t i = 0; i < b->rows; i++) {
        const double *s = scores + i * outputs, *y = b->targets + i * outputs;
        double square = 0;
        for (size_t c = 0; c < outputs; c++) square += (y[c] - s[c]) * (y[c] - s[c]);
        norm += b->weights[i] * square;
        broad__network_values(b->values, network, s);
        other += b->of->data->classes ? judged_rightly(b, b->first + i) : squared_misses(b, b->first + i);
    }
    sums[0] += norm;
    sums[1] += other;
}

static void walk_block(block *b, double *scratch)
{
    const curve *c = b->of;
    const double *x = c->data->x + b->first * c->data->inputs;
    broad__layer_watch watch = {after_layer, b};
    broad__profile_span span = broad__profile_start();
    fill_weights(b);
    broad__model_targets(b->targets, c->model, c->data, b->first, b->rows);
    broad__network_layers(b->scores, &c->network, x, c->data->inputs, b->rows, scratch, &watch);
    broad__profile_stop(span, BROAD__STAGE_PREDICT, (double)b->rows * broad__network_flops(&c->network),
                        (double)(b->rows * (c->network.inputs + c->network.outputs)) * sizeof(double));
}

/* ---- all rows -------------------------------------------------------------------------------------------------- */

static void walk_shard(void *context, size_t shard, size_t worker)
{
    curve *c = context;
    size_t first, end, outputs = c->network.outputs, inputs = c->data->inputs, given = 0;
    broad__shard_rows(&first, &end, shard, c->data->rows);
    block b = {.of = c, .sums = c->sums + shard * c->network.term_count * SUMS};
    b.scores = c->scratch + worker * c->each;
    b.targets = b.scores + c->block * outputs;
    b.values = b.targets + c->block * outputs;
    b.weights = b.values + outputs;
    for (b.first = given = first; b.first < end; b.first += b.rows) {
        b.rows = end - b.first < BROAD__BLOCK_ROWS ? end - b.first : BROAD__BLOCK_ROWS;
        if (broad__network_check(&c->network, c->data->x + b.first * inputs, b.rows, inputs) < 0) {
            atomic_store(&c->refused, 1);
            return;
        }
        walk_block(&b, b.weights + c->block);
        if (b.first + b.rows - given < STRETCH * BROAD__BLOCK_ROWS) continue;
        broad__table_done(c->data, given, b.first + b.rows - given);
        given = b.first + b.rows;
    }
    broad__table_done(c->data, given, end - given);
}

static int walk(curve *c, size_t threads)
{
    const broad__network *network = &c->network;
    size_t rows = c->data->rows, shards = broad__shard_count(rows), sums = network->term_count * SUMS;
    broad__pool *pool = NULL;
    int status = broad__pool_open(&pool, broad__network_threads(network, rows, threads));
    if (status < 0) return status;
    c->block = rows < BROAD__BLOCK_ROWS ? rows : BROAD__BLOCK_ROWS;
    c->each = broad__network_scratch(network, c->block) + 2 * c->block * network->outputs + network->outputs + c->block;
    c->scratch = broad__alloc_doubles(broad__pool_threads(pool), c->each);
    c->sums = broad__alloc_doubles(shards, sums);
    if (!c->scratch || !c->sums) status = BROAD_NO_MEMORY;
    broad__watch_part(0, rows, rows);
    if (status == BROAD_OK) status = broad__pool_run_watched(pool, shards, walk_shard, c);
    broad__pool_close(pool);
    if (status == BROAD_OK && atomic_load(&c->refused))
        status = broad__network_check(network, c->data->x, rows, c->data->inputs);
    if (status == BROAD_OK) broad__tree_sum(c->sums, shards, sums, sums);
    return status;
}

static void put_points(broad_curve_point *out, const curve *c)
{
    const broad_model *model = c->model;
    size_t nodes = 0;
    double rows = (double)c->data->rows;
    for (size_t j = 0; j < model->layer_count; j++) {
        const double *sums = c->sums + j * SUMS;
        int known = c->chain || j + 1 == model->layer_count, classify = model->task == BROAD_TASK_CLASSIFY;
        nodes += model->layers[j].nodes;
        out[j] = (broad_curve_point){
            .layer = j + 1,
            .nodes = nodes + (c->network.direct ? 0 : model->layers[j].inputs),
            .norm = known ? sqrt(sums[0]) : NAN,
            .accuracy = known && classify ? sums[1] / rows : NAN,
            .rmse = known && !classify ? sqrt(sums[1] / rows / (double)model->outputs) : NAN,
            .loo = NAN,
        };
    }
}

/* Segment weights belong to training rows; whether these rows are, matters only where segments differ in weight. */
static int find_segments(curve *c)
{
    const broad_model *model = c->model;
    int differ = 0;
    for (size_t s = 0; s < model->segment_count; s++) differ |= model->segments[s].weight != 1;
    int status = differ ? broad__model_check_rows(model, c->data) : BROAD_BAD_DATA;
    c->segments = status == BROAD_OK;
    return status == BROAD_BAD_DATA ? BROAD_OK : status;
}

static int check_targets(const broad_model *model, const broad_data *data)
{
    if (data->task == BROAD_TASK_AUTO || !data->rows)
        return broad__fail(BROAD_BAD_DATA,
                           "the data has no targets to compare with; name a target column, or give the labels");
    if (data->inputs != model->inputs)
        return broad__fail(BROAD_BAD_DATA, "the data has %zu inputs, the model %zu", data->inputs, model->inputs);
    if (data->task != model->task || data->outputs != model->outputs)
        return broad__fail(BROAD_BAD_DATA, "the data's targets are not those of the model");
    return BROAD_OK;
}

int broad__model_curve(broad_curve_point *out, const broad_model *model, const broad_data *data, size_t threads)
{
    curve c = {.model = model, .data = data, .chain = broad__fitting_of(&model->settings) == BROAD__FIT_CHAIN};
    int status = check_targets(model, data);
    if (status == BROAD_OK && !model->layer_count) return BROAD_OK;
    if (status == BROAD_OK) status = find_segments(&c);
    if (status == BROAD_OK) status = broad__network_make(&c.network, model, NULL, data->rows >= 2 * BROAD__BLOCK_ROWS);
    if (status == BROAD_OK) status = walk(&c, threads);
    if (status == BROAD_OK) put_points(out, &c);
    broad__network_clear(&c.network);
    broad__free(c.scratch);
    broad__free(c.sums);
    return status;
}

/* ---- leave-one-out --------------------------------------------------------------------------------------------- */

/* The network as it grew, on the rows of the current layer. */
typedef struct regrowth {
    const broad_model *model;
    const broad_data *data;
    const broad__device *device;
    broad__pool *pool;
    size_t groups; /* feature groups that the layers so far read */
    size_t first, rows;
    broad__rowset rowset; /* of these rows; E: the residual of the layers so far */
    broad__ridge ridge;
} regrowth;

/* Rows that layer j was fitted to take the place of those of the layer before it. */
static int change_rows(regrowth *r, size_t j)
{
    const broad_model *model = r->model;
    const broad__certificate *c = &model->layers[j].certificate;
    size_t at = 0, end = c->first_row + c->rows;
    if (j && c->first_row == r->first && c->rows == r->rows) return BROAD_OK;
    broad__rowset_close(&r->rowset);
    int status = broad__rowset_open(&r->rowset, model, r->device, r->pool, NULL);
    r->rowset.groups = r->groups;
    r->first = c->first_row;
    r->rows = c->rows;
    for (size_t s = 0; status == BROAD_OK && s < model->segment_count; at += model->segments[s++].rows) {
        size_t from = at > r->first ? at : r->first, to = at + model->segments[s].rows;
        if (to > end) to = end;
        broad__part part = {r->data, from, to > from ? to - from : 0, model->segments[s].weight};
        if (part.count) status = broad__rowset_add_rows(&r->rowset, part, j);
    }
    return status;
}

static int leave_out_layer(double *out, regrowth *r, size_t j)
{
    const broad__layer *layer = &r->model->layers[j];
    int status = change_rows(r, j);
    if (status == BROAD_OK && j && layer->groups) status = broad__rowset_add_groups(&r->rowset, layer->groups);
    if (j) r->groups += layer->groups;
    broad__kblock kblock = broad__model_kblock(r->model, j);
    broad__ridge_request request = {.lambda = layer->certificate.lambda, .loo = 1};
    if (status == BROAD_OK) status = broad__candidate_compute(&r->rowset.residual, &kblock, 1);
    if (status == BROAD_OK) status = broad__ridge_solve(&r->ridge, &r->rowset.residual, &request);
    if (status == BROAD_OK) *out = r->ridge.loo;
    return status == BROAD_OK ? broad__rowset_follow(&r->rowset, j) : status;
}

static int check_training(const broad_model *model, const broad_data *data)
{
    int status = broad__model_fits(model, data);
    if (status == BROAD_OK) status = broad__model_check_rows(model, data);
    if (status != BROAD_BAD_DATA) return status;
    return broad__fail(BROAD_BAD_DATA,
                       "leave-one-out of the layers needs the %zu rows that the model was trained on, in "
                       "the same order and with the same values, and these are others",
                       model->rows);
}

int broad__model_curve_loo(broad_curve_point *points, const broad_model *model, const broad_data *training,
                           size_t threads)
{
    regrowth r = {.model = model, .data = training, .device = broad__device_choose(&model->settings)};
    int status = check_training(model, training);
    if (status < 0 || broad__fitting_of(&model->settings) != BROAD__FIT_CHAIN) return status;
    r.groups = broad__model_initial_groups(model);
    status = broad__pool_open(&r.pool, threads);
    if (status < 0) return status;
    status = r.device->hold();
    int held = status == BROAD_OK;
    broad__watch_part(0, model->layer_count, model->layer_count);
    for (size_t j = 0; status == BROAD_OK && j < model->layer_count; j++) {
        status = broad__watch_poll(j, model->layer_count);
        if (status == BROAD_OK) status = leave_out_layer(&points[j].loo, &r, j);
    }
    broad__ridge_clear(&r.ridge);
    broad__rowset_close(&r.rowset);
    if (held) r.device->release();
    broad__pool_close(r.pool);
    return status;
}
