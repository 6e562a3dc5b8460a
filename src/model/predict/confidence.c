#include "model/predict/confidence.h"

#include "base/status.h"
#include "metric/calibration.h"

static int fail_no_estimate(void)
{
    return broad__fail(BROAD_USAGE, "this model has no leave-one-out estimate: fit it with option loo yes");
}

broad__confidence broad__confidence_of(const broad_model *model)
{
    const broad__estimate *e = &model->estimate;
    return (broad__confidence){model->task, model->outputs, e->rows, e->residual_count, e->calibration, e->residuals};
}

int broad__probabilities(double *out, const broad__confidence *confidence, const double *scores, size_t rows)
{
    if (confidence->task != BROAD_TASK_CLASSIFY)
        return broad__fail(BROAD_USAGE, "probabilities are for classes, and this model predicts numbers; "
                                        "numbers have intervals");
    if (!confidence->rows) return fail_no_estimate();
    broad__calibrated(out, scores, rows, confidence->outputs, confidence->calibration);
    return BROAD_OK;
}

int broad__interval(double *out, const broad__confidence *confidence, double level)
{
    size_t kept = confidence->residual_count;
    if (confidence->task != BROAD_TASK_REGRESS)
        return broad__fail(BROAD_USAGE, "intervals are for numbers, and this model predicts classes; "
                                        "classes have probabilities");
    if (!confidence->rows) return fail_no_estimate();
    int status = BROAD_OK;
    for (size_t j = 0; j < confidence->outputs && !status; j++)
        status = broad__jackknife(&out[j], confidence->residuals + j * kept, kept, confidence->rows, level);
    return status;
}
