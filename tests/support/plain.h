/* Networks by their formulas: plain loops, long double where it helps, no code of the library but its random numbers. */
#ifndef BROAD_TESTS_SUPPORT_PLAIN_H
#define BROAD_TESTS_SUPPORT_PLAIN_H

#include "problem.h"

#include "model/model.h"
#include "rng/philox.h"

/* min ||A W - Y||^2 + lambda ||W||^2 by Householder on [A; sqrt(lambda) I], in long double. */
static inline void plain_ridge(double *w, const double *a, const double *y, size_t n, size_t p, size_t c, double lambda)
{
    size_t high = n + p, wide = p + c;
    long double *m = calloc(high * wide, sizeof *m);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++) m[i * wide + j] = a[i * p + j];
        for (size_t j = 0; j < c; j++) m[i * wide + p + j] = y[i * c + j];
    }
    for (size_t j = 0; j < p; j++) m[(n + j) * wide + j] = sqrtl(lambda);
    for (size_t k = 0; k < p; k++) {
        long double square = 0;
        for (size_t i = k; i < high; i++) square += m[i * wide + k] * m[i * wide + k];
        long double head = m[k * wide + k], alpha = head > 0 ? -sqrtl(square) : sqrtl(square);
        long double length = square - head * alpha; /* half the square of v */
        m[k * wide + k] = head - alpha;
        for (size_t j = k + 1; j < wide; j++) {
            long double dot = 0;
            for (size_t i = k; i < high; i++) dot += m[i * wide + k] * m[i * wide + j];
            for (size_t i = k; i < high; i++) m[i * wide + j] -= dot / length * m[i * wide + k];
        }
        m[k * wide + k] = alpha;
    }
    for (size_t j = 0; j < c; j++)
        for (size_t k = p; k-- > 0;) {
            long double sum = m[k * wide + p + j];
            for (size_t l = k + 1; l < p; l++) sum -= m[k * wide + l] * w[l * c + j];
            w[k * c + j] = (double)(sum / m[k * wide + k]);
        }
    free(m);
}

/* out = Y - A W, n x c; returns its norm. */
static inline double plain_residual(double *out, const double *a, const double *w, const double *y, size_t n, size_t p,
                                    size_t c)
{
    long double square = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < c; j++) {
            long double sum = y[i * c + j];
            for (size_t k = 0; k < p; k++) sum -= (long double)a[i * p + k] * w[k * c + j];
            out[i * c + j] = (double)sum;
            square += sum * sum;
        }
    return (double)sqrtl(square);
}

/* What a ridge without row i says about row i: c values. root: rows; NULL: 1. A and Y without the roots. */
static inline void plain_leave_one(double *out, size_t i, const double *a, const double *y, const double *root,
                                   size_t n, size_t p, size_t c, double lambda)
{
    double *rest = malloc((n - 1) * p * sizeof *rest), *targets = malloc((n - 1) * c * sizeof *targets);
    double *w = malloc(p * c * sizeof *w);
    for (size_t k = 0, at = 0; k < n; k++) {
        if (k == i) continue;
        for (size_t j = 0; j < p; j++) rest[at * p + j] = a[k * p + j] * (root ? root[k] : 1);
        for (size_t j = 0; j < c; j++) targets[at * c + j] = y[k * c + j] * (root ? root[k] : 1);
        at++;
    }
    plain_ridge(w, rest, targets, n - 1, p, c, lambda);
    for (size_t j = 0; j < c; j++) {
        out[j] = 0;
        for (size_t k = 0; k < p; k++) out[j] += a[i * p + k] * w[k * c + j];
    }
    free(rest), free(targets), free(w);
}

static inline void plain_leave_out(double *out, const double *a, const double *y, const double *root, size_t n,
                                   size_t p, size_t c, double lambda)
{
    for (size_t i = 0; i < n; i++) plain_leave_one(out + i * c, i, a, y, root, n, p, c, lambda);
}

static inline double plain_activation(broad_activation activation, double x)
{
    if (activation == BROAD_ACTIVATION_SIGMOID) return 1 / (1 + exp(-x));
    if (activation == BROAD_ACTIVATION_TANH) return tanh(x);
    if (activation != BROAD_ACTIVATION_IDENTITY) fail_msg("no plain form of this activation");
    return x;
}

/* Columns [at, at + nodes) of out: the activation of x W + b. */
static inline void plain_nodes(double *out, size_t stride, size_t at, const double *x, size_t rows, size_t inputs,
                               const double *weight, const double *bias, size_t nodes, broad_activation activation)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t node = 0; node < nodes; node++) {
            double sum = bias[node];
            for (size_t k = 0; k < inputs; k++) sum += x[i * inputs + k] * weight[k * nodes + node];
            out[i * stride + at + node] = plain_activation(activation, sum);
        }
}

/* Weights as the model format has them. */
static inline void plain_draw(double *weight, double *bias, broad__stream stream, size_t inputs, size_t nodes,
                              double range, broad_range_unit unit)
{
    for (size_t node = 0; node < nodes; node++) {
        for (size_t k = 0; k < inputs; k++)
            weight[k * nodes + node] = (2 * broad__random_at(&stream, node * (inputs + 1) + k) - 1) * range *
                                       (unit == BROAD_RANGE_FAN_IN ? sqrt(3.0 / (double)inputs) : 1);
        bias[node] = (2 * broad__random_at(&stream, node * (inputs + 1) + inputs) - 1) * range;
    }
}

/* Z of rows, rows x *out_columns, freed with free(). Not for inputs that are scaled by rank. */
static inline double *plain_features(size_t *out_columns, const broad_model *m, const double *x, size_t rows)
{
    size_t features = 0, at = 0;
    double *scaled = malloc(rows * m->inputs * sizeof *scaled);
    for (size_t g = 0; g < m->group_count; g++) features += m->groups[g].nodes;
    double *z = malloc(rows * features * sizeof *z);
    for (size_t i = 0; i < rows * m->inputs; i++)
        scaled[i] = (x[i] - m->input_shift[i % m->inputs]) * m->input_factor[i % m->inputs];
    for (size_t g = 0; g < m->group_count; at += m->groups[g++].nodes) {
        const broad__group *group = &m->groups[g];
        for (size_t i = 0; group->source == BROAD__WEIGHT_SOURCE_DIRECT && i < rows; i++)
            memcpy(z + i * features + at, scaled + i * m->inputs, m->inputs * sizeof *z);
        if (group->source != BROAD__WEIGHT_SOURCE_DIRECT)
            plain_nodes(z, features, at, scaled, rows, m->inputs, group->weight, group->bias, group->nodes,
                        m->settings.feature_activation);
    }
    free(scaled);
    *out_columns = features;
    return z;
}

/* A = [K_1 ... K_m] of rows, rows x *out_columns, freed with free(). */
static inline double *plain_columns(size_t *out_columns, const broad_model *m, const double *x, size_t rows)
{
    size_t features, columns = 0, at = 0;
    double *z = plain_features(&features, m, x, rows);
    for (size_t j = 0; j < m->layer_count; j++) columns += m->layers[j].width;
    double *a = malloc(rows * columns * sizeof *a + 1), *seen = malloc(rows * features * sizeof *seen);
    for (size_t j = 0; j < m->layer_count; at += m->layers[j++].width) {
        const broad__layer *layer = &m->layers[j];
        size_t prefix = layer->width - layer->nodes, first = 0;
        for (size_t g = 0; g < layer->first_group; g++) first += m->groups[g].nodes;
        for (size_t i = 0; i < rows; i++) {
            memcpy(a + i * columns + at, z + i * features + first, prefix * sizeof *a);
            memcpy(seen + i * layer->inputs, z + i * features, layer->inputs * sizeof *seen);
        }
        plain_nodes(a, columns, at + prefix, seen, rows, layer->inputs, layer->weight, layer->bias, layer->nodes,
                    m->settings.activation);
    }
    free(z), free(seen);
    *out_columns = columns;
    return a;
}

/* The weights that predict, one layer after the other: columns x outputs, freed with free(). */
static inline double *plain_outputs(const broad_model *m)
{
    size_t columns = 0, at = 0;
    for (size_t j = 0; j < m->layer_count; j++) columns += m->layers[j].width;
    double *w = malloc(columns * m->outputs * sizeof *w + 1);
    for (size_t j = 0; j < m->layer_count; j++) {
        const broad__layer *layer = &m->layers[j];
        memcpy(w + at, layer->joint ? layer->joint : layer->output, layer->width * m->outputs * sizeof *w);
        at += layer->width * m->outputs;
    }
    return w;
}

/* Rows in [-1, 1]^inputs with smooth targets and some noise; what the arrays of `out` point to is freed with
 * plain_arrays_free(). classes > 0: that many classes, else `outputs` values. */
static inline void plain_arrays(broad_arrays *out, problem_random *r, size_t rows, size_t inputs, size_t outputs,
                                size_t classes, int weighted)
{
    broad_arrays_init(out);
    double *x = malloc(rows * inputs * sizeof *x), *values = classes ? NULL : malloc(rows * outputs * sizeof *values);
    double *weights = weighted ? malloc(rows * sizeof *weights) : NULL;
    int64_t *labels = classes ? malloc(rows * sizeof *labels) : NULL;
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t k = 0; k < inputs; k++) {
            x[i * inputs + k] = 2 * problem_uniform(r) - 1;
            sum += x[i * inputs + k] * (k % 2 ? 1 : -2);
        }
        for (size_t k = 0; values && k < outputs; k++)
            values[i * outputs + k] = sin(2 * sum + (double)k) + 0.1 * problem_normal(r);
        if (labels) labels[i] = i < classes ? (int64_t)i : (int64_t)((size_t)(floor(fabs(3 * sum))) % classes);
        if (weights) weights[i] = 0.25 + 3 * problem_uniform(r);
    }
    out->rows = rows, out->inputs = inputs, out->outputs = classes ? 0 : outputs;
    out->x = x, out->values = values, out->classes = labels, out->weights = weights;
}

static inline void plain_arrays_free(broad_arrays *arrays)
{
    free((void *)(uintptr_t)arrays->x), free((void *)(uintptr_t)arrays->values);
    free((void *)(uintptr_t)arrays->classes), free((void *)(uintptr_t)arrays->weights);
}

static inline broad_data *plain_data(const broad_arrays *arrays)
{
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, arrays));
    return data;
}

/* Y as the network sees it where targets are not scaled: one column a class, or the values. Freed with free(). */
static inline double *plain_targets(const broad_arrays *arrays, size_t outputs)
{
    double *y = calloc(arrays->rows * outputs, sizeof *y);
    for (size_t i = 0; i < arrays->rows; i++)
        if (arrays->classes) y[i * outputs + (size_t)arrays->classes[i]] = 1;
        else memcpy(y + i * outputs, arrays->values + i * outputs, outputs * sizeof *y);
    return y;
}

/* Options by name, kind and preset first: "kind", "scn", "preset", "paper", ..., NULL. */
static inline broad_options plain_options(const char *const *words)
{
    broad_options o;
    broad_options_init(&o);
    for (; *words; words += 2) assert_ok(broad_options_set(&o, words[0], words[1]));
    o.threads = 1;
    return o;
}

#define OPTIONS(...) plain_options((const char *const[]){__VA_ARGS__, NULL})

/* The model's estimate against scores of every row, each with the row left out. y: rows x outputs, as trained on. */
static inline void plain_check_estimate(const broad_model *model, const broad_arrays *arrays, const double *y,
                                        const double *scores, double tolerance)
{
    size_t rows = arrays->rows, outputs = model->outputs, right = 0;
    broad_estimate estimate = {.size = sizeof estimate};
    assert_ok(broad_model_estimate(&estimate, model));
    assert_int_equal(estimate.rows, rows);
    double squares = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t best = 0;
        for (size_t q = 0; q < outputs; q++) {
            squares += pow(y[i * outputs + q] - scores[i * outputs + q], 2);
            if (scores[i * outputs + q] > scores[i * outputs + best]) best = q;
        }
        right += y[i * outputs + best] > 0;
    }
    if (arrays->classes) assert_true(estimate.accuracy == (double)right / (double)rows);
    double rmse = sqrt(squares / (double)(rows * outputs));
    if (!arrays->classes && !(relative_difference(estimate.rmse, rmse, 0) < tolerance))
        fail_msg("RMSE %.12g, brute force %.12g", estimate.rmse, rmse);
}

#endif
