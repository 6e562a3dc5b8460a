#include "model/verify/verify_chain.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/device.h"
#include "compute/shards.h"
#include "model/verify/verify_doubt.h"
#include "model/verify/verify_nodes.h"
#include "model/verify/verify_records.h"
#include "model/verify/verify_score.h"

/* A worker's sums besides the matrices: ||E_j||^2, leave-one-out square, and how far rounding may have moved the
 * latter. */
enum { SUMS = 3 };

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

/* Blocks of this rank's rows. */
static size_t blocks_of(size_t rows) { return (rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS; }

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
    size_t p = layer->width, c = v->model->outputs, first = v->first + block * BROAD__BLOCK_ROWS;
    size_t n = v->end - first < BROAD__BLOCK_ROWS ? v->end - first : BROAD__BLOCK_ROWS;
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
    int status = broad__pool_run_watched(v->pool, blocks_of(v->end - v->first), pass_block, pass);
    if (status < 0) return status;
    for (size_t w = 1; w < workers; w++)
        for (size_t i = 0; i < sums; i++) pass->areas[lead + i] += pass->areas[w * pass->each + lead + i];
    return broad__verify_add(v, pass->areas + lead, sums);
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

/* Largest component of K'E_j - lambda W_j, relative to what it is made of. A solution in rounded numbers leaves eps
 * ||K||^2 ||W|| behind, which counts where lambda is small; with more columns than rows, W = K'a with a = E_j / lambda,
 * and the rounding of a counts too; and E_j itself has drifted. All three are allowed for, and with `doubt`
 * (verify_doubt.h) that of the nodes. Sums in single precision have its eps. */
static double gradient_error(const layer_pass *pass, double norm_before, double norm_after, const double *doubt)
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
            if (doubt) scale += sqrt(doubt[a]) * norm_before / BROAD__TOLERANCE;
            if (scale > 0) worst = fmax(worst, off / scale);
        }
    return worst;
}

/* What the gradient is off by once rounding of the nodes counts, to the columns and by them to E. */
static int doubted_gradient(broad__finding *f, const layer_pass *pass)
{
    const broad__layer *layer = pass->layer;
    double *doubt = broad__alloc_doubles(layer->width, 1), moved = 0;
    if (!doubt) return BROAD_NO_MEMORY;
    broad__doubted rows = {pass->v, layer, layer->output, layer->certificate.first_row, layer->certificate.rows};
    int status = broad__verify_doubt(doubt, &moved, &rows);
    pass->v->drift += moved;
    if (status == BROAD_OK) f->gradient = gradient_error(pass, f->before, f->after, doubt);
    broad__free(doubt);
    return status;
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

/* Eigenvalues are known to n units in the last place of the largest one, here as in training: the smallest, on which the
 * norm rests, may have few correct digits. */
static int operator_norm(broad__finding *out, const broad__verification *v, const broad__layer *layer)
{
    size_t n = layer->certificate.rows;
    double lambda = layer->certificate.lambda;
    out->tested = out->min = out->max = 1;
    if (n > layer->width) return BROAD_OK;
    double *m = dual_matrix(v, layer, lambda), *values = broad__alloc_doubles(n, 1);
    int status = m && values ? broad__device_reference()->eigen(m, values, n) : BROAD_NO_MEMORY;
    if (status == BROAD_OK && values[0] > 0) {
        double doubt = 2 * (double)n * DBL_EPSILON * values[n - 1];
        out->tested = lambda / values[0];
        out->min = lambda / (values[0] + doubt);
        out->max = fmin(1, lambda / fmax(values[0] - doubt, lambda));
    }
    broad__free(m);
    broad__free(values);
    return status;
}

/* Largest part of an output's square that remains after the layer. e_before: of its first row. */
static int worst_output(double *out, const layer_pass *pass, const double *e_before)
{
    const broad__certificate *record = &pass->layer->certificate;
    size_t c = pass->v->model->outputs, first, end;
    double worst = 0;
    broad__verify_own(&first, &end, pass->v, record->first_row, record->rows);
    for (size_t q = 0; q < c; q++) {
        double square[2] = {0}; /* before and after */
        for (size_t i = first; i < end; i++) {
            double before = e_before[(i - record->first_row) * c + q], after = pass->v->e[i * c + q];
            square[0] += before * before;
            square[1] += after * after;
        }
        int status = broad__verify_add(pass->v, square, 2);
        if (status < 0) return status;
        if (square[0] > 0) worst = fmax(worst, square[1] / square[0]);
    }
    *out = worst;
    return BROAD_OK;
}

static int tested_again(broad__finding *out, layer_pass *pass, const double *e_before)
{
    double square = 0, doubt = 0;
    int status = BROAD_OK, dual = pass->layer->certificate.rows < pass->layer->width;
    switch (pass->layer->certificate.test) {
    case BROAD_SUPERVISE_LOO:
        status = dual ? loo_dual(&square, pass->v, pass->layer, e_before) : loo_primal(&square, &doubt, pass);
        out->tested = sqrt(square) / out->before;
        out->min = sqrt(fmax(square - doubt, 0)) / out->before;
        out->max = sqrt(square + doubt) / out->before;
        return status;
    case BROAD_SUPERVISE_OPERATOR: return operator_norm(out, pass->v, pass->layer);
    case BROAD_SUPERVISE_RESIDUAL:
    case BROAD_SUPERVISE_NONE: out->tested = out->after / out->before; break;
    case BROAD_SUPERVISE_OUTPUT: status = worst_output(&out->tested, pass, e_before); break;
    case BROAD_SUPERVISE_GCV: return BROAD_OK; /* what it tests is there: verify_score.h */
    }
    out->min = out->max = out->tested;
    return status;
}

/* ---- layer after layer ------------------------------------------------------------------------------------------ */

static int check_layer(broad__verification *v, broad__verify_probes *probes, size_t j, double *norm, int *out_holds)
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
        f.gradient = gradient_error(&pass, f.before, f.after, NULL);
        if (!(f.gradient <= BROAD__TOLERANCE)) status = doubted_gradient(&f, &pass);
        if (status == BROAD_OK && v->model->settings.supervise == BROAD_SUPERVISE_GCV)
            status = broad__verify_score(&f, probes, v, j);
        if (status == BROAD_OK) status = tested_again(&f, &pass, e_before);
        if (status == BROAD_OK) *out_holds = broad__verify_score_judge(v, j, &f) && broad__verify_judge(v, j, &f);
        *norm = f.after;
    }
    broad__free(e_before);
    broad__free(pass.areas);
    return status;
}

int broad__verify_chain(broad__verification *v, double *norm, int *out_holds)
{
    const broad_model *model = v->model;
    broad__verify_probes probes = {0};
    int status = BROAD_OK;
    for (size_t j = 0; j < model->layer_count && *out_holds && status == BROAD_OK; j++) {
        const broad__certificate *c = &model->layers[j].certificate;
        double before = j ? model->layers[j - 1].certificate.norm_after : model->first_norm;
        if (j && broad__verify_new_rows(model, j)) {
            before = c->norm_before;
            *norm = broad__verify_norm_of(v, c);
            if (!(fabs(*norm - before) <= BROAD__TOLERANCE * *norm + v->drift)) {
                *out_holds = broad__refuse(v->verdict, j + 1, "layer %zu: it starts from norm %.12g, recomputed %.12g",
                                           j + 1, before, *norm);
                break;
            }
        }
        *out_holds = broad__verify_record(v, j, before) && broad__verify_score_record(v, j);
        if (*out_holds) status = check_layer(v, &probes, j, norm, out_holds);
        v->verdict->layers += (size_t)(*out_holds && status == BROAD_OK);
    }
    broad__verify_probes_close(&probes);
    return status;
}
