/* Entry points of broad.h: prediction and evaluation. Arguments are checked here, the work is done below. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/api_check.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "comm/comm.h"
#include "compute/device_choice.h"
#include "compute/shards.h"
#include "metric/metric.h"
#include "model/kind.h"
#include "model/predict/estimate.h"
#include "model/predict/predict.h"
#include "model/train/trainer.h"

/* ---- prediction ------------------------------------------------------------------------------------------------ */

int broad_predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride)
{
    if (!out || !model || (!x && rows)) return broad__missing_argument("broad_predict");
    if (stride == 0) stride = model->inputs;
    if (stride < model->inputs)
        return broad__fail(BROAD_USAGE, "broad_predict: the stride %zu is smaller than the %zu inputs", stride,
                           model->inputs);
    return broad__predict(out, model, x, rows, stride, 1, NULL);
}

/* Who predicts. */
typedef struct workers {
    size_t threads;
    const broad__device *device; /* held; NULL: the processor */
} workers;

/* To be closed. BROAD_USAGE, or the reason why there is no such device. */
static int workers_open(workers *out, size_t threads, broad_device device)
{
    *out = (workers){.threads = threads};
    if (device == BROAD_DEVICE_CPU) return BROAD_OK;
    if (device != BROAD_DEVICE_CUDA) return broad__fail(BROAD_USAGE, "there is no device number %d", (int)device);
    const broad__device *wanted = broad__device_named(device);
    int status = wanted->hold ? wanted->hold() : BROAD_OK;
    if (status == BROAD_OK) out->device = wanted;
    return status;
}

static void workers_close(const workers *w)
{
    if (w->device && w->device->release) w->device->release();
}

/* `count` rows from `first` on, by this process. */
static int predict_here(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count,
                        const workers *by)
{
    const double *x = data->x + first * data->inputs;
    int status = broad__predict(out, model, x, count, data->inputs, by->threads, by->device);
    broad__spill_done(data->spill, x, count * data->inputs * sizeof *x);
    if (status != BROAD_BAD_DATA || first == 0) return status;
    char reason[512];
    snprintf(reason, sizeof reason, "%s", broad_error_message());
    return broad__fail(status, "of the rows after the first %zu: %s", first, reason);
}

/* Rows that ranks have divided: each predicts its own. *out_done: all of them could; if not, all rows are brought together, and
 * predicting them in order tells what is wrong. */
static int predict_divided(int *out_done, double *out, const broad_model *model, const broad_data *data, size_t first,
                           size_t count, const workers *by)
{
    size_t from, end, c = model->outputs;
    broad__owned_rows(&from, &end, data->owned, first, count);
    int status = predict_here(out + (from - first) * c, model, data, from, end - from, by);
    *out_done = !broad__comm_most(status < 0);
    if (!*out_done) return broad__table_gather(data);
    return broad__owned_share(data->owned, out, first, count, c * sizeof *out);
}

/* The same, shared out over the ranks of the call. */
static int predict_part(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count,
                        const workers *by)
{
    int done = 0, met = broad__table_meet(data);
    if (met == BROAD_OK && broad__table_divided(data)) met = predict_divided(&done, out, model, data, first, count, by);
    if (met < 0 || done) return met;
    if (!broad__comm_divides(count)) return predict_here(out, model, data, first, count, by);
    size_t from, end, c = model->outputs;
    broad__comm_own_rows(&from, &end, count);
    int status = predict_here(out + from * c, model, data, first + from, end - from, by);
    int failed = broad__comm_most(status < 0);
    if (status == BROAD_OK && failed) status = broad__fail(BROAD_FAILED, "another rank could not predict its rows");
    return status == BROAD_OK ? broad__comm_share(out, count, c * sizeof *out) : status;
}

static int predict_by(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count,
                      const broad_run_options *run)
{
    workers by;
    int status = workers_open(&by, run->threads, run->device);
    if (status == BROAD_OK) status = predict_part(out, model, data, first, count, &by);
    workers_close(&by);
    return status;
}

static int check_inputs(const broad_model *model, const broad_data *data)
{
    if (data->inputs == model->inputs) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA, "the data has %zu inputs, the model %zu", data->inputs, model->inputs);
}

int broad_predict_data(double *out, const broad_model *model, const broad_data *data, const broad_run_options *run)
{
    if (!out || !model || !data) return broad__missing_argument("broad_predict_data");
    broad__call call;
    int status = check_inputs(model, data);
    if (status == BROAD_OK) status = broad__call_begin(&call, "predict", run);
    if (status < 0) return status;
    broad__watch_part(0, data->rows, data->rows);
    return broad__call_end(&call, predict_by(out, model, data, 0, data->rows, &call.run));
}

int broad_predict_part(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count,
                       const broad_run_options *run)
{
    if (!out || !model || !data) return broad__missing_argument("broad_predict_part");
    broad__call call;
    int status = check_inputs(model, data);
    if (status < 0) return status;
    if (first > data->rows || count > data->rows - first)
        return broad__fail(BROAD_USAGE, "broad_predict_part: rows %zu to %zu are out of range (the table has %zu)",
                           first + 1, first + count, data->rows);
    status = broad__call_begin(&call, "predict", run);
    if (status < 0) return status;
    broad__watch_part(0, count, count);
    return broad__call_end(&call, predict_by(out, model, data, first, count, &call.run));
}

size_t broad_best_class(const broad_model *model, const double *scores)
{
    return model && scores ? broad__largest(scores, model->outputs) : 0;
}

int broad_probabilities(double *out, const broad_model *model, const double *scores, size_t rows)
{
    if (!model || ((!out || !scores) && rows)) return broad__missing_argument("broad_probabilities");
    broad__confidence confidence = broad__confidence_of(model);
    return broad__probabilities(out, &confidence, scores, rows);
}

int broad_interval(double *out, const broad_model *model, double level)
{
    if (!out || !model) return broad__missing_argument("broad_interval");
    broad__confidence confidence = broad__confidence_of(model);
    return broad__interval(out, &confidence, level);
}

int broad_intervals(double *out, const broad_model *model, const double *values, size_t rows, double level)
{
    if (!model || ((!out || !values) && rows)) return broad__missing_argument("broad_intervals");
    broad__confidence confidence = broad__confidence_of(model);
    return broad__intervals(out, &confidence, values, rows, level);
}

/* ---- evaluation ------------------------------------------------------------------------------------------------ */

/* Rows that are evaluated at a time: whole blocks, whose inputs and scores take about four million bytes, or a gigabyte
 * where they pass through a device. */
static size_t rows_at_once(const broad_model *model, const workers *by)
{
    size_t bytes = (size_t)(by->device ? 1024 : 4) << 20,
           blocks = bytes / ((model->inputs + model->outputs) * sizeof(double)) / BROAD__BLOCK_ROWS;
    return (blocks ? blocks : 1) * BROAD__BLOCK_ROWS;
}

/* Scores of the own rows of this rank, predicted before those of all are judged in order. */
typedef struct ahead {
    double *scores; /* NULL: rows are predicted when their turn comes */
    size_t first, end;
} ahead;

static int predict_ahead(ahead *out, const broad_model *model, const broad_data *data, const workers *by)
{
    int status = broad__table_meet(data);
    if (status < 0 || !broad__table_divided(data)) return status;
    broad__owned_rows(&out->first, &out->end, data->owned, 0, data->rows);
    out->scores = broad__alloc_doubles(out->end - out->first, model->outputs);
    status =
        out->scores ? predict_here(out->scores, model, data, out->first, out->end - out->first, by) : BROAD_NO_MEMORY;
    if (!broad__comm_most(status < 0)) return BROAD_OK;
    broad__free(out->scores);
    out->scores = NULL;
    return broad__table_gather(data);
}

/* The scores of `count` rows from `first` on, from the ranks that have them. */
static int take_ahead(double *out, const ahead *a, const broad_data *data, size_t outputs, size_t first, size_t count)
{
    size_t from, end;
    broad__owned_rows(&from, &end, data->owned, first, count);
    if (from < end)
        memcpy(out + (from - first) * outputs, a->scores + (from - a->first) * outputs,
               (end - from) * outputs * sizeof *out);
    return broad__owned_share(data->owned, out, first, count, outputs * sizeof *out);
}

/* Predicts and judges piece by piece; what a row set has the residuals of is not predicted. */
static int judge_rows(broad__judge *judge, const broad_model *model, const broad_data *data, const workers *by,
                      const broad__rowset *rowset)
{
    ahead own = {0};
    size_t most = rows_at_once(model, by);
    double *scores = broad__alloc_doubles(most < data->rows ? most : data->rows, model->outputs);
    int status = scores ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK && !rowset) status = predict_ahead(&own, model, data, by);
    for (size_t first = 0; status == BROAD_OK && first < data->rows; first += most) {
        size_t count = data->rows - first < most ? data->rows - first : most;
        broad__watch_part(first, count, data->rows);
        if (rowset) broad__rowset_scores(scores, rowset, data, first, count);
        else if (own.scores) status = take_ahead(scores, &own, data, model->outputs, first, count);
        else status = predict_part(scores, model, data, first, count, by);
        broad__profile_span span = broad__profile_start();
        if (status == BROAD_OK) broad__judge_add(judge, scores, first, count);
        broad__profile_stop(span, BROAD__STAGE_MEASURE, 0, (double)(count * model->outputs) * sizeof *scores);
    }
    broad__free(scores);
    broad__free(own.scores);
    return status;
}

static int measure(broad_metrics *out, const broad_model *model, const broad_data *data, const broad_eval_options *o,
                   const broad__rowset *rowset)
{
    if (data->task != model->task || data->outputs != model->outputs)
        return broad__fail(BROAD_BAD_DATA, "the targets of the data are not those of the model");
    broad__judge judge;
    int status = check_inputs(model, data);
    if (status == BROAD_OK) status = broad__judge_open(&judge, model, data, o->level, o->threshold);
    if (status < 0) return status;
    workers by;
    status = workers_open(&by, o->threads, o->device);
    if (status == BROAD_OK) status = judge_rows(&judge, model, data, &by, rowset);
    workers_close(&by);
    broad__profile_span span = broad__profile_start();
    if (status == BROAD_OK) status = broad__judge_measure(out, &judge);
    broad__profile_stop(span, BROAD__STAGE_MEASURE, 0, 0);
    broad__judge_close(&judge);
    return status;
}

/* Whether the caller's struct is long enough for a field that owns memory. */
#define HAS(metrics, field) ((metrics)->size >= offsetof(broad_metrics, field) + sizeof(metrics)->field)

static int check_eval_options(const broad_eval_options *o, const broad_model *model)
{
    if (!(o->level >= 0 && o->level < 1))
        return broad__fail(BROAD_USAGE,
                           "an evaluation with intervals of level %g; give one between 0 and 1, such as 0.9", o->level);
    if (o->threshold == 0) return BROAD_OK;
    if (!(o->threshold > 0 && o->threshold < 1))
        return broad__fail(BROAD_USAGE, "a threshold of %g; give a probability between 0 and 1, such as 0.3",
                           o->threshold);
    if (model->task != BROAD_TASK_CLASSIFY || model->outputs != 2)
        return broad__fail(BROAD_USAGE, "a threshold is for models of two classes, and this one has %zu %s",
                           model->outputs, model->task == BROAD_TASK_CLASSIFY ? "classes" : "targets");
    return broad_probabilities(NULL, model, NULL, 0);
}

/* The result goes to the caller; what its struct has no room for is freed. */
static void give_metrics(broad_metrics *out, const broad_metrics *full)
{
    broad__result_give(out, full, sizeof *full);
    if (!HAS(out, confusion)) broad__free(full->confusion);
    if (!HAS(out, details)) broad__free(full->details);
}

static int evaluate(broad_metrics *out, const broad_model *model, const broad_data *data, const broad_eval_options *o)
{
    broad__call call;
    broad_metrics full = {.size = sizeof full};
    broad_run_options run;
    broad_run_options_init(&run);
    run.threads = o->threads;
    run.progress = o->progress;
    run.progress_context = o->progress_context;
    run.comm = o->comm;
    int status = broad__struct_check(out, sizeof *out, "broad_metrics");
    if (status == BROAD_OK) status = check_eval_options(o, model);
    if (status == BROAD_OK) status = broad__call_begin(&call, "eval", &run);
    if (status < 0) return status;
    broad_eval_options resolved = *o;
    resolved.threads = call.run.threads;
    status = broad__call_end(&call, measure(&full, model, data, &resolved, NULL));
    give_metrics(out, status == BROAD_OK ? &full : &(broad_metrics){0});
    return status;
}

/* Whether what the network leaves of these rows is known: E of a chain is that, and of joint weights next of their fit,
 * unless its rows were far away. */
static int has_residuals(const broad_trainer *trainer, const broad_data *data)
{
    const broad_model *model = trainer->model;
    const broad__residual *residual = &trainer->train.residual;
    int joint = model->joint.present && trainer->joint.left;
    int chain = broad__fitting_of(&model->settings) == BROAD__FIT_CHAIN && !model->joint.present;
    return (joint || chain) && !trainer->stale && !residual->update.pending && model->outputs == data->outputs &&
           broad__rowset_is(&trainer->train, data);
}

int broad_trainer_measure(broad_metrics *out, const broad_trainer *trainer, const broad_data *data)
{
    if (!out || !trainer || !data) return broad__missing_argument("broad_trainer_measure");
    const broad_eval_options options = {.size = sizeof options};
    broad_metrics full = {.size = sizeof full};
    int status = broad__struct_check(out, sizeof *out, "broad_metrics");
    if (status == BROAD_OK && has_residuals(trainer, data)) {
        const broad_comm *before = broad__comm_enter(trainer->run.comm);
        broad__residual *residual = (broad__residual *)&trainer->train.residual;
        status =
            trainer->model->joint.present ? broad__residual_gather_next(residual) : broad__residual_gather(residual);
        broad__comm_leave(before);
        broad__residual_forget(residual); /* what layers are computed with makes room for the measures */
        if (status == BROAD_OK) status = measure(&full, trainer->model, data, &options, &trainer->train);
    }
    give_metrics(out, status == BROAD_OK ? &full : &(broad_metrics){0});
    return status;
}

void broad_eval_options_init_sized(broad_eval_options *out, size_t size)
{
    const broad_eval_options defaults = {.size = size};
    if (out) broad__options_give(out, size, &defaults, sizeof defaults);
}

int broad_eval_with(broad_metrics *out, const broad_model *model, const broad_data *data,
                    const broad_eval_options *options)
{
    if (!out || !model || !data) return broad__missing_argument("broad_eval_with");
    broad_eval_options full = {.size = sizeof full};
    int status = broad__options_take(&full, sizeof full, options, "broad_eval_options");
    return status < 0 ? status : evaluate(out, model, data, &full);
}

/* The older calls, with one option each. */
static int evaluate_run(broad_metrics *out, const broad_model *model, const broad_data *data, double level,
                        const broad_run_options *run)
{
    broad_run_options taken;
    broad_run_options_init(&taken);
    int status = broad__options_take(&taken, sizeof taken, run, "broad_run_options");
    const broad_eval_options options = {.size = sizeof options,
                                        .level = level,
                                        .threads = taken.threads,
                                        .progress = taken.progress,
                                        .progress_context = taken.progress_context,
                                        .comm = taken.comm,
                                        .device = taken.device};
    return status < 0 ? status : evaluate(out, model, data, &options);
}

int broad_eval(broad_metrics *out, const broad_model *model, const broad_data *data, const broad_run_options *run)
{
    if (!out || !model || !data) return broad__missing_argument("broad_eval");
    return evaluate_run(out, model, data, 0, run);
}

int broad_eval_level(broad_metrics *out, const broad_model *model, const broad_data *data, double level,
                     const broad_run_options *run)
{
    if (!out || !model || !data) return broad__missing_argument("broad_eval_level");
    if (!(level > 0 && level < 1))
        return broad__fail(BROAD_USAGE, "broad_eval_level: a level of %g; give one between 0 and 1, such as 0.9",
                           level);
    return evaluate_run(out, model, data, level, run);
}

void broad_metrics_clear(broad_metrics *metrics)
{
    if (!metrics || !broad__struct_known(metrics, sizeof *metrics)) return;
    if (HAS(metrics, confusion)) broad__free(metrics->confusion);
    if (HAS(metrics, details)) broad__free(metrics->details);
    broad_result_init(metrics, metrics->size);
}

/* ---- one class, one target ------------------------------------------------------------------------------------- */

static int give_class(broad_class_metrics *out, const double *details, size_t output)
{
    int status = broad__struct_check(out, sizeof *out, "broad_class_metrics");
    if (status < 0) return status;
    const broad_class_metrics full = {
        .rows = broad__whole(details[output * BROAD__DETAILS + BROAD__DETAIL_ROWS], SIZE_MAX),
        .precision = broad__detail(details, output, BROAD__DETAIL_PRECISION),
        .recall = broad__detail(details, output, BROAD__DETAIL_RECALL),
        .f1 = broad__detail(details, output, BROAD__DETAIL_F1),
        .roc_auc = broad__detail(details, output, BROAD__DETAIL_ROC),
        .pr_auc = broad__detail(details, output, BROAD__DETAIL_PR),
    };
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

static int give_target(broad_target_metrics *out, const double *details, size_t target)
{
    int status = broad__struct_check(out, sizeof *out, "broad_target_metrics");
    if (status < 0) return status;
    const broad_target_metrics full = {
        .rmse = broad__detail(details, target, BROAD__DETAIL_RMSE),
        .mae = broad__detail(details, target, BROAD__DETAIL_MAE),
        .r2 = details[target * BROAD__DETAILS + BROAD__DETAIL_R2],
        .baseline = broad__detail(details, target, BROAD__DETAIL_BASELINE),
        .coverage = broad__detail(details, target, BROAD__DETAIL_COVERAGE),
        .interval_width = broad__detail(details, target, BROAD__DETAIL_WIDTH),
    };
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

static int fail_no_details(const char *function, size_t output, size_t count)
{
    return broad__fail(BROAD_USAGE, "%s: there are no measures of number %zu of %zu", function, output + 1, count);
}

/* The details of a caller's metrics, as far as its struct has them. */
static const double *details_of(const broad_metrics *metrics)
{
    return broad__struct_known(metrics, sizeof *metrics) && HAS(metrics, targets) ? metrics->details : NULL;
}

int broad_metrics_class(broad_class_metrics *out, const broad_metrics *metrics, size_t output)
{
    if (!out || !metrics) return broad__missing_argument("broad_metrics_class");
    const double *details = details_of(metrics);
    if (!details || output >= metrics->classes)
        return fail_no_details("broad_metrics_class", output, details ? metrics->classes : 0);
    return give_class(out, details, output);
}

int broad_metrics_target(broad_target_metrics *out, const broad_metrics *metrics, size_t target)
{
    if (!out || !metrics) return broad__missing_argument("broad_metrics_target");
    const double *details = details_of(metrics);
    if (!details || target >= metrics->targets)
        return fail_no_details("broad_metrics_target", target, details ? metrics->targets : 0);
    return give_target(out, details, target);
}

/* ---- the estimate ----------------------------------------------------------------------------------------------- */

static void detail_estimate(broad_estimate *out, const broad_model *model)
{
    const broad__estimate *from = &model->estimate;
    int classify = model->task == BROAD_TASK_CLASSIFY;
    broad_metrics pooled = {0};
    out->detailed = from->rows && from->details;
    if (!out->detailed) {
        out->baseline = out->low = out->high = out->precision = out->recall = out->f1 = out->log_loss = (double)NAN;
        out->balanced_accuracy = out->mcc = out->roc_auc = out->pr_auc = (double)NAN;
        return;
    }
    if (!classify) {
        out->low = from->details[0];
        out->high = from->details[1];
        out->baseline = broad__baseline_of(from->details + BROAD__DETAILS, model->outputs);
        return;
    }
    broad__metrics_pool(&pooled, from->details + BROAD__DETAILS, model->outputs, model->positive);
    broad__wilson(&out->low, &out->high, from->accuracy, (double)from->rows);
    out->baseline = pooled.baseline;
    out->precision = pooled.precision;
    out->recall = pooled.recall;
    out->f1 = pooled.f1;
    out->mcc = from->details[0];
    out->log_loss = from->details[1];
    out->balanced_accuracy = pooled.balanced_accuracy;
    out->roc_auc = pooled.roc_auc;
    out->pr_auc = pooled.pr_auc;
}

int broad_model_estimate(broad_estimate *out, const broad_model *model)
{
    if (!out || !model) return broad__missing_argument("broad_model_estimate");
    int status = broad__struct_check(out, sizeof *out, "broad_estimate");
    if (status < 0) return status;
    const broad__estimate *from = &model->estimate;
    broad_estimate full = {
        .known = from->rows > 0,
        .rows = from->rows,
        .accuracy = from->accuracy,
        .brier = from->brier,
        .calibration_error = from->calibration_error,
        .rmse = from->rmse,
        .mae = from->mae,
        .r2 = from->r2,
    };
    if (full.known && broad__fitting_of(&model->settings) == BROAD__FIT_CHAIN) full.method = BROAD_ESTIMATE_METHOD_GCV;
    detail_estimate(&full, model);
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

int broad_estimate_class(broad_class_metrics *out, const broad_model *model, size_t output)
{
    if (!out || !model) return broad__missing_argument("broad_estimate_class");
    const broad__estimate *from = &model->estimate;
    size_t count = from->rows && from->details && model->task == BROAD_TASK_CLASSIFY ? model->outputs : 0;
    if (output >= count) return fail_no_details("broad_estimate_class", output, count);
    return give_class(out, from->details + BROAD__DETAILS, output);
}

int broad_estimate_target(broad_target_metrics *out, const broad_model *model, size_t target)
{
    if (!out || !model) return broad__missing_argument("broad_estimate_target");
    const broad__estimate *from = &model->estimate;
    size_t count = from->rows && from->details && model->task == BROAD_TASK_REGRESS ? model->outputs : 0;
    if (target >= count) return fail_no_details("broad_estimate_target", target, count);
    return give_target(out, from->details + BROAD__DETAILS, target);
}
