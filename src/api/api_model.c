/* Entry points of broad.h: training, prediction, judging. Thin: arguments are checked here, the work is done below. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "compute/shards.h"
#include "metric/metric.h"
#include "model/kind.h"
#include "model/predict/curve.h"
#include "model/predict/estimate.h"
#include "model/predict/predict.h"
#include "model/train/correct.h"
#include "model/train/prepare_photos.h"
#include "model/train/train.h"
#include "model/train/train_open.h"
#include "model/verify/verify.h"

#ifndef BROAD_VERSION
#define BROAD_VERSION "unknown"
#endif

const char *broad_version(void) { return BROAD_VERSION; }

static int missing_argument(const char *function)
{
    return broad__fail(BROAD_USAGE, "%s: an argument is NULL", function);
}

int broad_fit(broad_model **out, const broad_data *data, const broad_options *options, broad_seconds *seconds)
{
    if (!out || !data || !options) return missing_argument("broad_fit");
    *out = NULL;
    broad_trainer *trainer = NULL;
    broad__profile_scope before = broad__profile_enter(options->profile);
    int status = broad__trainer_open_photos(&trainer, data, options);
    if (status == BROAD_OK) status = broad__trainer_enhance(trainer, options->enhance_nodes, options->enhance_layers);
    if (seconds && trainer) *seconds = broad_trainer_seconds(trainer);
    broad__trainer_close(status == BROAD_OK ? out : NULL, trainer);
    broad__profile_leave(before);
    return status;
}

/* ---- what a model is ------------------------------------------------------------------------------------------- */

size_t broad_model_layers(const broad_model *model) { return model->layer_count; }
broad_kind broad_model_kind(const broad_model *model) { return model->settings.kind; }
broad_precision broad_model_precision(const broad_model *model) { return model->settings.precision; }
broad_task broad_model_task(const broad_model *model) { return model->task; }
broad_outcome broad_model_outcome(const broad_model *model) { return model->outcome; }
const char *broad_model_reason(const broad_model *model) { return model->reason; }
uint64_t broad_model_seed(const broad_model *model) { return model->settings.seed; }
size_t broad_model_rows(const broad_model *model) { return model->rows; }
size_t broad_model_inputs(const broad_model *model) { return model->inputs; }
size_t broad_model_outputs(const broad_model *model) { return model->outputs; }
size_t broad_model_positive(const broad_model *model) { return model->positive; }

size_t broad_model_nodes(const broad_model *model) { return broad__model_nodes(model); }

double broad_model_relevance(const broad_model *model, size_t input)
{
    size_t columns = broad__model_columns(model), count = 0;
    double sum = 0;
    for (size_t j = input; model->relevance && model->inputs && j < columns; j += model->inputs, count++)
        sum += model->relevance[j] * model->relevance[j];
    return count ? sqrt(sum / (double)count) : 1;
}

double broad_model_feature_range(const broad_model *model)
{
    return model->group_count ? model->range * model->groups[0].range : model->range;
}

const char *broad_model_input_name(const broad_model *model, size_t input)
{
    return input < model->inputs ? model->input_names[input] : "";
}

const char *broad_model_output_name(const broad_model *model, size_t output)
{
    return output < model->outputs ? model->output_names[output] : "";
}

/* Static texts, so that a broad_layer may outlive its model; in the order of their choice lists. */
static const char *const origin_names[] = {"initial", "enhance", "features", "data", "forgetful"};
static const char *const test_names[] = {"residual", "loo", "operator", "none", "output"};

int broad_model_layer(broad_layer *out, const broad_model *model, size_t layer)
{
    if (!out || !model) return missing_argument("broad_model_layer");
    if (layer >= model->layer_count)
        return broad__fail(BROAD_USAGE, "broad_model_layer: layer %zu of %zu", layer, model->layer_count);
    const broad__layer *from = &model->layers[layer];
    const broad__certificate *c = &from->certificate;
    *out = (broad_layer){
        .width = from->width,
        .first_row = c->first_row,
        .rows = c->rows,
        .origin = origin_names[c->origin],
        .gamma = c->gamma,
        .mu = c->mu,
        .bound = c->bound,
        .norm_before = c->norm_before,
        .norm_after = c->norm_after,
        .ratio = c->ratio,
        .tested = c->tested,
        .lambda = c->lambda,
        .range = c->range,
        .tries = c->tries,
        .relaxed = c->relaxed,
        .test = test_names[c->test],
        .passed = c->passed,
    };
    return BROAD_OK;
}

int broad_model_estimate(broad_estimate *out, const broad_model *model)
{
    if (!out || !model) return missing_argument("broad_model_estimate");
    const broad__estimate *from = &model->estimate;
    *out = (broad_estimate){
        .known = from->rows > 0,
        .rows = from->rows,
        .accuracy = from->accuracy,
        .brier = from->brier,
        .calibration_error = from->calibration_error,
        .rmse = from->rmse,
        .mae = from->mae,
        .r2 = from->r2,
    };
    return BROAD_OK;
}

int broad_model_joint(broad_joint *out, const broad_model *model)
{
    if (!out || !model) return missing_argument("broad_model_joint");
    broad__fitting fitting = broad__fitting_of(&model->settings);
    *out = (broad_joint){0};
    if (model->joint.present) {
        *out = (broad_joint){1, model->joint.lambda, model->joint.norm};
    } else if (model->layer_count && (fitting == BROAD__FIT_AT_ONCE || fitting == BROAD__FIT_STEPWISE)) {
        const broad__certificate *last = &model->layers[model->layer_count - 1].certificate;
        *out = (broad_joint){1, last->lambda, last->norm_after};
    }
    return BROAD_OK;
}

int broad_model_can_correct(const broad_model *model) { return broad__model_can_correct(model); }

double broad_model_class_weight(const broad_model *model, size_t output)
{
    return model->class_weights && output < model->outputs ? model->class_weights[output] : 1;
}

/* ---- prediction ------------------------------------------------------------------------------------------------ */

int broad_predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride)
{
    if (!out || !model || (!x && rows)) return missing_argument("broad_predict");
    if (stride == 0) stride = model->inputs;
    if (stride < model->inputs)
        return broad__fail(BROAD_USAGE, "broad_predict: a stride of %zu for %zu inputs", stride, model->inputs);
    return broad__predict(out, model, x, rows, stride, 1);
}

int broad_predict_data(double *out, const broad_model *model, const broad_data *data, size_t threads)
{
    if (!out || !model || !data) return missing_argument("broad_predict_data");
    if (data->inputs != model->inputs)
        return broad__fail(BROAD_BAD_DATA, "the data has %zu inputs, the model %zu", data->inputs, model->inputs);
    return broad__predict(out, model, data->x, data->rows, data->inputs, threads);
}

int broad_predict_part(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count,
                       size_t threads)
{
    if (!out || !model || !data) return missing_argument("broad_predict_part");
    if (data->inputs != model->inputs)
        return broad__fail(BROAD_BAD_DATA, "the data has %zu inputs, the model %zu", data->inputs, model->inputs);
    if (first > data->rows || count > data->rows - first)
        return broad__fail(BROAD_USAGE, "broad_predict_part: rows %zu to %zu of %zu", first + 1, first + count,
                           data->rows);
    const double *x = data->x + first * data->inputs;
    int status = broad__predict(out, model, x, count, data->inputs, threads);
    broad__spill_done(data->spill, x, count * data->inputs * sizeof *x);
    if (status != BROAD_BAD_DATA || first == 0) return status;
    char reason[512];
    snprintf(reason, sizeof reason, "%s", broad_error_message());
    return broad__fail(status, "of the rows after the first %zu: %s", first, reason);
}

size_t broad_best_class(const broad_model *model, const double *scores)
{
    return broad__largest(scores, model->outputs);
}

int broad_probabilities(double *out, const broad_model *model, const double *scores, size_t rows)
{
    if (!model || ((!out || !scores) && rows)) return missing_argument("broad_probabilities");
    broad__confidence confidence = broad__confidence_of(model);
    return broad__probabilities(out, &confidence, scores, rows);
}

int broad_interval(double *out, const broad_model *model, double level)
{
    if (!out || !model) return missing_argument("broad_interval");
    broad__confidence confidence = broad__confidence_of(model);
    return broad__interval(out, &confidence, level);
}

/* Rows that are judged at a time: whole blocks, whose inputs and scores take about four million bytes. */
static size_t rows_at_once(const broad_model *model)
{
    size_t blocks = (4u << 20) / ((model->inputs + model->outputs) * sizeof(double)) / BROAD__BLOCK_ROWS;
    return (blocks ? blocks : 1) * BROAD__BLOCK_ROWS;
}

/* Predicts and judges piece by piece. */
static int judge_rows(broad__judge *judge, const broad_model *model, const broad_data *data, size_t threads)
{
    size_t most = rows_at_once(model);
    double *scores = broad__alloc_doubles(most < data->rows ? most : data->rows, model->outputs);
    int status = scores ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t first = 0; status == BROAD_OK && first < data->rows; first += most) {
        size_t count = data->rows - first < most ? data->rows - first : most;
        status = broad_predict_part(scores, model, data, first, count, threads);
        if (status == BROAD_OK) broad__judge_add(judge, scores, first, count);
    }
    broad__free(scores);
    return status;
}

/* level 0: the usual one, if there is any. */
static int evaluate(broad_metrics *out, const broad_model *model, const broad_data *data, double level, size_t threads)
{
    if (data->task != model->task || data->outputs != model->outputs)
        return broad__fail(BROAD_BAD_DATA, "the data's targets are not those of the model");
    broad__judge judge;
    int status = broad__judge_open(&judge, model, data, level);
    if (status < 0) return status;
    status = judge_rows(&judge, model, data, threads);
    if (status == BROAD_OK) broad__judge_measure(out, &judge);
    broad__judge_close(&judge);
    return status;
}

int broad_eval(broad_metrics *out, const broad_model *model, const broad_data *data, size_t threads)
{
    if (!out || !model || !data) return missing_argument("broad_eval");
    memset(out, 0, sizeof *out);
    return evaluate(out, model, data, 0, threads);
}

int broad_eval_level(broad_metrics *out, const broad_model *model, const broad_data *data, double level, size_t threads)
{
    if (!out || !model || !data) return missing_argument("broad_eval_level");
    memset(out, 0, sizeof *out);
    if (!(level > 0 && level < 1))
        return broad__fail(BROAD_USAGE, "broad_eval_level: a level of %g; give one between 0 and 1, such as 0.9",
                           level);
    return evaluate(out, model, data, level, threads);
}

void broad_metrics_clear(broad_metrics *metrics)
{
    if (!metrics) return;
    broad__free(metrics->confusion);
    memset(metrics, 0, sizeof *metrics);
}

int broad_model_curve(broad_curve_point *out, const broad_model *model, const broad_data *data, size_t threads)
{
    if (!out || !model || !data) return missing_argument("broad_model_curve");
    return broad__model_curve(out, model, data, threads);
}

int broad_model_curve_loo(broad_curve_point *out, const broad_model *model, const broad_data *training, size_t threads)
{
    if (!out || !model || !training) return missing_argument("broad_model_curve_loo");
    int status = broad__model_curve(out, model, training, threads);
    return status == BROAD_OK ? broad__model_curve_loo(out, model, training, threads) : status;
}

int broad_verify(broad_verdict *out, const broad_model *model, const broad_data *training, size_t threads)
{
    if (!out || !model || !training) return missing_argument("broad_verify");
    return broad__verify(out, model, training, threads);
}
