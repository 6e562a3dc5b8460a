#include "model/predict/estimate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "metric/calibration.h"
#include "metric/metric.h"

#define USUAL_LEVEL 0.9

void broad__estimate_clear(broad_model *model)
{
    broad__free(model->estimate.calibration);
    broad__free(model->estimate.residuals);
    broad__free(model->estimate.details);
    broad__free(model->estimate.spread);
    broad__free(model->estimate.limits);
    model->estimate = (broad__estimate){0};
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

static int all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return 0;
    return 1;
}

/* The targets and weights of the rows listed, without inputs and names. */
static void targets_clear(broad_data *targets)
{
    broad__free(targets->classes);
    broad__free(targets->values);
    broad__free(targets->weights);
}

static int targets_gather(broad_data *out, const broad_model *model, const broad_data *data, const size_t *rows,
                          size_t count)
{
    size_t outputs = model->outputs;
    broad_data some = {.rows = count, .outputs = outputs, .task = model->task};
    if (data->task != model->task || data->outputs > outputs)
        return broad__fail(BROAD_BUG, "the estimate's rows have other targets than the model");
    if (model->task == BROAD_TASK_CLASSIFY) some.classes = broad__alloc_array(count, sizeof *some.classes);
    else some.values = broad__alloc_doubles(count, outputs);
    if (data->weights) some.weights = broad__alloc_doubles(count, 1);
    if ((!some.classes && !some.values) || (data->weights && !some.weights)) {
        targets_clear(&some);
        return BROAD_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        size_t row = rows ? rows[i] : i;
        if (some.classes) some.classes[i] = data->classes[row];
        else memcpy(some.values + i * outputs, data->values + row * outputs, outputs * sizeof(double));
        if (some.weights) some.weights[i] = data->weights[row];
        broad__table_done(data, row, 1); /* each row brings the page it is on */
    }
    *out = some;
    return BROAD_OK;
}

static int make_calibration(broad__estimate *out, const broad_model *model, const broad_data *truth,
                            const double *scores)
{
    size_t classes = model->outputs;
    broad__reliability reliability = {0};
    double *calibration = out->calibration = broad__alloc_doubles(classes + 1, 1);
    if (!calibration) return BROAD_NO_MEMORY;
    for (size_t c = 0; model->class_weights && c < classes; c++) calibration[c + 1] = -log(model->class_weights[c]);
    calibration[0] = broad__calibrate(scores, truth->classes, truth->weights, truth->rows, classes, calibration + 1);
    broad__scored scored = {scores, truth->classes, truth->rows, classes};
    int status = broad__reliability_measure(&reliability, &scored, calibration);
    out->brier = reliability.brier;
    out->log_loss = reliability.log_loss;
    out->calibration_error = reliability.calibration_error;
    return status;
}

static int make_residuals(broad__estimate *out, const broad_data *truth, const double *scores)
{
    size_t rows = truth->rows, outputs = truth->outputs;
    size_t kept = rows < BROAD__RESIDUALS_MAX ? rows : BROAD__RESIDUALS_MAX, knots = broad__spread_knots(rows);
    double *sizes = broad__alloc_doubles(rows, 1);
    out->residual_count = kept;
    out->residuals = broad__alloc_doubles(outputs, kept);
    out->spread = broad__alloc_doubles(outputs, 2 * knots + 1);
    int any = 0, taken = 0, status = sizes && out->residuals && out->spread ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t j = 0; !status && j < outputs; j++) {
        for (size_t i = 0; i < rows; i++) sizes[i] = fabs(truth->values[i * outputs + j] - scores[i * outputs + j]);
        status = broad__spread_fit(&taken, out->spread + 2 * knots * j, sizes, scores + j, outputs, rows);
        any |= taken;
        broad__order_statistics(sizes, rows, kept);
        memcpy(out->residuals + j * kept, sizes, kept * sizeof *sizes);
    }
    broad__free(sizes);
    out->spread_count = any ? knots : 0;
    if (any) return status;
    broad__free(out->spread);
    out->spread = NULL;
    return status;
}

/* From all rows, not only those that the estimate is computed on. */
static int make_limits(broad__estimate *out, const broad_data *data)
{
    size_t outputs = data->outputs;
    double *ends = out->limits = broad__alloc_doubles(outputs, 2);
    if (!ends) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < data->rows; i++) {
        for (size_t j = 0; j < outputs; j++) {
            double value = data->values[i * outputs + j];
            ends[2 * j] = i ? fmin(ends[2 * j], value) : value;
            ends[2 * j + 1] = i ? fmax(ends[2 * j + 1], value) : value;
        }
        broad__table_done(data, i, 1);
    }
    for (size_t j = 0; j < outputs; j++) {
        broad__limits_of(ends + 2 * j, ends[2 * j], ends[2 * j + 1], data->rows);
        out->limited |= ends[2 * j] > -DBL_MAX;
    }
    if (out->limited) return BROAD_OK;
    broad__free(out->limits);
    out->limits = NULL;
    return BROAD_OK;
}

/* What the estimate keeps of the measures, besides those that have a field. */
static int make_details(broad__estimate *out, const broad_metrics *metrics, size_t outputs)
{
    double *details = out->details = broad__alloc_doubles(outputs + 1, BROAD__DETAILS);
    if (!details) return BROAD_NO_MEMORY;
    int classify = metrics->task == BROAD_TASK_CLASSIFY;
    out->detailed = 1;
    details[0] = classify ? metrics->mcc : metrics->low;
    details[1] = classify ? out->log_loss : metrics->high;
    memcpy(details + BROAD__DETAILS, metrics->details, outputs * BROAD__DETAILS * sizeof *details);
    return BROAD_OK;
}

static int make(broad__estimate *out, const broad_model *model, const broad_data *truth, const double *scores)
{
    broad_metrics metrics = {0};
    int classify = truth->task == BROAD_TASK_CLASSIFY;
    *out = (broad__estimate){.rows = truth->rows};
    int status = classify ? make_calibration(out, model, truth, scores) : make_residuals(out, truth, scores);
    if (status) return status;
    const broad__verdicts verdicts = {out->calibration, model->positive, 0};
    status = broad__metrics(&metrics, truth, scores, &verdicts);
    if (!status) status = make_details(out, &metrics, model->outputs);
    out->accuracy = metrics.accuracy;
    out->rmse = metrics.rmse;
    out->mae = metrics.mae;
    out->r2 = metrics.r2;
    broad__metrics_clear(&metrics);
    return status;
}

/* Residuals so large that a measure of them overflows say nothing, and could not be stored. */
static int usable(const broad__estimate *e, size_t outputs)
{
    return isfinite(e->rmse) && isfinite(e->mae) && isfinite(e->r2) &&
           (!e->residuals || all_finite(e->residuals, outputs * e->residual_count)) &&
           (!e->spread || all_finite(e->spread, outputs * 2 * e->spread_count)) &&
           (!e->details || all_finite(e->details, (outputs + 1) * BROAD__DETAILS));
}

int broad__estimate_make(broad_model *model, const broad_data *data, const size_t *rows, size_t count,
                         const double *scores)
{
    broad_data truth = {0};
    broad__estimate_clear(model);
    if (count == 0 || !all_finite(scores, count * model->outputs)) return BROAD_OK;
    int status = targets_gather(&truth, model, data, rows, count);
    if (!status) status = make(&model->estimate, model, &truth, scores);
    if (!status && truth.values) status = make_limits(&model->estimate, data);
    if (status || !usable(&model->estimate, model->outputs)) broad__estimate_clear(model);
    targets_clear(&truth);
    return status;
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

static int check_residuals(const broad__estimate *e, size_t outputs)
{
    for (size_t j = 0; j < outputs; j++)
        for (size_t k = 0; k < e->residual_count; k++) {
            double size = e->residuals[j * e->residual_count + k];
            if (size < (k ? e->residuals[j * e->residual_count + k - 1] : 0))
                return broad__fail(BROAD_BAD_MODEL, "tensor estimate.residuals: number %zu of output %zu is %s", k + 1,
                                   j + 1, k ? "smaller than the one before" : "negative");
        }
    return BROAD_OK;
}

static int check_spread(const broad__estimate *e, size_t outputs)
{
    size_t knots = e->spread_count;
    if (knots && knots != broad__spread_knots(e->rows))
        return broad__fail(BROAD_BAD_MODEL, "estimate: a spread of %zu knots where %zu rows have %zu", knots, e->rows,
                           broad__spread_knots(e->rows));
    for (size_t j = 0; j < outputs; j++)
        for (size_t k = 0; k < knots; k++) {
            const double *spread = e->spread + 2 * knots * j;
            if ((k && spread[k] < spread[k - 1]) || !(spread[knots + k] > 0))
                return broad__fail(BROAD_BAD_MODEL,
                                   "tensor estimate.spread: knot %zu of output %zu is out of order, or "
                                   "its scale is not above 0",
                                   k + 1, j + 1);
        }
    for (size_t j = 0; e->limited && j < outputs; j++)
        if (e->limits[2 * j] > e->limits[2 * j + 1])
            return broad__fail(BROAD_BAD_MODEL, "tensor estimate.limits: output %zu has none between its ends", j + 1);
    return BROAD_OK;
}

/* Fractions and areas, of which -1 stands for what is not defined; counts; errors. */
static int check_details(const broad__estimate *e, size_t outputs, int classify)
{
    for (size_t j = 0; j < outputs; j++) {
        const double *detail = e->details + (j + 1) * BROAD__DETAILS;
        int fits = 1;
        for (size_t k = 0; k < BROAD__DETAILS; k++)
            fits &= classify ? detail[k] >= -1 && detail[k] <= (k == BROAD__DETAIL_ROWS ? (double)e->rows : 1)
                             : detail[k] >= (k == BROAD__DETAIL_R2 ? -DBL_MAX : -1);
        if (!fits)
            return broad__fail(BROAD_BAD_MODEL, "tensor estimate.details: output %zu has a measure out of range",
                               j + 1);
    }
    if (classify ? fabs(e->details[0]) > 1 || e->details[1] < 0 : e->details[0] < 0 || e->details[1] < e->details[0])
        return broad__fail(BROAD_BAD_MODEL, "tensor estimate.details: a measure of all rows is out of range");
    return BROAD_OK;
}

int broad__estimate_check(const broad_model *model)
{
    const broad__estimate *e = &model->estimate;
    size_t kept = e->rows < BROAD__RESIDUALS_MAX ? e->rows : BROAD__RESIDUALS_MAX;
    int classify = model->task == BROAD_TASK_CLASSIFY;
    if (e->rows == 0) return BROAD_OK;
    if (e->rows > model->rows)
        return broad__fail(BROAD_BAD_MODEL, "estimate: made of %zu rows where the model was trained on %zu", e->rows,
                           model->rows);
    if (!classify && e->residual_count != kept)
        return broad__fail(BROAD_BAD_MODEL, "estimate: %zu residuals of %zu rows where %zu are kept", e->residual_count,
                           e->rows, kept);
    if (classify ? !e->calibration : !e->residuals)
        return broad__fail(BROAD_BAD_MODEL, "estimate: its %s missing", classify ? "calibration is" : "residuals are");
    if (classify && (e->calibration[0] < 0 || e->calibration[0] > BROAD__SLOPE_MOST))
        return broad__fail(BROAD_BAD_MODEL, "tensor estimate.calibration: a slope of %g", e->calibration[0]);
    int status = e->detailed ? check_details(e, model->outputs, classify) : BROAD_OK;
    if (!classify && !status) status = check_spread(e, model->outputs);
    return classify || status ? status : check_residuals(e, model->outputs);
}

/* ---- judging --------------------------------------------------------------------------------------------------- */

/* Too few rows for the usual level is no failure. */
static int has_usual(const broad__estimate *e)
{
    return e->rows && (double)e->rows >= USUAL_LEVEL / (1 - USUAL_LEVEL) - 1e-9;
}

int broad__judge_open(broad__judge *out, const broad_model *model, const broad_data *truth, double level,
                      double threshold)
{
    broad__confidence confidence = broad__confidence_of(model);
    const broad__verdicts verdicts = {model->estimate.calibration, model->positive, threshold};
    *out = (broad__judge){.model = model, .truth = truth};
    int regress = model->task == BROAD_TASK_REGRESS, status = broad__tally_open(&out->tally, truth, &verdicts);
    if (status == BROAD_OK && (level > 0 || (regress && has_usual(&model->estimate)))) {
        out->level = level > 0 ? level : USUAL_LEVEL;
        out->half = broad__alloc_doubles(model->outputs, 1);
        out->inside = broad__alloc_array(model->outputs, sizeof *out->inside);
        out->widths = broad__alloc_array(model->outputs, sizeof *out->widths);
        out->laws = broad__alloc_array(model->outputs, sizeof *out->laws);
        status = out->half && out->inside && out->widths && out->laws
                     ? broad__interval(out->half, &confidence, out->level)
                     : BROAD_NO_MEMORY;
        for (size_t j = 0; !status && j < model->outputs; j++) {
            out->widths[j] = 0;
            out->laws[j] = broad__law_of(&confidence, j);
        }
    }
    if (status == BROAD_OK && !regress && model->estimate.rows) {
        out->probabilities = broad__alloc_doubles(model->outputs, 1);
        if (!out->probabilities) status = BROAD_NO_MEMORY;
    }
    if (status < 0) broad__judge_close(out);
    return status;
}

void broad__judge_close(broad__judge *judge)
{
    broad__tally_close(&judge->tally);
    broad__free(judge->half);
    broad__free(judge->inside);
    broad__free(judge->widths);
    broad__free(judge->laws);
    broad__free(judge->probabilities);
    *judge = (broad__judge){0};
}

/* By the reach where no limit cuts an interval off: its ends are rounded. */
static void judge_interval(broad__judge *judge, const broad__confidence *confidence, size_t j, double score,
                           double truth)
{
    broad__range range = broad__range_of(confidence, j, judge->half[j], score);
    int cut = range.low != score - range.reach || range.high != score + range.reach;
    judge->inside[j] += fabs(truth - score) <= range.reach && (!cut || (truth >= range.low && truth <= range.high));
    judge->widths[j] += cut ? range.high - range.low : 2 * range.reach;
}

/* Without a law, every residual of training being 0, there is no density either. */
static void judge_likelihood(broad__judge *judge, const broad__confidence *confidence, size_t j, double score,
                             double truth)
{
    double scale = broad__scale_of(confidence, j, score);
    judge->likelihood += judge->laws[j].scale > 0
                             ? broad__law_log_density(judge->laws[j], (truth - score) / scale) - log(scale)
                             : (long double)NAN;
}

void broad__judge_add(broad__judge *judge, const double *scores, size_t first, size_t count)
{
    const broad_data *truth = judge->truth;
    size_t outputs = truth->outputs;
    const broad__confidence confidence = broad__confidence_of(judge->model);
    for (size_t i = 0; judge->half && i < count * outputs; i++) {
        judge_interval(judge, &confidence, i % outputs, scores[i], truth->values[first * outputs + i]);
        judge_likelihood(judge, &confidence, i % outputs, scores[i], truth->values[first * outputs + i]);
    }
    if (judge->probabilities)
        broad__reliability_add(&judge->reliability, &(broad__scored){scores, truth->classes + first, count, outputs},
                               judge->model->estimate.calibration, judge->probabilities);
    broad__tally_add(&judge->tally, scores, first, count);
}

static void measure_intervals(broad_metrics *out, const broad__judge *judge)
{
    size_t outputs = judge->truth->outputs;
    for (size_t j = 0; j < outputs; j++) {
        double *detail = out->details + j * BROAD__DETAILS;
        detail[BROAD__DETAIL_COVERAGE] = (double)judge->inside[j] / (double)judge->truth->rows;
        detail[BROAD__DETAIL_WIDTH] = (double)(judge->widths[j] / (long double)judge->truth->rows);
        out->coverage += detail[BROAD__DETAIL_COVERAGE] / (double)outputs;
        out->interval_width += detail[BROAD__DETAIL_WIDTH] / (double)outputs;
    }
    out->level = judge->level;
    out->log_likelihood = (double)(judge->likelihood / (long double)(judge->truth->rows * outputs));
}

int broad__judge_measure(broad_metrics *out, broad__judge *judge)
{
    int status = broad__tally_measure(out, &judge->tally);
    if (status < 0) return status;
    if (judge->half) measure_intervals(out, judge);
    if (!judge->probabilities) return BROAD_OK;
    broad__reliability reliability = broad__reliability_of(&judge->reliability);
    out->has_probabilities = 1;
    out->brier = reliability.brier;
    out->log_loss = reliability.log_loss;
    out->calibration_error = reliability.calibration_error;
    return BROAD_OK;
}
