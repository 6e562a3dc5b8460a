/*
 * The certificate, checked again from the data. Shares no numerical code with training: nodes by plain loops and the C
 * library's functions, sums and solutions by the reference device, no shards. Nodes in single precision are what the reference
 * device makes of them: there the order of the roundings is part of what a node is.
 *
 * What must hold, in this order:
 *   the rows are those the model was trained on (fingerprint), scaled as recorded
 *   every random weight is what the seed gives; weights that an autoencoder fitted are taken as they are: they are nodes
 *   like any other, and the certificate is about what was made of the nodes
 *   every output weight is the one the record was made for (hash), and solves its ridge problem:
 *       K_j'(E_{j-1} - K_j W_j) = lambda W_j
 *   every bound follows from the schedule; every recorded ratio and tested value keeps its bound
 *   every recorded norm is the norm of the residual computed here, and that keeps the bound too
 *   ||E_last|| <= product of the bounds * ||E_0||, since the rows last changed
 *   joint weights, where there are any, are those of their record and solve their ridge problem over all nodes
 * Where all weights are solved for together, or again with every layer, the records are checked by following that from the
 * first layer on (verify_growth.c), and the weights by their one ridge problem (verify_joint.c). Rows that count more or less
 * than others have K and E multiplied by the root of that.
 */
#include "model/verify/verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/device.h"
#include "compute/pool.h"
#include "compute/shards.h"
#include "layer/supervise.h"
#include "model/kind.h"
#include "model/verify/verify_work.h"
#include "rng/draw.h"

/* A worker's sums besides the matrices: ||E_j||^2, leave-one-out square, and how far rounding may have moved the latter. */
enum { SUMS = 3 };

int broad__refuse(broad_verdict *verdict, size_t layer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->reason, sizeof verdict->reason, format, arguments);
    va_end(arguments);
    verdict->failed_layer = layer;
    verdict->holds = 0;
    return 0;
}

/* ---- records that need no arithmetic over the rows -------------------------------------------------------------- */

static int check_rows(broad__verification *v, int *out_holds)
{
    const broad_model *model = v->model;
    const broad_data *data = v->data;
    *out_holds = 0;
    if (data->rows != model->rows) {
        broad__refuse(v->verdict, 0, "the data has %zu rows, the model was trained on %zu", data->rows, model->rows);
        return BROAD_OK;
    }
    size_t first = 0;
    for (size_t i = 0; i < model->segment_count; i++) {
        char fingerprint[33];
        int status = broad__table_fingerprint(fingerprint, data, first, model->segments[i].rows);
        if (status < 0) return status;
        if (strcmp(fingerprint, model->segments[i].fingerprint) != 0) {
            broad__refuse(v->verdict, 0,
                          "rows %zu to %zu are not those the model was trained on (other values or another order)",
                          first + 1, first + model->segments[i].rows);
            return BROAD_OK;
        }
        first += model->segments[i].rows;
    }
    *out_holds = 1;
    return BROAD_OK;
}

static int same_draw(double *weight, double *bias, const double *have_weight, const double *have_bias,
                     const broad__stream *stream, size_t inputs, size_t nodes, double range, broad_range_unit unit)
{
    broad__draw_nodes(weight, bias, stream, inputs, nodes, range, unit);
    return memcmp(weight, have_weight, inputs * nodes * sizeof(double)) == 0 &&
           memcmp(bias, have_bias, nodes * sizeof(double)) == 0;
}

/* Draws every random weight again. *out_holds: all are equal, bit by bit. */
static int check_draws(broad__verification *v, int *out_holds)
{
    const broad_model *model = v->model;
    size_t most = 0, columns = broad__model_columns(model);
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].source == BROAD__WEIGHT_SOURCE_DRAWN && model->groups[g].nodes * (columns + 1) > most)
            most = model->groups[g].nodes * (columns + 1);
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].nodes * (model->layers[j].inputs + 1) > most)
            most = model->layers[j].nodes * (model->layers[j].inputs + 1);
    double *weight = broad__alloc_doubles(most, 1), *bias = broad__alloc_doubles(most, 1);
    int same = weight && bias;
    *out_holds = 1;
    for (size_t g = 0; same && g < model->group_count; g++) {
        const broad__group *group = &model->groups[g];
        if (group->source != BROAD__WEIGHT_SOURCE_DRAWN) continue;
        broad__stream stream = {model->settings.seed, BROAD__FOR_FEATURES, (uint32_t)g, (uint16_t)group->step, 0};
        if (same_draw(weight, bias, group->weight, group->bias, &stream, columns, group->nodes,
                      model->range * group->range, model->settings.range_unit))
            continue;
        *out_holds = broad__refuse(v->verdict, 0, "the weights of feature group %zu are not those that seed %llu gives",
                                   g + 1, (unsigned long long)model->settings.seed);
        break;
    }
    for (size_t j = 0; same && *out_holds && j < model->layer_count; j++) {
        const broad__layer *layer = &model->layers[j];
        const broad__certificate *c = &layer->certificate;
        broad__stream stream = {model->settings.seed, BROAD__FOR_ENHANCEMENT, (uint32_t)j, (uint16_t)c->step,
                                (uint16_t)c->draw};
        if (same_draw(weight, bias, layer->weight, layer->bias, &stream, layer->inputs, layer->nodes,
                      model->range * c->range, model->settings.range_unit))
            continue;
        *out_holds =
            broad__refuse(v->verdict, j + 1, "layer %zu: its random weights are not those that seed %llu gives", j + 1,
                          (unsigned long long)model->settings.seed);
    }
    broad__free(weight);
    broad__free(bias);
    return same ? BROAD_OK : BROAD_NO_MEMORY;
}

/* A ratio whose square keeps a bound keeps its root but for this. */
static const double ROOT_ROUNDING = 4 * DBL_EPSILON;

static int near(double a, double b) { return fabs(a - b) <= 4 * DBL_EPSILON * fmax(fabs(a), fabs(b)); }

int broad__verify_new_rows(const broad_model *model, size_t j)
{
    if (j == 0) return 1;
    const broad__certificate *a = &model->layers[j - 1].certificate, *b = &model->layers[j].certificate;
    return a->first_row != b->first_row || a->rows != b->rows;
}

double broad__verify_ratio_bound(const broad__certificate *c)
{
    return c->test == BROAD_SUPERVISE_OUTPUT ? sqrt(c->bound) : c->bound;
}

int broad__verify_record(broad__verification *v, size_t j, double before)
{
    const broad_model *model = v->model;
    const broad__layer *layer = &model->layers[j];
    const broad__certificate *c = &layer->certificate;
    broad__bound bound = broad__schedule(&model->settings, j + 1, c->relaxed);
    double ratio = c->norm_before > 0 ? c->norm_after / c->norm_before : 0;
    char hash[BROAD__HASH_TEXT];
    broad__hash_text(hash, layer->output, layer->width * model->outputs * sizeof(double));
    if (strcmp(hash, c->weights) != 0)
        return broad__refuse(v->verdict, j + 1, "layer %zu: its output weights are not those the record was made for",
                             j + 1);
    if (!near(c->gamma, bound.gamma) || !near(c->mu, bound.mu) || !near(c->bound, bound.sum))
        return broad__refuse(v->verdict, j + 1, "layer %zu: the bound %.9g does not follow from the schedule (%.9g)",
                             j + 1, c->bound, bound.sum);
    int resolved = c->solved_again && c->test == BROAD_SUPERVISE_RESIDUAL;
    if (c->test != model->settings.supervise && !resolved)
        return broad__refuse(v->verdict, j + 1, "layer %zu: its test is not the one in the settings", j + 1);
    if (!(fabs(c->norm_before - before) <= BROAD__TOLERANCE * before + BROAD__FLOOR * model->first_norm + v->drift))
        return broad__refuse(v->verdict, j + 1,
                             "layer %zu: it starts from norm %.9g, but the layer before ended with %.9g", j + 1,
                             c->norm_before, before);
    if (!near(c->ratio, ratio) || c->norm_after > c->norm_before)
        return broad__refuse(v->verdict, j + 1, "layer %zu: its norms and its ratio do not agree", j + 1);
    if (c->ratio > broad__verify_ratio_bound(c) * (1 + ROOT_ROUNDING) || c->tested > c->bound || !c->passed)
        return broad__refuse(v->verdict, j + 1, "layer %zu: ratio %.9g, tested %.9g, above the bound %.9g", j + 1,
                             c->ratio, c->tested, c->bound);
    if (c->test == BROAD_SUPERVISE_RESIDUAL && c->tested != c->ratio)
        return broad__refuse(v->verdict, j + 1, "layer %zu: the tested value %.9g is not its ratio %.9g", j + 1,
                             c->tested, c->ratio);
    return 1;
}

/* ---- nodes by plain loops ---------------------------------------------------------------------------------------- */

static double activation_plain(broad_activation activation, double x)
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

static void nodes_plain(double *out, const double *x, const double *weight, const double *bias, size_t inputs,
                        size_t nodes, broad_activation activation, broad_precision precision)
{
    if (precision == BROAD_PRECISION_FLOAT) {
        broad__nodes single = {inputs, nodes, weight, bias, activation, 1};
        broad__device_reference()->nodes(out, nodes, &single, x, inputs, 1);
        return;
    }
    for (size_t j = 0; j < nodes; j++) out[j] = bias[j];
    for (size_t i = 0; i < inputs; i++)
        for (size_t j = 0; j < nodes; j++) out[j] += x[i] * weight[i * nodes + j];
    for (size_t j = 0; j < nodes; j++) out[j] = activation_plain(activation, out[j]);
}

/* One row of Z; x has room for its scaled inputs. */
static void features_of_row(const broad__verification *v, double *z, double *x, size_t row)
{
    const broad_model *model = v->model;
    size_t columns = broad__model_columns(model);
    for (size_t j = 0; j < columns; j++) x[j] = broad__verify_scaled(model, v->data->x + row * model->inputs, j);
    for (size_t g = 0; g < model->group_count; g++) {
        const broad__group *group = &model->groups[g];
        if (group->source == BROAD__WEIGHT_SOURCE_DIRECT) memcpy(z, x, columns * sizeof(double));
        else
            nodes_plain(z, x, group->weight, group->bias, columns, group->nodes, model->settings.feature_activation,
                        model->settings.precision);
        z += group->nodes;
    }
}

void broad__verify_row(const broad__verification *v, double *k, const broad__layer *layer, size_t row)
{
    const double *z = v->z + row * v->features;
    size_t first = broad__model_feature_nodes(v->model, layer->first_group), prefix = layer->width - layer->nodes;
    if (prefix) memcpy(k, z + first, prefix * sizeof(double));
    nodes_plain(k + prefix, z, layer->weight, layer->bias, layer->inputs, layer->nodes, v->model->settings.activation,
                v->model->settings.precision);
    for (size_t a = 0; a < layer->width && v->sqrt_weight; a++) k[a] *= v->sqrt_weight[row];
}

/* ---- passes over the rows ---------------------------------------------------------------------------------------- */

/* One pass for one layer; each worker has an area of its own, the areas are added up afterwards. */
typedef struct layer_pass {
    broad__verification *v;
    const broad__layer *layer;
    int gram;             /* K'K is wanted, and E stays as it is until the leverages are known */
    const double *factor; /* second pass: the leverages from this factor */
    size_t each;          /* numbers of a worker's area */
    double norm_before;
    double *areas; /* block of K | sums | K'E_j | column norms | K'K */
} layer_pass;

static size_t blocks_of(size_t rows) { return (rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS; }

/* Where the leverage is near one, the residual and what it is divided by are both small differences of larger numbers. */
void broad__verify_leave_out(double sums[2], double square, double leverage, double off)
{
    double rest = fmax(1 - leverage, DBL_EPSILON);
    sums[0] += square / (rest * rest);
    sums[1] += (2 * sqrt(square) * off + off * off + 2 * square * BROAD__ROUNDING / rest) / (rest * rest);
}

/* Adds one row's leave-one-out square; row is a row of K and is used up. */
static void leave_out(const layer_pass *pass, double *sums, double *row, const double *e)
{
    size_t p = pass->layer->width;
    double leverage = 0, square = 0;
    for (size_t a = 0; a < p; a++) { /* row <- R^-T row; its squared norm is the leverage */
        for (size_t b = 0; b < a; b++) row[a] -= pass->factor[b * p + a] * row[b];
        row[a] /= pass->factor[a * p + a];
        leverage += row[a] * row[a];
    }
    for (size_t j = 0; j < pass->v->model->outputs; j++) square += e[j] * e[j];
    broad__verify_leave_out(sums + 1, square, leverage, BROAD__ROUNDING * pass->norm_before + pass->v->drift);
}

/* E changes in every row; the sums are over the rows that the layer was fitted to. */
static void pass_block(void *context, size_t block, size_t worker)
{
    layer_pass *pass = context;
    broad__verification *v = pass->v;
    const broad__device *reference = broad__device_reference();
    const broad__layer *layer = pass->layer;
    size_t p = layer->width, c = v->model->outputs, first = block * BROAD__BLOCK_ROWS;
    size_t n = v->data->rows - first < BROAD__BLOCK_ROWS ? v->data->rows - first : BROAD__BLOCK_ROWS;
    double *k = pass->areas + worker * pass->each, *sums = k + BROAD__BLOCK_ROWS * p;
    double *gradient = sums + SUMS, *columns = gradient + p * c, *gram = columns + p;
    double *e = v->e + first * c;
    for (size_t i = 0; i < n; i++) broad__verify_row(v, k + i * p, layer, first + i);
    if (!pass->factor) reference->apply(e, c, -1.0, k, p, n, layer->output, c, p, c);

    size_t from = layer->certificate.first_row, to = from + layer->certificate.rows;
    size_t skip = from > first ? from - first : 0, end = to < first + n ? (to > first ? to - first : 0) : n;
    if (skip >= end) return;
    k += skip * p, e += skip * c, n = end - skip;
    if (pass->factor) {
        for (size_t i = 0; i < n; i++) leave_out(pass, sums, k + i * p, e + i * c);
        return;
    }
    for (size_t i = 0; i < n * c; i++) sums[0] += e[i] * e[i];
    reference->cross(gradient, c, k, p, p, e, c, c, n);
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < p; a++) columns[a] += k[i * p + a] * k[i * p + a];
    if (pass->gram) reference->gram(gram, p, k, p, n, p);
}

static int run_pass(layer_pass *pass)
{
    broad__verification *v = pass->v;
    size_t p = pass->layer->width, c = v->model->outputs, workers = broad__pool_threads(v->pool);
    size_t sums = SUMS + p * c + p + (pass->gram ? p * p : 0), lead = BROAD__BLOCK_ROWS * p;
    pass->each = lead + sums;
    broad__free(pass->areas);
    pass->areas = broad__alloc_doubles(workers, pass->each);
    if (!pass->areas) return BROAD_NO_MEMORY;
    broad__watch_part(v->verdict->layers, 1, v->model->layer_count);
    int status = broad__pool_run_watched(v->pool, blocks_of(v->data->rows), pass_block, pass);
    if (status < 0) return status;
    for (size_t w = 1; w < workers; w++)
        for (size_t i = 0; i < sums; i++) pass->areas[lead + i] += pass->areas[w * pass->each + lead + i];
    return BROAD_OK;
}

static double columns_square(const layer_pass *pass)
{
    size_t p = pass->layer->width;
    const double *columns = pass->areas + BROAD__BLOCK_ROWS * p + SUMS + p * pass->v->model->outputs;
    double sum = 0;
    for (size_t a = 0; a < p; a++) sum += columns[a];
    return sum;
}

static double weights_square(const layer_pass *pass)
{
    double sum = 0;
    for (size_t i = 0; i < pass->layer->width * pass->v->model->outputs; i++)
        sum += pass->layer->output[i] * pass->layer->output[i];
    return sum;
}

/* Largest component of K'E_j - lambda W_j, relative to what it is made of. A solution in rounded numbers leaves
 * eps ||K||^2 ||W|| behind, which counts where lambda is small; with more columns than rows, W = K'a with a = E_j / lambda,
 * and the rounding of a counts too; and E_j itself has drifted. All three are granted. Sums in single precision have its eps. */
static double gradient_error(const layer_pass *pass, double norm_before, double norm_after)
{
    const broad__layer *layer = pass->layer;
    size_t p = layer->width, c = pass->v->model->outputs;
    const double *gradient = pass->areas + BROAD__BLOCK_ROWS * p + SUMS, *columns = gradient + p * c;
    double worst = 0, lambda = layer->certificate.lambda, k_square = columns_square(pass),
           w_square = weights_square(pass);
    if (w_square == 0) return 0; /* rounding left nothing of the solution, and the norm stayed as it was */
    double rounding = k_square * sqrt(w_square);
    if (layer->certificate.rows < p)
        rounding += lambda > 0 ? k_square * sqrt(k_square) * norm_after / lambda : INFINITY;
    rounding *= pass->v->rounding / BROAD__TOLERANCE;
    for (size_t a = 0; a < p; a++)
        for (size_t j = 0; j < c; j++) {
            double e = norm_before + pass->v->drift / BROAD__TOLERANCE;
            double scale = sqrt(columns[a]) * e + lambda * sqrt(w_square) + rounding;
            double off = fabs(gradient[a * c + j] - lambda * layer->output[a * c + j]);
            if (scale > 0) worst = fmax(worst, off / scale);
        }
    return worst;
}

/* KK' + lambda I of a layer, for fewer rows than columns. */
static double *dual_matrix(const broad__verification *v, const broad__layer *layer, double lambda)
{
    size_t n = layer->certificate.rows, p = layer->width;
    double *k = broad__alloc_doubles(n, p), *m = broad__alloc_doubles(n, n);
    if (k && m) {
        for (size_t i = 0; i < n; i++) broad__verify_row(v, k + i * p, layer, layer->certificate.first_row + i);
        broad__device_reference()->outer(m, n, k, p, n, k, p, n, p);
        for (size_t i = 0; i < n; i++) m[i * n + i] += lambda;
        broad__free(k);
        return m;
    }
    broad__free(k);
    broad__free(m);
    return NULL;
}

/* Leave-one-out square sum in the dual form: a_i / g_i with M a = E_{j-1}, g = diag M^-1. */
static int loo_dual(double *out, const broad__verification *v, const broad__layer *layer, const double *e_before)
{
    const broad__device *reference = broad__device_reference();
    size_t n = layer->certificate.rows, c = v->model->outputs;
    double *m = dual_matrix(v, layer, layer->certificate.lambda), *inverse = broad__alloc_doubles(n, n);
    double *a = broad__alloc_doubles(n, c);
    int status = m && inverse && a ? BROAD_OK : BROAD_NO_MEMORY;
    *out = 0;
    if (status == BROAD_OK && reference->factor(m, n) != 0) {
        *out = NAN;
    } else if (status == BROAD_OK) {
        memcpy(a, e_before, n * c * sizeof(double));
        for (size_t i = 0; i < n; i++) inverse[i * n + i] = 1;
        reference->solve(a, c, m, n);
        reference->solve(inverse, n, m, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < c; j++) *out += pow(a[i * c + j] / inverse[i * n + i], 2);
    }
    broad__free(m);
    broad__free(inverse);
    broad__free(a);
    return status;
}

static int loo_primal(double *out, double *doubt, layer_pass *pass)
{
    size_t p = pass->layer->width, lead = BROAD__BLOCK_ROWS * p, c = pass->v->model->outputs;
    double *factor = broad__alloc_doubles(p, p);
    if (!factor) return BROAD_NO_MEMORY;
    memcpy(factor, pass->areas + lead + SUMS + p * c + p, p * p * sizeof(double));
    for (size_t i = 0; i < p; i++) factor[i * p + i] += pass->layer->certificate.lambda;
    int status = BROAD_OK;
    *out = NAN;
    if (broad__device_reference()->factor(factor, p) == 0) {
        pass->factor = factor;
        pass->gram = 0;
        status = run_pass(pass);
        if (status == BROAD_OK) *out = pass->areas[lead + 1];
        if (status == BROAD_OK) *doubt = pass->areas[lead + 2];
    }
    broad__free(factor);
    return status;
}

static int operator_norm(double *out, const broad__verification *v, const broad__layer *layer)
{
    size_t n = layer->certificate.rows;
    double lambda = layer->certificate.lambda;
    *out = 1;
    if (n > layer->width) return BROAD_OK;
    double *m = dual_matrix(v, layer, lambda), *values = broad__alloc_doubles(n, 1);
    int status = m && values ? broad__device_reference()->eigen(m, values, n) : BROAD_NO_MEMORY;
    if (status == BROAD_OK && values[0] > 0) *out = lambda / values[0];
    broad__free(m);
    broad__free(values);
    return status;
}

/* Largest part of an output's square that the layer left over. */
static double worst_output(const layer_pass *pass, const double *e_before)
{
    size_t c = pass->v->model->outputs, rows = pass->layer->certificate.rows;
    const double *e_after = pass->v->e + pass->layer->certificate.first_row * c;
    double worst = 0;
    for (size_t q = 0; q < c; q++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < rows; i++) {
            before += e_before[i * c + q] * e_before[i * c + q];
            after += e_after[i * c + q] * e_after[i * c + q];
        }
        if (before > 0) worst = fmax(worst, after / before);
    }
    return worst;
}

static int tested_again(broad__finding *out, layer_pass *pass, const double *e_before)
{
    double square = 0, doubt = 0;
    int status = BROAD_OK, dual = pass->layer->certificate.rows < pass->layer->width;
    switch (pass->layer->certificate.test) {
    case BROAD_SUPERVISE_LOO:
        status = dual ? loo_dual(&square, pass->v, pass->layer, e_before) : loo_primal(&square, &doubt, pass);
        out->tested = sqrt(square) / out->before;
        out->least = sqrt(fmax(square - doubt, 0)) / out->before;
        out->most = sqrt(square + doubt) / out->before;
        return status;
    case BROAD_SUPERVISE_OPERATOR: status = operator_norm(&out->tested, pass->v, pass->layer); break;
    case BROAD_SUPERVISE_RESIDUAL:
    case BROAD_SUPERVISE_NONE: out->tested = out->after / out->before; break;
    case BROAD_SUPERVISE_OUTPUT: out->tested = worst_output(pass, e_before); break;
    }
    out->least = out->most = out->tested;
    return status;
}

/* ---- one layer ------------------------------------------------------------------------------------------------- */

int broad__verify_judge(broad__verification *v, size_t j, const broad__finding *f)
{
    const broad__certificate *c = &v->model->layers[j].certificate;
    double floor = BROAD__FLOOR * v->model->first_norm + v->drift, loose = 1e-5 + 2 * v->drift / f->before;
    double error = fabs(f->after - c->norm_after) / fmax(c->norm_after, floor);
    if (error > v->verdict->worst_norm_error) v->verdict->worst_norm_error = error;
    if (!(fabs(f->after - c->norm_after) <= BROAD__TOLERANCE * c->norm_after + floor))
        return broad__refuse(v->verdict, j + 1, "layer %zu: recorded norm %.12g, recomputed %.12g", j + 1,
                             c->norm_after, f->after);
    if (!(f->gradient <= BROAD__TOLERANCE))
        return broad__refuse(v->verdict, j + 1,
                             "layer %zu: its output weights do not solve their ridge problem (off by %.3g)", j + 1,
                             f->gradient);
    if (!(f->after <= broad__verify_ratio_bound(c) * f->before * (1 + BROAD__TOLERANCE) + floor))
        return broad__refuse(v->verdict, j + 1, "layer %zu: recomputed ratio %.12g above the bound %.12g", j + 1,
                             f->after / f->before, broad__verify_ratio_bound(c));
    if (c->test == BROAD_SUPERVISE_NONE || isnan(f->tested)) return 1;
    if (!(f->least <= c->bound * (1 + BROAD__TOLERANCE) + loose) || c->tested > f->most * (1 + loose) + loose ||
        c->tested < f->least * (1 - loose) - loose)
        return broad__refuse(v->verdict, j + 1, "layer %zu: tested value recorded %.9g, recomputed %.9g, bound %.9g",
                             j + 1, c->tested, f->tested, c->bound);
    return 1;
}

double broad__verify_norm(const double *e, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += e[i] * e[i];
    return sqrt(sum);
}

/* ||E|| over the rows of a layer. */
static double norm_of_rows(const broad__verification *v, const broad__certificate *c)
{
    size_t outputs = v->model->outputs;
    return broad__verify_norm(v->e + c->first_row * outputs, c->rows * outputs);
}

static int check_layer(broad__verification *v, size_t j, double *norm, int *out_holds)
{
    const broad__layer *layer = &v->model->layers[j];
    const broad__certificate *c = &layer->certificate;
    size_t p = layer->width, outputs = v->model->outputs, count = c->rows * outputs;
    int dual = c->rows < p;
    layer_pass pass = {.v = v, .layer = layer, .norm_before = *norm, .gram = c->test == BROAD_SUPERVISE_LOO && !dual};
    double *e_before = broad__alloc_doubles(count, 1);
    int status = e_before ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        memcpy(e_before, v->e + c->first_row * outputs, count * sizeof(double));
        status = run_pass(&pass);
    }
    if (status == BROAD_OK) {
        broad__finding f = {.before = *norm, .after = sqrt(pass.areas[BROAD__BLOCK_ROWS * p])};
        v->drift += BROAD__ROUNDING * sqrt(columns_square(&pass) * weights_square(&pass));
        f.gradient = gradient_error(&pass, f.before, f.after);
        status = tested_again(&f, &pass, e_before);
        if (status == BROAD_OK) *out_holds = broad__verify_judge(v, j, &f);
        *norm = f.after;
    }
    broad__free(e_before);
    broad__free(pass.areas);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

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
    for (size_t i = 0; status == BROAD_OK && i < rows; i++) features_of_row(v, v->z + i * v->features, x, i);
    broad__free(x);
    return status;
}

/* Each layer fitted to what those before it left over. *norm: of that. */
static int check_chain(broad__verification *v, double *norm, int *out_holds)
{
    const broad_model *model = v->model;
    for (size_t j = 0; j < model->layer_count && *out_holds; j++) {
        const broad__certificate *c = &model->layers[j].certificate;
        double before = j ? model->layers[j - 1].certificate.norm_after : model->first_norm;
        if (j && broad__verify_new_rows(model, j)) {
            before = c->norm_before;
            *norm = norm_of_rows(v, c);
            if (!(fabs(*norm - before) <= BROAD__TOLERANCE * *norm + v->drift)) {
                *out_holds = broad__refuse(v->verdict, j + 1, "layer %zu: it starts from norm %.12g, recomputed %.12g",
                                           j + 1, before, *norm);
                break;
            }
        }
        *out_holds = broad__verify_record(v, j, before);
        int status = *out_holds ? check_layer(v, j, norm, out_holds) : BROAD_OK;
        if (status < 0) return status;
        v->verdict->layers += (size_t)*out_holds;
    }
    return BROAD_OK;
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
    return check_chain(v, norm, out_holds);
}

/* The bounds and the norms since the rows last changed. Where the weights were solved for at once, each record speaks of the
 * whole, and the first says it all. */
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
            first = c->norm_before;
        }
        verdict->product_bound *= broad__verify_ratio_bound(c);
    }
    verdict->reached = first > 0 ? norm / first : 0;
    if (!holds || verdict->reached <= verdict->product_bound * (1 + BROAD__TOLERANCE) + BROAD__FLOOR) return holds;
    return broad__refuse(verdict, 0, "the norm fell to %.9g of the first, the product of the bounds is %.9g",
                         verdict->reached, verdict->product_bound);
}

/* Rows that ||E_0|| was taken of. */
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
    double norm = norm_of_rows(v, &(broad__certificate){.rows = first_rows(model)});
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
    return BROAD_OK;
}

int broad__verify(broad_verdict *out, const broad_model *model, const broad_data *data, size_t threads)
{
    broad__verification v = {.model = model, .data = data, .verdict = out, .rounding = BROAD__ROUNDING};
    if (broad__supervise_single(&model->settings)) v.rounding = (double)FLT_EPSILON;
    memset(out, 0, sizeof *out);
    int holds = 0, status = check_shape(model, data);
    if (status == BROAD_OK) status = broad__pool_open(&v.pool, threads);
    if (status == BROAD_OK) status = check_rows(&v, &holds);
    if (status == BROAD_OK && holds) holds = broad__verify_scaling(&v);
    if (status == BROAD_OK && holds) status = check_draws(&v, &holds);
    if (status == BROAD_OK && holds) status = check_layers(&v);
    broad__pool_close(v.pool);
    broad__free(v.z);
    broad__free(v.sqrt_weight);
    broad__free(v.e);
    return status;
}
