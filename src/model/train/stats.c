#include "model/train/stats.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/device_choice.h"
#include "compute/pool.h"
#include "compute/shards.h"
#include "data/transform/scale.h"
#include "layer/spd.h"
#include "layer/supervise.h"
#include "model/kind.h"
#include "model/model_phi.h"
#include "model/predict/estimate.h"
#include "model/train/classes.h"
#include "model/train/describe_data.h"

/* A product of this many rows is rounded as doubles are; what they add up to is not. */
enum { CHUNK = 16 };

enum { BATCH = 128, TILE = 256, REFINEMENTS = 4, RELAXED_MAX = 10000 };

/* ---- pairs of doubles ------------------------------------------------------------------------------------------ */

/* (*high, *low) += value, exact but for the rounding of *low (Knuth's two-sum). */
static void pair_add(double *high, double *low, double value)
{
    double sum = *high + value, part = sum - *high;
    *low += (*high - (sum - part)) + (value - part);
    *high = sum;
}

/* ---- making and freeing ---------------------------------------------------------------------------------------- */

void broad__stats_free(broad_stats *stats)
{
    if (!stats) return;
    broad__free(stats->gram);
    broad__free(stats->gram_low);
    broad__free(stats->cross);
    broad__free(stats->cross_low);
    broad__free(stats->square);
    broad__free(stats);
}

static broad_stats *stats_alloc(size_t nodes, size_t outputs)
{
    broad_stats *stats = broad__alloc(sizeof *stats);
    if (!stats) return NULL;
    stats->nodes = nodes;
    stats->outputs = outputs;
    stats->gram = broad__alloc_doubles(nodes, nodes);
    stats->gram_low = broad__alloc_doubles(nodes, nodes);
    stats->cross = broad__alloc_doubles(nodes, outputs);
    stats->cross_low = broad__alloc_doubles(nodes, outputs);
    stats->square = broad__alloc_doubles(2, 1);
    if (stats->gram && stats->gram_low && stats->cross && stats->cross_low && stats->square) return stats;
    broad__stats_free(stats);
    return NULL;
}

static int stats_hash(char out[33], const broad_model *model)
{
    broad__hash *hash = broad__hash_open();
    if (!hash) return BROAD_NO_MEMORY;
    for (size_t g = 0; g < model->group_count; g++) {
        if (!model->groups[g].weight) continue;
        broad__hash_add(hash, model->groups[g].weight,
                        broad__model_columns(model) * model->groups[g].nodes * sizeof(double));
        broad__hash_add(hash, model->groups[g].bias, model->groups[g].nodes * sizeof(double));
    }
    for (size_t j = 0; j < model->layer_count; j++) {
        const broad__layer *layer = &model->layers[j];
        broad__hash_add(hash, layer->weight, layer->inputs * layer->nodes * sizeof(double));
        broad__hash_add(hash, layer->bias, layer->nodes * sizeof(double));
    }
    broad__hash_add(hash, model->input_shift, broad__model_columns(model) * sizeof(double));
    broad__hash_add(hash, model->input_factor, broad__model_columns(model) * sizeof(double));
    for (size_t i = 0; i < model->segment_count; i++)
        broad__hash_add(hash, model->segments[i].fingerprint, sizeof model->segments[i].fingerprint);
    broad__hash_close(out, hash);
    return BROAD_OK;
}

/* ---- adding rows ----------------------------------------------------------------------------------------------- */

/* One batch of rows at a time: first its nodes, then its products tile by tile. */
typedef struct intake {
    broad_stats *stats;
    const broad_model *model;
    const broad_data *data;
    const broad__device *device;
    broad__phi phi;
    double *targets; /* BATCH x outputs */
    double *a;       /* BATCH x nodes */
    double *scaled;  /* BATCH x inputs */
    double *tiles;   /* TILE x TILE per worker */
    size_t first, count;
} intake;

static void batch_nodes(intake *in)
{
    const broad_model *model = in->model;
    size_t nodes = in->stats->nodes, at = in->phi.nodes.nodes;
    broad__phi_block(in->a, nodes, &in->phi, in->data->x + in->first * model->inputs, in->count, in->scaled);
    for (size_t j = 0; j < model->layer_count; j++) {
        const broad__layer *layer = &model->layers[j];
        broad__nodes own = {layer->inputs,
                            layer->nodes,
                            layer->weight,
                            layer->bias,
                            model->settings.activation,
                            model->settings.precision == BROAD_PRECISION_FLOAT,
                            NULL,
                            NULL,
                            {0}};
        in->device->nodes(in->a + at, nodes, &own, in->a, nodes, in->count);
        at += layer->nodes;
    }
}

/* Tile t: row `a` and column `b` of the tiles of C's upper triangle; the last column is D. */
static void batch_tile(void *context, size_t t, size_t worker)
{
    intake *in = context;
    broad_stats *stats = in->stats;
    size_t nodes = stats->nodes, across = (nodes + TILE - 1) / TILE, row = 0;
    while (t >= across + 1 - row) t -= across + 1 - row++;
    size_t column = row + t, tile_rows = nodes - row * TILE < TILE ? nodes - row * TILE : TILE;
    int is_cross = column == across;
    size_t tile_columns = is_cross ? stats->outputs : nodes - column * TILE < TILE ? nodes - column * TILE : TILE;
    double *tile = in->tiles + worker * TILE * (TILE + stats->outputs);
    double *high_part =
        is_cross ? stats->cross + row * TILE * tile_columns : stats->gram + row * TILE * nodes + column * TILE;
    double *low_part =
        is_cross ? stats->cross_low + row * TILE * tile_columns : stats->gram_low + row * TILE * nodes + column * TILE;
    size_t stride = is_cross ? tile_columns : nodes;
    const double *right = is_cross ? in->targets : in->a + column * TILE;
    for (size_t at = 0; at < in->count; at += CHUNK) {
        size_t n = in->count - at < CHUNK ? in->count - at : CHUNK;
        memset(tile, 0, tile_rows * tile_columns * sizeof(double));
        in->device->cross(tile, tile_columns, in->a + at * nodes + row * TILE, nodes, tile_rows, right + at * stride,
                          stride, tile_columns, n);
        for (size_t i = 0; i < tile_rows; i++)
            for (size_t k = 0; k < tile_columns; k++)
                pair_add(&high_part[i * stride + k], &low_part[i * stride + k], tile[i * tile_columns + k]);
    }
}

static int intake_open(intake *in, double **weights, size_t workers)
{
    const broad_model *model = in->model;
    size_t outputs = model->outputs;
    in->targets = broad__alloc_doubles(BATCH, outputs);
    in->a = broad__alloc_doubles(BATCH, in->stats->nodes);
    in->scaled = broad__alloc_doubles(BATCH, broad__model_columns(model));
    in->tiles = broad__alloc_doubles(workers * TILE, TILE + outputs);
    if (!in->targets || !in->a || !in->scaled || !in->tiles) return BROAD_NO_MEMORY;
    return broad__model_phi(&in->phi, weights, model, in->device, NULL, 0, model->group_count);
}

static int add_rows(broad_stats *stats, const broad_model *model, const broad_data *data, size_t threads)
{
    intake in = {.stats = stats, .model = model, .data = data, .device = broad__device_choose(&model->settings)};
    double *weights = NULL;
    broad__pool *pool = NULL;
    broad__page_cursor read = {0};
    int status = broad__pool_open(&pool, threads);
    if (status == BROAD_OK) status = intake_open(&in, &weights, broad__pool_threads(pool));
    if (status == BROAD_OK) status = in.device->hold();
    if (status == BROAD_OK) {
        size_t across = (stats->nodes + TILE - 1) / TILE;
        broad__watch_part(0, data->rows, data->rows);
        for (in.first = 0; in.first < data->rows; in.first += in.count) {
            status = broad__watch_poll(in.first, data->rows);
            if (status < 0) break;
            in.count = data->rows - in.first < BATCH ? data->rows - in.first : BATCH;
            batch_nodes(&in);
            broad__model_targets(in.targets, model, data, in.first, in.count);
            broad__pool_run(pool, across * (across + 1) / 2 + across, batch_tile, &in);
            for (size_t i = 0; i < in.count * model->outputs; i++)
                pair_add(&stats->square[0], &stats->square[1], in.targets[i] * in.targets[i]);
            broad__page_cursor_step(&read, data->spill, data->x + in.first * data->inputs,
                                    in.count * data->inputs * sizeof *data->x);
        }
        in.device->release();
        stats->rows += data->rows;
        if (status < 0) stats->model[0] = 0; /* sums of some of the rows belong to no model */
    }
    broad__pool_close(pool);
    broad__free(weights);
    broad__free(in.targets);
    broad__free(in.a);
    broad__free(in.scaled);
    broad__free(in.tiles);
    return status;
}

/* The sums are of plain rows, and what is solved from them is a chain over feature groups. */
static int check_served(const broad_model *model, const broad_data *data)
{
    int weighted = model->class_weights || model->weight_name || data->weights;
    for (size_t i = 0; i < model->segment_count; i++) weighted |= model->segments[i].weight != 1;
    if (weighted)
        return broad__fail(BROAD_USAGE,
                           "sums of the training rows cannot be kept for rows or classes that have weights; "
                           "learn with the training rows themselves");
    if (broad__fitting_of(&model->settings) != BROAD__FIT_CHAIN ||
        broad__kind_of(model->settings.kind)->nodes != BROAD__NODES_FEATURES)
        return broad__fail(BROAD_USAGE, "sums of the training rows serve bscrls and brls with chain weights alone; use "
                                        "option weights chain, or learn with the training rows themselves");
    return BROAD_OK;
}

int broad__stats_new(broad_stats **out, const broad_model *model, const broad_data *training, size_t threads)
{
    int status = check_served(model, training);
    if (status == BROAD_OK) status = broad__model_fits(model, training);
    if (status == BROAD_OK) status = broad__model_check_rows(model, training);
    if (status < 0) return status;
    broad_stats *stats = stats_alloc(broad__model_nodes(model), model->outputs);
    status = stats ? add_rows(stats, model, training, threads) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = stats_hash(stats->model, model);
    if (status < 0) broad__stats_free(stats);
    else *out = stats;
    return status;
}

/* ---- solving every layer again --------------------------------------------------------------------------------- */

/* Column k of layer j's K as a column of A: some groups' nodes, then the layer's own. */
typedef struct columns {
    size_t prefix_at, prefix, own_at, width;
} columns;

static columns columns_of(const broad_model *model, size_t j)
{
    const broad__layer *layer = &model->layers[j];
    columns c = {.prefix_at = broad__model_feature_nodes(model, layer->first_group),
                 .prefix = layer->width - layer->nodes,
                 .own_at = broad__model_feature_nodes(model, model->group_count),
                 .width = layer->width};
    for (size_t i = 0; i < j; i++) c.own_at += model->layers[i].nodes;
    return c;
}

static size_t column_at(const columns *c, size_t k)
{
    return k < c->prefix ? c->prefix_at + k : c->own_at + k - c->prefix;
}

static long double gram_at(const broad_stats *stats, size_t a, size_t b)
{
    size_t index = a <= b ? a * stats->nodes + b : b * stats->nodes + a;
    return (long double)stats->gram[index] + stats->gram_low[index];
}

/* out -= C(rows of x, columns of y) w */
static void subtract_product(long double *out, const broad_stats *stats, const columns *x, const columns *y,
                             const double *w)
{
    size_t c = stats->outputs;
    for (size_t a = 0; a < x->width; a++)
        for (size_t b = 0; b < y->width; b++) {
            long double g = gram_at(stats, column_at(x, a), column_at(y, b));
            for (size_t k = 0; k < c; k++) out[a * c + k] -= g * w[b * c + k];
        }
}

/* K_j' E_{j-1} */
static void right_side(long double *out, const broad_stats *stats, const broad_model *model, size_t j)
{
    columns own = columns_of(model, j);
    size_t c = stats->outputs;
    for (size_t a = 0; a < own.width; a++)
        for (size_t k = 0; k < c; k++) {
            size_t index = column_at(&own, a) * c + k;
            out[a * c + k] = (long double)stats->cross[index] + stats->cross_low[index];
        }
    for (size_t i = 0; i < j; i++) {
        columns other = columns_of(model, i);
        subtract_product(out, stats, &own, &other, model->layers[i].output);
    }
}

/* Room for the widest layer. */
typedef struct bench {
    const broad__device *device;
    broad__spd spd;
    double *matrix, *change, *w;
    long double *right, *residual;
} bench;

static void bench_close(bench *b)
{
    broad__spd_clear(&b->spd);
    broad__free(b->matrix);
    broad__free(b->change);
    broad__free(b->w);
    broad__free(b->right);
    broad__free(b->residual);
    memset(b, 0, sizeof *b);
}

static int bench_open(bench *b, const broad_model *model)
{
    size_t p = 0, c = model->outputs;
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].width > p) p = model->layers[j].width;
    *b = (bench){.device = broad__device_choose(&model->settings),
                 .matrix = broad__alloc_doubles(p, p),
                 .change = broad__alloc_doubles(p, c),
                 .w = broad__alloc_doubles(p, c),
                 .right = broad__alloc_array(p * c, sizeof(long double)),
                 .residual = broad__alloc_array(p * c, sizeof(long double))};
    if (b->matrix && b->change && b->w && b->right && b->residual) return BROAD_OK;
    bench_close(b);
    return BROAD_NO_MEMORY;
}

/* (C_jj + lambda I) w = right by Cholesky, refined with residuals in long double. */
static int solve_layer(bench *b, const broad_stats *stats, const columns *own, double lambda)
{
    size_t p = own->width, count = p * stats->outputs;
    for (size_t a = 0; a < p; a++)
        for (size_t d = a; d < p; d++)
            b->matrix[a * p + d] = (double)gram_at(stats, column_at(own, a), column_at(own, d));
    int status = broad__spd_factor(&b->spd, b->device, b->matrix, p, lambda, 0);
    memset(b->w, 0, count * sizeof(double));
    for (int step = 0; status == BROAD_OK && step <= REFINEMENTS; step++) {
        memcpy(b->residual, b->right, count * sizeof(long double));
        subtract_product(b->residual, stats, own, own, b->w);
        for (size_t i = 0; i < count; i++) b->change[i] = (double)(b->residual[i] - (long double)lambda * b->w[i]);
        status = broad__spd_solve(b->change, stats->outputs, &b->spd);
        for (size_t i = 0; status == BROAD_OK && i < count; i++) b->w[i] += b->change[i];
    }
    return status;
}

/* ||E_j||^2 = ||E_{j-1}||^2 - tr(W'(2 right - C_jj W)) */
static long double square_after(bench *b, const broad_stats *stats, const columns *own, long double before)
{
    size_t count = own->width * stats->outputs;
    for (size_t i = 0; i < count; i++) b->residual[i] = 2 * b->right[i];
    subtract_product(b->residual, stats, own, own, b->w);
    for (size_t i = 0; i < count; i++) before -= b->residual[i] * b->w[i];
    return before > 0 ? before : 0;
}

/* The record of a layer that was solved again: its bound is relaxed as far as the new rows require. */
static void certify_again(broad__layer *layer, const broad_model *model, size_t j, size_t rows, double before,
                          double after)
{
    broad__certificate *c = &layer->certificate;
    c->first_row = 0;
    c->rows = rows;
    c->norm_before = before;
    c->norm_after = after;
    c->ratio = c->tested = before > 0 ? after / before : 0;
    c->solved_again = 1;
    if (c->test != BROAD_SUPERVISE_NONE) c->test = BROAD_SUPERVISE_RESIDUAL;
    c->df_before = c->df = c->score = c->penalty = 0; /* they need the rows */
    c->probes = 0;
    broad__bound bound = broad__schedule(&model->settings, j + 1, c->relaxed);
    while (c->ratio > bound.sum && c->relaxed < RELAXED_MAX)
        bound = broad__schedule(&model->settings, j + 1, ++c->relaxed);
    c->gamma = bound.gamma;
    c->mu = bound.mu;
    c->bound = bound.sum;
    c->passed = c->ratio <= bound.sum;
    broad__hash_text(c->weights, layer->output, layer->width * model->outputs * sizeof(double));
}

/* Sums that were not added up from rows, as those of a file may be, need not be those of any. */
static int check_finite(const bench *b, size_t count, long double square, size_t layer)
{
    int finite = isfinite((double)square) && square >= 0;
    for (size_t i = 0; i < count; i++) finite &= isfinite(b->w[i]) != 0;
    if (finite) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL,
                       "the sums give no finite weights for layer %zu, so that they cannot be those of the training "
                       "rows; learn with the training rows themselves",
                       layer + 1);
}

static int solve_all(const broad_stats *stats, broad_model *model)
{
    bench b;
    int status = bench_open(&b, model);
    broad__estimate_clear(model);
    long double square = (long double)stats->square[0] + stats->square[1];
    if (status == BROAD_OK) status = check_finite(&b, 0, square, 0);
    model->first_norm = (double)sqrtl(square);
    for (size_t j = 0; status == BROAD_OK && j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        columns own = columns_of(model, j);
        right_side(b.right, stats, model, j);
        status = solve_layer(&b, stats, &own, layer->certificate.lambda);
        if (status < 0) break;
        long double after = square_after(&b, stats, &own, square);
        status = check_finite(&b, own.width * stats->outputs, after, j);
        if (status < 0) break;
        if (after > square) { /* rounding left nothing of the solution */
            memset(b.w, 0, own.width * stats->outputs * sizeof(double));
            after = square;
        }
        memcpy(layer->output, b.w, own.width * stats->outputs * sizeof(double));
        certify_again(layer, model, j, stats->rows, (double)sqrtl(square), (double)sqrtl(after));
        square = after;
    }
    bench_close(&b);
    return status;
}

/* ---- learning -------------------------------------------------------------------------------------------------- */

static int widen(double **block, size_t rows, size_t old, size_t outputs)
{
    double *copy = broad__alloc_doubles(rows, outputs);
    if (!copy) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < rows; i++) memcpy(copy + i * outputs, *block + i * old, old * sizeof(double));
    broad__free(*block);
    *block = copy;
    return BROAD_OK;
}

static int add_classes(broad_stats *stats, size_t outputs)
{
    if (outputs == stats->outputs) return BROAD_OK;
    int status = widen(&stats->cross, stats->nodes, stats->outputs, outputs);
    if (status == BROAD_OK) status = widen(&stats->cross_low, stats->nodes, stats->outputs, outputs);
    if (status == BROAD_OK) stats->outputs = outputs;
    return status;
}

int broad__stats_belong(const broad_stats *stats, const broad_model *model)
{
    char hash[33];
    int status = stats_hash(hash, model);
    if (status < 0) return status;
    if (strcmp(hash, stats->model) == 0 && stats->nodes == broad__model_nodes(model) &&
        stats->outputs == model->outputs && stats->rows == model->rows)
        return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "the sums belong to another model, or to this one before it was grown");
}

/* Works on a copy of the model: the caller's changes only once everything has succeeded. If memory runs out after the
 * rows were added, the sums no longer belong to the model, and broad__stats_belong() says so from then on. */
int broad__stats_learn(broad_stats *stats, broad_model *model, const broad_data *rows, size_t threads)
{
    int status = check_served(model, rows);
    if (status == BROAD_OK) status = broad__stats_belong(stats, model);
    if (status == BROAD_OK) status = broad__model_fits(model, rows);
    broad_model *fresh = NULL;
    if (status == BROAD_OK) status = broad__model_copy(&fresh, model);
    if (status == BROAD_OK) status = broad__model_add_segment(fresh, rows, 0, rows->rows, 1);
    if (status == BROAD_OK) status = broad__model_add_classes(fresh, rows);
    if (status == BROAD_OK) status = add_classes(stats, fresh->outputs);
    if (status == BROAD_OK) status = add_rows(stats, fresh, rows, threads);
    if (status == BROAD_OK) status = solve_all(stats, fresh);
    if (status == BROAD_OK) status = stats_hash(stats->model, fresh);
    if (status == BROAD_OK) {
        broad_model old = *model;
        *model = *fresh;
        *fresh = old;
    }
    broad_model_free(fresh);
    return status;
}
