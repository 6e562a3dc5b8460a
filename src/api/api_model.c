/* Entry points of broad.h: the model, its curve and its certificate. Arguments are checked here, the work is done below. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/api_check.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "metric/metric.h"
#include "model/kind.h"
#include "model/normal.h"
#include "model/predict/curve.h"
#include "model/predict/estimate.h"
#include "model/predict/predict.h"
#include "model/train/correct.h"
#include "model/verify/verify.h"

#ifndef BROAD_VERSION
#define BROAD_VERSION "unknown"
#endif

/* ---- what a model is ------------------------------------------------------------------------------------------- */

size_t broad_model_layers(const broad_model *model) { return model ? model->layer_count : 0; }
broad_kind broad_model_kind(const broad_model *model) { return model ? model->settings.kind : BROAD_KIND_BSCRLS; }
broad_precision broad_model_precision(const broad_model *model)
{
    return model ? model->settings.precision : BROAD_PRECISION_DOUBLE;
}
broad_task broad_model_task(const broad_model *model) { return model ? model->task : BROAD_TASK_AUTO; }
broad_outcome broad_model_outcome(const broad_model *model) { return model ? model->outcome : BROAD_OUTCOME_COMPLETE; }
const char *broad_model_reason(const broad_model *model) { return model ? model->reason : ""; }
uint64_t broad_model_seed(const broad_model *model) { return model ? model->settings.seed : 0; }
size_t broad_model_rows(const broad_model *model) { return model ? model->rows : 0; }
size_t broad_model_inputs(const broad_model *model) { return model ? model->inputs : 0; }
size_t broad_model_outputs(const broad_model *model) { return model ? model->outputs : 0; }
size_t broad_model_positive(const broad_model *model) { return model ? model->positive : 0; }
size_t broad_model_normal(const broad_model *model) { return model ? model->normal : 0; }

const char *broad_model_normal_reason(const broad_model *model)
{
    static const char *const reasons[] = {"by its name", "the most frequent", "the one that is not positive",
                                          "as given"};
    return model && model->task == BROAD_TASK_CLASSIFY ? reasons[model->normal_from] : "";
}

int broad_model_set_normal(broad_model *model, const char *label)
{
    if (!model || !label) return broad__missing_argument("broad_model_set_normal");
    return broad__model_set_normal(model, label);
}

size_t broad_model_nodes(const broad_model *model) { return model ? broad__model_nodes(model) : 0; }

double broad_model_feature_range(const broad_model *model)
{
    if (!model) return NAN;
    return model->group_count ? model->range * model->groups[0].range : model->range;
}

const char *broad_model_input_name(const broad_model *model, size_t input)
{
    return input < broad_model_inputs(model) ? model->input_names[input] : "";
}

const char *broad_model_output_name(const broad_model *model, size_t output)
{
    return output < broad_model_outputs(model) ? model->output_names[output] : "";
}

int broad_model_layer(broad_layer *out, const broad_model *model, size_t layer)
{
    if (!out || !model) return broad__missing_argument("broad_model_layer");
    int status = broad__struct_check(out, sizeof *out, "broad_layer");
    if (status < 0) return status;
    if (layer >= model->layer_count)
        return broad__fail(BROAD_USAGE, "broad_model_layer: layer %zu is out of range (the model has %zu)", layer,
                           model->layer_count);
    const broad__layer *from = &model->layers[layer];
    const broad__certificate *c = &from->certificate;
    broad_layer full = {
        .width = from->width,
        .first_row = c->first_row,
        .rows = c->rows,
        .origin = (broad_origin)c->origin,
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
        .test = c->test,
        .passed = c->passed,
        .df = c->df,
        .df_before = c->df_before,
        .df_error = c->probes ? sqrt(2 * c->df / (double)c->probes) : 0,
        .score = c->score,
        .penalty = c->penalty,
    };
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

int broad_model_joint(broad_joint *out, const broad_model *model)
{
    if (!out || !model) return broad__missing_argument("broad_model_joint");
    int status = broad__struct_check(out, sizeof *out, "broad_joint");
    if (status < 0) return status;
    broad__fitting fitting = broad__fitting_of(&model->settings);
    broad_joint full = {0};
    if (model->joint.present) {
        full = (broad_joint){.known = 1, .lambda = model->joint.lambda, .norm = model->joint.norm};
    } else if (model->layer_count && (fitting == BROAD__FIT_AT_ONCE || fitting == BROAD__FIT_STEPWISE)) {
        const broad__certificate *last = &model->layers[model->layer_count - 1].certificate;
        full = (broad_joint){.known = 1, .lambda = last->lambda, .norm = last->norm_after};
    }
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

int broad_model_can_correct(const broad_model *model) { return model && broad__model_can_correct(model); }

double broad_model_class_weight(const broad_model *model, size_t output)
{
    return model && model->class_weights && output < model->outputs ? model->class_weights[output] : 1;
}

/* ---- curve and certificate ------------------------------------------------------------------------------------- */

/* Into full points first: the caller's may have another size. */
static int curve(broad_curve_point *out, const broad_model *model, const broad_data *data, int loo,
                 const broad_run_options *run)
{
    broad__call call;
    int status = broad__struct_check(out, sizeof *out, "broad_curve_point");
    if (status == BROAD_OK) status = broad__call_begin(&call, "curve", run);
    if (status < 0) return status;
    size_t count = model->layer_count, stride = out->size, threads = call.run.threads;
    broad_curve_point *full = broad__alloc_array(count ? count : 1, sizeof *full);
    status = full ? broad__table_gather(data) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = broad__model_curve(full, model, data, threads);
    if (status == BROAD_OK && loo) status = broad__model_curve_loo(full, model, data, threads);
    for (size_t j = 0; j < count && status == BROAD_OK; j++)
        broad__options_give((char *)out + j * stride, stride, &full[j], sizeof full[j]);
    broad__free(full);
    return broad__call_end(&call, status);
}

int broad_model_curve(broad_curve_point *out, const broad_model *model, const broad_data *data,
                      const broad_run_options *run)
{
    if (!out || !model || !data) return broad__missing_argument("broad_model_curve");
    return curve(out, model, data, 0, run);
}

int broad_model_curve_loo(broad_curve_point *out, const broad_model *model, const broad_data *training,
                          const broad_run_options *run)
{
    if (!out || !model || !training) return broad__missing_argument("broad_model_curve_loo");
    return curve(out, model, training, 1, run);
}

int broad_verify(broad_verdict *out, const broad_model *model, const broad_data *training, const broad_run_options *run)
{
    if (!out || !model || !training) return broad__missing_argument("broad_verify");
    broad__call call;
    broad_verdict full;
    int status = broad__struct_check(out, sizeof *out, "broad_verdict");
    if (status == BROAD_OK) status = broad__call_begin(&call, "verify", run);
    if (status < 0) return status;
    status = broad__table_meet(training);
    if (status == BROAD_OK) status = broad__verify(&full, model, training, call.run.threads);
    status = broad__call_end(&call, status);
    if (status == BROAD_OK) broad__result_give(out, &full, sizeof full);
    return status;
}
