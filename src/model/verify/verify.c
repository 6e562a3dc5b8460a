/*
 * The certificate, checked again from the data. What is recomputed by separate code: the nodes (plain loops and the C
 * library's functions; nodes in single precision by the reference device, because there the order of the roundings is
 * part of what a node is), all sums over the rows and all solutions (reference device, no shards), and the scaling of a
 * row. What is the same code as in training: the draw of random weights and signs from the seed (rng/), the schedule of the
 * bounds and which sums may be in single precision (layer/supervise.c), the table's targets and fingerprints (data/),
 * and where the columns of scaled inputs lie (data/transform/scale.h). A fault in one of these is in both.
 *
 * What must hold, in this order:
 *   the rows are those the model was trained on (fingerprint), scaled as recorded
 *   every random weight is what the seed gives; feature weights that were fitted by an autoencoder or sampled at
 *   training rows, and the metric that nodes were drawn with, are taken as they are, and the verdict says so: the
 *   certificate is about the output weights, whatever the nodes
 *   every output weight is the one the record was made for (hash), and solves its ridge problem:
 *       K_j'(E_{j-1} - K_j W_j) = lambda W_j
 *   every bound follows from the schedule; every recorded ratio and tested value keeps its bound
 *   where layers were kept by the score of the chain, its degrees of freedom are those found here (verify_score.c)
 *   every recorded norm is the norm of the residual computed here, and that keeps the bound too
 *   ||E_last|| <= product of the bounds * ||E_0||, since the rows last changed
 *   joint weights, where there are any, are those of their record and solve their ridge problem over all nodes
 * Where all weights are solved for together, or again with every layer, the records are checked by following that from
 * the first layer on (verify_growth.c), and the weights by their one ridge problem (verify_joint.c). Rows that count
 * more or less than others have K and E multiplied by the root of that.
 */
#include "model/verify/verify.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "layer/supervise.h"
#include "model/kind.h"
#include "model/relevance.h"
#include "model/verify/verify_chain.h"
#include "model/verify/verify_growth.h"
#include "model/verify/verify_joint.h"
#include "model/verify/verify_nodes.h"
#include "model/verify/verify_records.h"
#include "model/verify/verify_scale.h"

/* Roots of what the rows count; none where all count alike. */
static int open_roots(broad__verification *v)
{
    const broad_data *data = v->data;
    const double *of_class = v->model->class_weights;
    const broad__segment *segments = v->model->segments;
    int weighted = data->weights || of_class;
    for (size_t s = 0; s < v->model->segment_count; s++) weighted |= segments[s].weight != 1;
    if (!weighted) return BROAD_OK;
    v->sqrt_weight = broad__alloc_doubles(data->rows, 1);
    if (!v->sqrt_weight) return BROAD_NO_MEMORY;
    for (size_t s = 0, row = 0; s < v->model->segment_count; s++)
        for (size_t i = 0; i < segments[s].rows; i++, row++)
            v->sqrt_weight[row] = sqrt(segments[s].weight * (data->weights ? data->weights[row] : 1) *
                                       (of_class ? of_class[data->classes[row]] : 1));
    return BROAD_OK;
}

static int open_rows(broad__verification *v)
{
    const broad_model *model = v->model;
    size_t rows = v->data->rows;
    v->features = broad__model_feature_nodes(model, model->group_count);
    v->z = broad__alloc_doubles(rows, v->features);
    v->e = broad__alloc_doubles(rows, model->outputs);
    double *x = broad__alloc_doubles(broad__model_columns(model), 1);
    int status = v->z && v->e && x ? open_roots(v) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) broad__verify_targets(v->e, v);
    for (size_t i = v->first; status == BROAD_OK && i < v->end; i++)
        broad__verify_features(v, v->z + i * v->features, x, i);
    broad__free(x);
    return status;
}

/* Fits that are followed layer by layer, and layers with more columns than rows, take all rows of K at a time. */
static int divides(const broad__verification *v)
{
    const broad_model *model = v->model;
    broad__fitting fitting = broad__fitting_of(&model->settings);
    if (fitting == BROAD__FIT_STEPWISE || fitting == BROAD__FIT_WINDOW) return 0;
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].certificate.rows < model->layers[j].width) return 0;
    return broad__comm_divides(v->data->rows);
}

static void deal_out(broad__verification *v)
{
    v->end = v->data->rows;
    v->divided = divides(v);
    if (v->divided) broad__comm_own_rows(&v->first, &v->end, v->data->rows);
}

static int check_fitting(broad__verification *v, double *norm, int *out_holds)
{
    switch (broad__fitting_of(&v->model->settings)) {
    case BROAD__FIT_AT_ONCE: return broad__verify_at_once(v, norm, out_holds);
    case BROAD__FIT_STEPWISE: return broad__verify_stepwise(v, norm, out_holds);
    case BROAD__FIT_WINDOW: return broad__verify_window(v, norm, out_holds);
    case BROAD__FIT_CHAIN:
    case BROAD__FIT_FINALLY: break;
    }
    return broad__verify_chain(v, norm, out_holds);
}

/* The bounds and the norms since the rows last changed. Where the weights were solved for at once, each record
 * describes the whole network, and the first suffices. */
static int check_product(broad__verification *v, double norm, int holds)
{
    const broad_model *model = v->model;
    broad_verdict *verdict = v->verdict;
    double first = model->first_norm;
    int at_once = broad__fitting_of(&model->settings) == BROAD__FIT_AT_ONCE;
    verdict->product_bound = 1;
    for (size_t j = 0; j < model->layer_count && !(at_once && j); j++) {
        const broad__certificate *c = &model->layers[j].certificate;
        if (broad__verify_new_rows(model, j)) {
            verdict->product_bound = 1;
            verdict->since_layer = j + 1;
            first = c->norm_before;
        }
        verdict->product_bound *= broad__verify_ratio_bound(c);
    }
    verdict->reached = first > 0 ? norm / first : 0;
    if (!holds || verdict->reached <= verdict->product_bound * (1 + BROAD__TOLERANCE) + BROAD__FLOOR) return holds;
    return broad__refuse(verdict, 0,
                         "from layer %zu on the norm fell to %.9g of what it was, the product of the bounds is %.9g",
                         verdict->since_layer, verdict->reached, verdict->product_bound);
}

/* What is taken as it is stored. */
static void note_stored(broad_verdict *out, const broad_model *model)
{
    for (size_t g = 0; g < model->group_count; g++)
        out->stored_groups += model->groups[g].source == BROAD__WEIGHT_SOURCE_AUTOENCODER ||
                              model->groups[g].source == BROAD__WEIGHT_SOURCE_SAMPLED;
    out->stored_metric = broad__relevance_form(model) != BROAD_METRIC_FORM_NONE;
}

/* Rows that ||E_0|| was computed on. */
static size_t first_rows(const broad_model *model)
{
    if (!model->layer_count || broad__fitting_of(&model->settings) == BROAD__FIT_AT_ONCE)
        return model->segments[0].rows;
    return model->layers[0].certificate.rows;
}

static int check_layers(broad__verification *v)
{
    const broad_model *model = v->model;
    int holds = 1, status = open_rows(v);
    if (status < 0) return status;
    double norm = broad__verify_norm_of(v, &(broad__certificate){.rows = first_rows(model)});
    if (!(fabs(norm - model->first_norm) <= BROAD__TOLERANCE * model->first_norm)) {
        broad__refuse(v->verdict, 0, "the targets have norm %.12g, recorded is %.12g", norm, model->first_norm);
        return BROAD_OK;
    }
    status = check_fitting(v, &norm, &holds);
    if (status == BROAD_OK) holds = check_product(v, norm, holds);
    if (status == BROAD_OK && holds && model->joint.present) status = broad__verify_joint(v, &holds);
    v->verdict->holds = status == BROAD_OK && holds;
    return status;
}

static int check_shape(const broad_model *model, const broad_data *data)
{
    if (data->inputs != model->inputs)
        return broad__fail(BROAD_BAD_DATA, "the data has %zu inputs, the model %zu", data->inputs, model->inputs);
    if (data->task != model->task || data->outputs != model->outputs)
        return broad__fail(BROAD_BAD_DATA,
                           "the data's targets are not those of the model: its certificate needs the training "
                           "rows with their targets");
    if (model->weight_name && !data->weights)
        return broad__fail(BROAD_BAD_DATA,
                           "the model was trained with weights of the rows from column '%s', and the data has none",
                           model->weight_name);
    if (model->settings.supervise == BROAD_SUPERVISE_GCV && model->group_name && !data->groups)
        return broad__fail(BROAD_BAD_DATA,
                           "the model was trained with groups of rows (column '%s'), and the data has none",
                           model->group_name);
    return BROAD_OK;
}

/* Whether the G of its layers was summed in single precision, which 0.1 did for some of the models that it trained so. */
static int summed_in_single(const broad_options *o)
{
    int residual = o->supervise == BROAD_SUPERVISE_RESIDUAL || o->supervise == BROAD_SUPERVISE_NONE;
    return o->precision == BROAD_PRECISION_FLOAT && residual && !o->lambda_auto && o->weights == BROAD_WEIGHTS_CHAIN;
}

int broad__verify(broad_verdict *out, const broad_model *model, const broad_data *data, size_t threads)
{
    broad__verification v = {.model = model, .data = data, .verdict = out, .rounding = BROAD__ROUNDING};
    if (summed_in_single(&model->settings)) v.rounding = (double)FLT_EPSILON;
    memset(out, 0, sizeof *out);
    note_stored(out, model);
    int holds = 0, status = check_shape(model, data);
    deal_out(&v);
    if (status == BROAD_OK && !v.divided) status = broad__table_gather(data);
    if (status == BROAD_OK) status = broad__pool_open(&v.pool, threads);
    if (status == BROAD_OK) status = broad__verify_rows(&v, &holds);
    if (status == BROAD_OK && holds) holds = broad__verify_scaling(&v);
    if (status == BROAD_OK && holds) status = broad__verify_draws(&v, &holds);
    if (status == BROAD_OK && holds) status = check_layers(&v);
    broad__pool_close(v.pool);
    broad__free(v.z);
    broad__free(v.sqrt_weight);
    broad__free(v.e);
    return status;
}
