#include "model/train/output_weights.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/status.h"
#include "base/watch.h"
#include "layer/score.h"
#include "model/kind.h"
#include "model/predict/estimate.h"
#include "model/train/budget.h"
#include "model/train/train_layers.h"

static void hash_layer(broad__layer *layer, size_t outputs)
{
    broad__hash_text(layer->certificate.weights, layer->output, layer->width * outputs * sizeof(double));
}

/* The kblocks of the layers from `first` on. NULL: out of memory. */
static broad__kblock *list_pieces(const broad_model *model, size_t first)
{
    broad__kblock *kblocks = broad__alloc_array(model->layer_count - first, sizeof *kblocks);
    for (size_t j = first; kblocks && j < model->layer_count; j++) kblocks[j - first] = broad__model_kblock(model, j);
    return kblocks;
}

/* Weights of the layers from `first` on, one after the other, to and from one block. */
static void put_outputs(broad_model *model, size_t first, const double *w)
{
    for (size_t j = first; j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        size_t count = layer->width * model->outputs;
        memcpy(layer->output, w, count * sizeof(double));
        hash_layer(layer, model->outputs);
        w += count;
    }
}

static void get_outputs(double *w, const broad_model *model, size_t first)
{
    for (size_t j = first; j < model->layer_count; j++) {
        size_t count = model->layers[j].width * model->outputs;
        memcpy(w, model->layers[j].output, count * sizeof(double));
        w += count;
    }
}

static size_t width_from(const broad_model *model, size_t first)
{
    size_t width = 0;
    for (size_t j = first; j < model->layer_count; j++) width += model->layers[j].width;
    return width;
}

/* Recomputes the residual of the validation rows: earlier weights have changed. */
static int follow_check(broad_trainer *t)
{
    if (!t->validation.part_count) return BROAD_OK;
    int status = broad__rowset_restart(&t->validation);
    for (size_t j = 0; status == BROAD_OK && j < t->model->layer_count; j++)
        status = broad__rowset_follow(&t->validation, j);
    return status;
}

/* ---- with every layer ------------------------------------------------------------------------------------------ */

int broad__outputs_prepare(broad_trainer *t)
{
    broad_model *model = t->model;
    broad__residual *residual = &t->train.residual;
    t->joint.left = 0;
    if (broad__fitting_of(&model->settings) != BROAD__FIT_STEPWISE) return BROAD_OK;
    size_t columns = width_from(model, 0);
    if (t->qr.h && t->qr.rows == residual->rows && t->qr.columns == columns && t->qr.outputs == residual->outputs)
        return BROAD_OK;
    broad__growing_qr_clear(&t->qr);
    int status = broad__growing_qr_open(&t->qr, residual->rows, residual->outputs, t->train.y);
    if (status == BROAD_OK) status = broad__rowset_restart(&t->train);
    for (size_t j = 0; status == BROAD_OK && j < model->layer_count; j++) {
        broad__kblock kblock = broad__model_kblock(model, j);
        status = broad__candidate_nodes(residual, &kblock, 1);
        if (status == BROAD_OK)
            status = broad__growing_qr_try(&t->qr, residual, t->train.y, model->layers[0].certificate.lambda);
        double norm = t->qr.trial_norm;
        if (status == BROAD_OK) status = broad__growing_qr_accept(&t->qr);
        if (status == BROAD_OK) broad__residual_commit(residual, norm);
    }
    return status;
}

static int follow_stepwise(broad_trainer *t)
{
    double *w = broad__alloc_doubles(t->qr.columns, t->qr.outputs);
    if (!w) return BROAD_NO_MEMORY;
    int status = broad__growing_qr_weights(w, &t->qr, t->train.y);
    if (status == BROAD_OK) put_outputs(t->model, 0, w);
    broad__free(w);
    return status;
}

/* First of the last layers that have `window` nodes together. */
static size_t window_first(const broad_model *model)
{
    size_t first = model->layer_count - 1, nodes = model->layers[first].width;
    while (first && nodes + model->layers[first - 1].width <= model->settings.window)
        nodes += model->layers[--first].width;
    return first;
}

/* The window's layers are added back to E; then all of them are fitted to it together. Where rounding makes that
 * worse, everything stays as it was. */
static int solve_window(broad_trainer *t, const broad__kblock *kblocks, size_t first, double *w)
{
    broad_model *model = t->model;
    broad__residual *residual = &t->train.residual;
    broad__ridge *ridge = &t->search.ridge;
    broad__certificate *record = &model->layers[model->layer_count - 1].certificate;
    broad__ridge_request request = {.lambda = record->lambda};
    size_t count = model->layer_count - first;
    int status = broad__candidate_nodes(residual, kblocks, count);
    if (status == BROAD_OK) {
        broad__residual_commit(residual, broad__residual_shift(residual, 1.0, w));
        status = broad__candidate_compute(residual, kblocks, count);
    }
    if (status == BROAD_OK) status = broad__ridge_solve(ridge, residual, &request);
    if (status == BROAD_OK) status = broad__ridge_finish(ridge, residual);
    if (status < 0) return status;
    if (ridge->norm <= record->norm_after) {
        put_outputs(model, first, ridge->w);
        record->norm_after = ridge->norm;
        record->ratio = record->norm_after / record->norm_before;
        broad__residual_commit(residual, ridge->norm);
    } else {
        broad__residual_commit(residual, broad__residual_next(residual, w));
    }
    return BROAD_OK;
}

static int follow_window(broad_trainer *t)
{
    broad_model *model = t->model;
    size_t first = window_first(model);
    if (first + 1 == model->layer_count) return BROAD_OK;
    broad__kblock *kblocks = list_pieces(model, first);
    double *w = broad__alloc_doubles(width_from(model, first), model->outputs);
    int status = kblocks && w ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        get_outputs(w, model, first);
        status = solve_window(t, kblocks, first, w);
    }
    broad__free(kblocks);
    broad__free(w);
    return status;
}

int broad__outputs_follow(broad_trainer *t)
{
    int status = BROAD_OK;
    switch (broad__fitting_of(&t->model->settings)) {
    case BROAD__FIT_STEPWISE: status = follow_stepwise(t); break;
    case BROAD__FIT_WINDOW: status = follow_window(t); break;
    case BROAD__FIT_FINALLY:
        if (t->model->layer_count == 1) status = broad__joint_adopt(&t->joint, &t->train.residual);
        if (status < 0) return status;
        /* fall through */
    case BROAD__FIT_CHAIN:
        return t->validation.part_count ? broad__rowset_follow(&t->validation, t->model->layer_count - 1) : BROAD_OK;
    case BROAD__FIT_AT_ONCE: return BROAD_OK;
    }
    return status == BROAD_OK ? follow_check(t) : status;
}

/* ---- at the end ------------------------------------------------------------------------------------------------ */

/* The joint weights predict in place of the chain's, which stay: growing goes on from them. */
static int keep_beside(broad_trainer *t)
{
    broad_model *model = t->model;
    const double *w = t->joint.w;
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        size_t count = layer->width * model->outputs;
        if (!layer->joint) layer->joint = broad__alloc_doubles(layer->width, model->outputs);
        if (!layer->joint) return BROAD_NO_MEMORY;
        memcpy(layer->joint, w, count * sizeof(double));
        w += count;
    }
    model->joint = (broad__joint_record){.present = 1, .lambda = t->joint.lambda, .norm = t->joint.norm};
    broad__hash_text(model->joint.weights, t->joint.w, t->joint.columns * model->outputs * sizeof(double));
    return BROAD_OK;
}

/* What rounding may do to a norm, as parts of itself and of the first norm. */
static const double NORM_ROUNDING = 1e-8, NORM_FLOOR = 1e-11;

static int fail_singular(double lambda, double found, double expected)
{
    return broad__fail(
        BROAD_FAILED,
        "the ridge parameter %g is too small for these rows: the nodes depend on each other, and the weights that were "
        "solved for leave the norm %g where %g was expected; give a larger value (option lambda), such as 1e-6, or "
        "auto",
        lambda, found, expected);
}

static int fail_rounding(double lambda, double largest)
{
    return broad__fail(
        BROAD_FAILED,
        "the ridge parameter %g is too small for these rows: the nodes depend on each other, and the weights that were "
        "solved for are so large, up to %g, that rounding decides what they leave; give a larger value (option "
        "lambda), "
        "such as 1e-6, or auto",
        lambda, largest);
}

/* Large weights that cancel: what they leave depends on the order in which products are added. */
static int check_size(const broad_trainer *t, double allowed)
{
    const broad_model *model = t->model;
    double square = 0, largest = 0;
    for (size_t c = 0; c < model->outputs; c++) {
        double sum = 0;
        for (size_t j = 0; j < model->layer_count; j++)
            for (size_t i = 0; i < model->layers[j].width; i++) {
                double weight = fabs(model->layers[j].output[i * model->outputs + c]);
                sum += weight;
                largest = fmax(largest, weight);
            }
        square += sum * sum;
    }
    double rounding = broad__growing_qr_rounding(square, t->qr.size, t->qr.columns);
    return rounding > allowed ? fail_rounding(t->qr.lambda, largest) : BROAD_OK;
}

/* Where lambda is next to nothing, what the weights leave is computed from the rows themselves. */
static int check_stepwise(broad_trainer *t)
{
    broad_model *model = t->model;
    broad__residual *residual = &t->train.residual;
    double expected = model->layers[model->layer_count - 1].certificate.norm_after;
    double allowed = NORM_ROUNDING * expected + NORM_FLOOR * model->first_norm;
    if (!broad__growing_qr_negligible(t->qr.lambda, t->qr.size, t->qr.columns)) return BROAD_OK;
    int status = check_size(t, allowed);
    if (status == BROAD_OK) status = broad__rowset_restart(&t->train);
    for (size_t j = 0; status == BROAD_OK && j < model->layer_count; j++) status = broad__rowset_follow(&t->train, j);
    if (status) return status;
    if (fabs(residual->norm - expected) <= allowed) return BROAD_OK;
    return fail_singular(t->qr.lambda, residual->norm, expected);
}

/* They are the only weights; each block's record describes the whole network. */
static int keep_instead(broad_trainer *t, double before)
{
    broad_model *model = t->model;
    if (t->joint.norm > before * (1 + NORM_ROUNDING)) return fail_singular(t->joint.lambda, t->joint.norm, before);
    t->joint.norm = fmin(t->joint.norm, before); /* weights of 0 would leave as much */
    put_outputs(model, 0, t->joint.w);
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__certificate *c = &model->layers[j].certificate;
        c->first_row = 0;
        c->rows = t->train.residual.rows;
        c->lambda = t->joint.lambda;
        c->norm_before = before;
        c->norm_after = t->joint.norm;
        c->ratio = c->tested = before > 0 ? t->joint.norm / before : 0;
    }
    broad__residual_commit(&t->train.residual, t->joint.norm);
    return follow_check(t);
}

static double targets_square(const broad__rowset *rowset)
{
    double square = 0;
    broad__page_cursor read = {0};
    for (size_t i = 0; i < rowset->residual.rows * rowset->residual.outputs; i++) {
        square += rowset->y[i] * rowset->y[i];
        broad__page_cursor_step(&read, rowset->storage.spill, &rowset->y[i], sizeof *rowset->y);
    }
    return square;
}

/* Whether the sums over all rows can be added up in the memory of a device of its own. */
static int may_go_far(const broad_trainer *t)
{
    size_t rows = t->train.residual.rows;
    return (t->joint.rows == 0 || t->joint.rows == rows) && rows >= width_from(t->model, 0);
}

/* Whether the last search has found the only layer there is, and nothing has been solved for since. */
static int is_first_alone(const broad_trainer *t)
{
    return t->found.passed && t->model->layer_count == 1 && t->joint.rows == t->train.residual.rows && !t->joint.w;
}

static int solve_joint(broad_trainer *t, broad__fitting fitting)
{
    const broad_options *o = &t->model->settings;
    broad__kblock *kblocks = list_pieces(t->model, 0);
    double exponent = t->model->exponent;
    if (!kblocks) return BROAD_NO_MEMORY;
    broad__joint_task task = {.residual = &t->train.residual,
                              .y = t->train.y,
                              .kblocks = kblocks,
                              .count = t->model->layer_count,
                              .lambda_auto = o->lambda_auto && !t->lambda_fixed,
                              .lambda = t->lambda_fixed ? t->lambda : o->lambda,
                              .exponent = &exponent,
                              .loo = o->loo != BROAD_LOO_NO};
    /* The memory of the search for layers is as large as what follows, and no longer needed. */
    broad__residual_forget(&t->train.residual);
    if (is_first_alone(t) && task.lambda_auto && !(t->run.memory > 0))
        broad__joint_adopt_factor(&t->joint, &t->search.ridge.spd);
    broad__spd_clear(&t->search.ridge.spd);
    broad__budget_joint(t);
    int status = may_go_far(t) ? broad__far_send(task.residual, width_from(t->model, 0)) : BROAD_OK;
    if (status == BROAD_OK)
        status =
            broad__trainer_report(t, "joint weights", 0) ? broad__watch_stop() : broad__joint_fit(&t->joint, &task);
    broad__free(kblocks);
    if (status == BROAD_OK)
        status = fitting == BROAD__FIT_AT_ONCE ? keep_instead(t, sqrt(targets_square(&t->train))) : keep_beside(t);
    int fetched = broad__far_fetch(&t->train.residual);
    return status == BROAD_OK ? fetched : status;
}

/* ---- the estimate ---------------------------------------------------------------------------------------------- */

/* The training rows as one table. *out_owned is to be freed. */
static int training_table(const broad_data **out, broad_data **out_owned, const broad__rowset *rowset)
{
    int status = BROAD_OK;
    *out_owned = NULL;
    *out = rowset->parts[0].data;
    if (rowset->part_count == 1) return BROAD_OK;
    for (size_t i = 1; status == BROAD_OK && i < rowset->part_count; i++) {
        broad_data *joined = NULL;
        if (rowset->parts[i].first) continue; /* continues in a table that is in memory as a whole */
        status = broad__table_append(&joined, *out, rowset->parts[i].data);
        broad__table_free(*out_owned);
        *out_owned = joined;
        *out = joined;
    }
    return status;
}

/* Leave-one-out of rows that a learned metric has seen is too good by this much, as other rows have shown: the residuals
 * become larger. scores: of the network's units. */
static void enlarge(broad_trainer *t, const size_t *rows, size_t count, double *scores)
{
    const broad__residual *residual = &t->train.residual;
    size_t c = residual->outputs;
    double factor = sqrt(t->model->optimism);
    if (!(factor > 1)) return;
    for (size_t i = 0; i < count; i++) {
        size_t row = rows ? rows[i] : i;
        double root = residual->sqrt_weight ? residual->sqrt_weight[row] : 1;
        for (size_t j = 0; root > 0 && j < c; j++) {
            double y = t->train.y[row * c + j] / root;
            scores[i * c + j] = y - factor * (y - scores[i * c + j]);
        }
    }
}

/* scores: of the network's units, turned into those of the targets. */
static int make_estimate(broad_trainer *t, const size_t *rows, size_t count, double *scores)
{
    const broad_model *model = t->model;
    const broad_data *table = NULL;
    broad_data *owned = NULL;
    enlarge(t, rows, count, scores);
    for (size_t i = 0; i < count * model->outputs; i++)
        scores[i] = scores[i] / model->output_factor[i % model->outputs] + model->output_shift[i % model->outputs];
    int status = training_table(&table, &owned, &t->train);
    if (status == BROAD_OK) status = broad__estimate_make(t->model, table, rows, count, scores);
    broad__table_free(owned);
    return status;
}

/* From the leverages of the growing fit: every row. */
static int estimate_stepwise(broad_trainer *t)
{
    const broad__residual *residual = &t->train.residual;
    double *scores = broad__alloc_doubles(residual->rows, residual->outputs);
    if (!scores) return BROAD_NO_MEMORY;
    int status = broad__growing_qr_leave_out(scores, &t->qr, residual, t->train.y);
    if (status == BROAD_OK) status = make_estimate(t, NULL, residual->rows, scores);
    broad__free(scores);
    return status;
}

/* Rows that an estimate is made of at most. */
enum { ESTIMATE_ROWS = 10000 };
/* What a degree of freedom counts in it: with this intervals cover what they should, with more they are too wide. */
static const double ESTIMATE_PENALTY = 1.2;

/* From the score of a chain: each residual as large as cross-validation expects it to be. Rows of weight 0 say nothing. */
static int estimate_chain(broad_trainer *t)
{
    broad__residual *residual = &t->train.residual;
    size_t c = residual->outputs, step = (residual->rows + ESTIMATE_ROWS - 1) / ESTIMATE_ROWS, count = 0;
    double penalty = fmin(t->model->settings.penalty, ESTIMATE_PENALTY);
    double grown = broad__score(&residual->probes, 1, residual->probes.inner, penalty);
    if (!isfinite(grown)) return BROAD_OK; /* nothing is known of new rows */
    int status = broad__residual_gather(residual);
    if (status < 0) return status;
    size_t *rows = broad__alloc_array(residual->rows / step + 1, sizeof *rows);
    double *scores = broad__alloc_doubles(residual->rows / step + 1, c);
    for (size_t i = 0; rows && scores && i < residual->rows; i += step) {
        double root = residual->sqrt_weight ? residual->sqrt_weight[i] : 1;
        if (!(root > 0)) continue;
        for (size_t j = 0; j < c; j++)
            scores[count * c + j] = (t->train.y[i * c + j] - grown * residual->e[i * c + j]) / root;
        rows[count++] = i;
    }
    status = rows && scores ? make_estimate(t, rows, count, scores) : BROAD_NO_MEMORY;
    broad__free(rows);
    broad__free(scores);
    return status;
}

int broad__outputs_finish(broad_trainer *t)
{
    broad_model *model = t->model;
    const broad_options *o = &model->settings;
    broad__fitting fitting = broad__fitting_of(o);
    int joint = fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o);
    broad__estimate_clear(model);
    if ((model->layer_count == 0 && fitting != BROAD__FIT_CHAIN) || t->partial) return BROAD_OK;
    int status = joint ? solve_joint(t, fitting) : fitting == BROAD__FIT_STEPWISE ? check_stepwise(t) : BROAD_OK;
    if (status || o->loo == BROAD_LOO_NO) return status;
    if (joint) return make_estimate(t, t->joint.sample, t->joint.sample_count, t->joint.loo_scores);
    if (t->train.residual.probes.count && fitting == BROAD__FIT_CHAIN) return estimate_chain(t);
    return fitting == BROAD__FIT_STEPWISE ? estimate_stepwise(t) : BROAD_OK;
}

int broad__outputs_leave_out(double *out, broad_trainer *t)
{
    const broad_model *model = t->model;
    const broad__joint *joint = &t->joint;
    size_t c = model->outputs, rows = t->train.residual.rows;
    if (!model->joint.present || t->partial || model->settings.loo == BROAD_LOO_NO)
        return broad__fail(BROAD_USAGE,
                           "leaving rows out takes joint weights, all training rows and an estimate (--loo)");
    t->lambda_fixed = 1;
    t->lambda = model->joint.lambda;
    int status = broad__outputs_finish(t);
    t->lambda_fixed = 0;
    if (status) return status;
    for (size_t i = 0; i < rows * c; i++) out[i] = (double)NAN;
    for (size_t i = 0; i < joint->sample_count; i++)
        memcpy(out + joint->sample[i] * c, joint->loo_scores + i * c, c * sizeof *out);
    return BROAD_OK;
}
