#include "model/train/gradients.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"

enum { ROWS_LEAST = 64 };
/* More multiplications than this a metric is not worth: fewer rows then. */
static const double WORK_MOST = 4e9;

int broad__slope_known(broad_activation activation)
{
    return activation != BROAD_ACTIVATION_SINE && activation != BROAD_ACTIVATION_GAUSSIAN;
}

double broad__slope(broad_activation activation, double z)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: return z * (1 - z);
    case BROAD_ACTIVATION_TANH: return 1 - z * z;
    case BROAD_ACTIVATION_RELU: return z > 0;
    case BROAD_ACTIVATION_IDENTITY: return 1;
    case BROAD_ACTIVATION_SINE:
    case BROAD_ACTIVATION_GAUSSIAN: break;
    }
    return 0;
}

static size_t gradient_rows(const broad__trial *trial, size_t outputs)
{
    size_t rows = trial->rows->rows;
    double each = (double)trial->nodes * (double)trial->columns * (double)outputs;
    size_t most = each > 0 ? (size_t)fmin(WORK_MOST / each, (double)rows) : rows;
    return most > ROWS_LEAST ? most : rows < ROWS_LEAST ? rows : ROWS_LEAST;
}

/* Adds the gradients of one output. moved: count x nodes, gradient: count x columns; the rows are evenly spaced. */
static void add_output(broad__metric *out, const broad__trial *trial, size_t output, size_t count, double *moved,
                       double *gradient)
{
    const broad_model *model = trial->trainer->model;
    const broad__device *device = trial->trainer->device;
    size_t nodes = trial->nodes, outputs = model->outputs, columns = trial->columns;
    for (size_t i = 0; i < count; i++) {
        const double *z = trial->z + i * trial->rows->rows / count * trial->capacity;
        for (size_t k = 0; k < nodes; k++)
            moved[i * nodes + k] =
                broad__slope(model->settings.feature_activation, z[k]) * trial->joint.w[k * outputs + output];
    }
    memset(gradient, 0, count * columns * sizeof(double));
    device->outer(gradient, columns, moved, nodes, count, trial->weight, trial->capacity, columns, nodes);
    broad__metric_add(out, device, gradient, count);
}

/* Whether all rows have the same value of an input, or none: no gradient then says anything about it. */
static int is_still(const broad_data *rows, size_t input)
{
    double first = NAN;
    for (size_t i = 0; i < rows->rows; i++) {
        double value = rows->x[i * rows->inputs + input];
        if (isnan(first)) first = value;
        if (!isnan(value) && value != first) return 0;
    }
    return 1;
}

int broad__trial_metric(broad__metric *out, int *out_known, const broad__trial *trial)
{
    size_t outputs = trial->trainer->model->outputs, count = gradient_rows(trial, outputs);
    double *moved = broad__alloc_doubles(count, trial->nodes), *gradient = broad__alloc_doubles(count, trial->columns);
    int status = moved && gradient ? BROAD_OK : BROAD_NO_MEMORY;
    memset(out->values, 0, out->columns * (out->full ? out->columns : 1) * sizeof(double));
    for (size_t q = 0; status == BROAD_OK && q < outputs; q++) {
        add_output(out, trial, q, count, moved, gradient);
        status = broad__watch_check(status);
    }
    for (size_t j = 0; j < trial->rows->inputs; j++)
        if (is_still(trial->rows, j)) broad__metric_drop(out, trial->rows->inputs, j);
    *out_known = status == BROAD_OK && broad__metric_settle(out);
    broad__free(moved);
    broad__free(gradient);
    return status;
}
