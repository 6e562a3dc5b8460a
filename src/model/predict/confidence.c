#include "model/predict/confidence.h"

#include "base/status.h"
#include "metric/calibration.h"
#include "metric/spread.h"

static int fail_no_estimate(const broad__confidence *confidence)
{
    if (!confidence->layers)
        return broad__fail(BROAD_USAGE, "this model has no layer%s, and so no estimate of its error (%s)",
                           confidence->outcome == BROAD_OUTCOME_STALLED ? ", as none explained the targets" : "",
                           confidence->reason);
    return broad__fail(
        BROAD_USAGE,
        "this model has no estimate of its error: fit it with option loo yes, or a chain with option supervise gcv");
}

broad__confidence broad__confidence_of(const broad_model *model)
{
    const broad__estimate *e = &model->estimate;
    return (broad__confidence){.task = model->task,
                               .outputs = model->outputs,
                               .rows = e->rows,
                               .residual_count = e->residual_count,
                               .calibration = e->calibration,
                               .residuals = e->residuals,
                               .spread_count = e->spread ? e->spread_count : 0,
                               .spread = e->spread,
                               .limits = e->limits,
                               .layers = model->layer_count,
                               .outcome = model->outcome,
                               .reason = model->reason};
}

int broad__probabilities(double *out, const broad__confidence *confidence, const double *scores, size_t rows)
{
    if (confidence->task != BROAD_TASK_CLASSIFY)
        return broad__fail(BROAD_USAGE, "probabilities are for classes, and this model predicts numbers; "
                                        "numbers have intervals");
    if (!confidence->rows) return fail_no_estimate(confidence);
    broad__calibrated(out, scores, rows, confidence->outputs, confidence->calibration);
    return BROAD_OK;
}

static int check_has_intervals(const broad__confidence *confidence)
{
    if (confidence->task != BROAD_TASK_REGRESS)
        return broad__fail(BROAD_USAGE, "intervals are for numbers, and this model predicts classes; "
                                        "classes have probabilities");
    return confidence->rows ? BROAD_OK : fail_no_estimate(confidence);
}

/* Of one output. */
static int mean_reach(double *out, const broad__confidence *confidence, size_t output, double level)
{
    size_t kept = confidence->residual_count;
    return broad__jackknife(out, confidence->residuals + output * kept, kept, confidence->rows, level);
}

int broad__interval(double *out, const broad__confidence *confidence, double level)
{
    int status = check_has_intervals(confidence);
    for (size_t j = 0; j < confidence->outputs && !status; j++) status = mean_reach(&out[j], confidence, j, level);
    return status;
}

static double within(double value, const double *limits)
{
    if (!limits) return value;
    return value < limits[0] ? limits[0] : value > limits[1] ? limits[1] : value;
}

double broad__scale_of(const broad__confidence *confidence, size_t output, double value)
{
    size_t knots = confidence->spread_count;
    return knots ? broad__spread_at(confidence->spread + 2 * knots * output, knots, value) : 1;
}

broad__law broad__law_of(const broad__confidence *confidence, size_t output)
{
    return broad__law_fit(confidence->residuals + output * confidence->residual_count, confidence->residual_count);
}

broad__range broad__range_of(const broad__confidence *confidence, size_t output, double mean_reach, double value)
{
    const double *limits = confidence->limits ? confidence->limits + 2 * output : NULL;
    double reach = mean_reach * broad__scale_of(confidence, output, value);
    return (broad__range){value, reach, within(value - reach, limits), within(value + reach, limits)};
}

int broad__intervals(double *out, const broad__confidence *confidence, const double *values, size_t rows, double level)
{
    size_t outputs = confidence->outputs;
    int status = check_has_intervals(confidence);
    for (size_t j = 0; j < outputs && !status; j++) {
        double reach = 0;
        status = mean_reach(&reach, confidence, j, level);
        for (size_t i = 0; i < rows && !status; i++) {
            broad__range range = broad__range_of(confidence, j, reach, values[i * outputs + j]);
            out[2 * (i * outputs + j)] = range.low;
            out[2 * (i * outputs + j) + 1] = range.high;
        }
    }
    return status;
}
