#include "model/verify/verify_nodes.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/device.h"
#include "model/verify/verify_scale.h"

double broad__verify_activation(broad_activation activation, double x)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));
    case BROAD_ACTIVATION_TANH: return tanh(x);
    case BROAD_ACTIVATION_RELU: return x > 0 ? x : 0;
    case BROAD_ACTIVATION_SINE: return sin(x);
    case BROAD_ACTIVATION_GAUSSIAN: return exp(-x * x);
    case BROAD_ACTIVATION_IDENTITY: break;
    }
    return x;
}

/* n: what they are; in single precision what the reference device makes of them. */
static void nodes_plain(double *out, const broad__nodes *n, const double *x)
{
    if (n->single) {
        broad__device_reference()->nodes(out, n->nodes, n, x, n->inputs, 1);
        return;
    }
    for (size_t j = 0; j < n->nodes; j++) out[j] = n->bias[j];
    for (size_t i = 0; i < n->inputs; i++)
        for (size_t j = 0; j < n->nodes; j++) out[j] += x[i] * n->weight[i * n->nodes + j];
    for (size_t j = 0; j < n->nodes; j++) out[j] = broad__verify_activation(n->activation, out[j]);
}

void broad__verify_features(const broad__verification *v, double *z, double *x, size_t row)
{
    const broad_model *model = v->model;
    size_t columns = broad__model_columns(model);
    for (size_t j = 0; j < columns; j++) x[j] = broad__verify_scaled(model, v->data->x + row * model->inputs, j);
    for (size_t g = 0; g < model->group_count; g++) {
        const broad__group *group = &model->groups[g];
        broad__nodes nodes = {columns,
                              group->nodes,
                              group->weight,
                              group->bias,
                              model->settings.feature_activation,
                              model->settings.precision == BROAD_PRECISION_FLOAT,
                              NULL,
                              NULL,
                              {0}};
        if (group->source == BROAD__WEIGHT_SOURCE_DIRECT) memcpy(z, x, columns * sizeof(double));
        else nodes_plain(z, &nodes, x);
        z += group->nodes;
    }
}

void broad__verify_row(const broad__verification *v, double *k, const broad__layer *layer, size_t row)
{
    const double *z = v->z + row * v->features;
    size_t first = broad__model_feature_nodes(v->model, layer->first_group), prefix = layer->width - layer->nodes;
    if (prefix) memcpy(k, z + first, prefix * sizeof(double));
    broad__nodes nodes = {layer->inputs,
                          layer->nodes,
                          layer->weight,
                          layer->bias,
                          v->model->settings.activation,
                          v->model->settings.precision == BROAD_PRECISION_FLOAT,
                          NULL,
                          NULL,
                          {0}};
    nodes_plain(k + prefix, &nodes, z);
    for (size_t a = 0; a < layer->width && v->sqrt_weight; a++) k[a] *= v->sqrt_weight[row];
}

void broad__verify_targets(double *out, const broad__verification *v)
{
    const broad_model *model = v->model;
    size_t c = model->outputs;
    broad__table_targets(out, v->data);
    for (size_t i = 0; i < v->data->rows * c; i++) {
        out[i] = (out[i] - model->output_shift[i % c]) * model->output_factor[i % c];
        if (v->sqrt_weight) out[i] *= v->sqrt_weight[i / c];
    }
}

double broad__verify_dot(const double *a, const double *b, size_t count)
{
    enum { SUMS = 8 };
    double sums[SUMS] = {0}, sum = 0;
    size_t whole = count / SUMS * SUMS;
    for (size_t i = 0; i < whole; i += SUMS)
        for (size_t k = 0; k < SUMS; k++) sums[k] += a[i + k] * b[i + k];
    for (size_t i = whole; i < count; i++) sum += a[i] * b[i];
    for (size_t k = 0; k < SUMS; k++) sum += sums[k];
    return sum;
}

double broad__verify_norm(const double *e, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += e[i] * e[i];
    return sqrt(sum);
}

void broad__verify_own(size_t *out_first, size_t *out_end, const broad__verification *v, size_t from, size_t rows)
{
    *out_first = broad__max(from, v->first);
    *out_end = broad__max(broad__min(from + rows, v->end), *out_first);
}

int broad__verify_add(const broad__verification *v, double *sums, size_t count)
{
    if (!v->divided) return BROAD_OK;
    double *scratch = broad__alloc_doubles(count, 1);
    if (!scratch) return BROAD_NO_MEMORY;
    int asked = broad__comm_most(broad__watch_asked()), status = broad__comm_add(sums, scratch, count);
    broad__watch_agreed(asked);
    broad__free(scratch);
    return broad__watch_check(status);
}

double broad__verify_norm_rows(const broad__verification *v, size_t from, size_t rows)
{
    size_t outputs = v->model->outputs, first, end;
    if (!v->divided) return broad__verify_norm(v->e + from * outputs, rows * outputs);
    broad__verify_own(&first, &end, v, from, rows);
    double square = broad__verify_dot(v->e + first * outputs, v->e + first * outputs, (end - first) * outputs);
    return broad__verify_add(v, &square, 1) == BROAD_OK ? sqrt(square) : NAN; /* the call fails at its end */
}

double broad__verify_norm_of(const broad__verification *v, const broad__certificate *c)
{
    return broad__verify_norm_rows(v, c->first_row, c->rows);
}

/* Where the leverage is near one, the residual and what it is divided by are both small differences of larger numbers.
 * */
void broad__verify_leave_out(double sums[2], double square, double leverage, double off)
{
    double rest = fmax(1 - leverage, DBL_EPSILON);
    sums[0] += square / (rest * rest);
    sums[1] += (2 * sqrt(square) * off + off * off + 2 * square * BROAD__ROUNDING / rest) / (rest * rest);
}
