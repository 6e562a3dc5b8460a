/* Weights of several layers that solve one ridge problem together: A'(Y - A W) = lambda W over A = [K_1 ... K_m]. */
#include "model/verify/verify_joint.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/device.h"
#include "compute/shards.h"
#include "model/verify/verify_doubt.h"
#include "model/verify/verify_nodes.h"
#include "model/verify/verify_records.h"

/* ---- the equations --------------------------------------------------------------------------------------------- */

/* One pass over the rows for one layer; each worker has an area of its own. */
typedef struct equation_pass {
    const broad__verification *v;
    const broad__solution *s;
    const broad__layer *layer;
    const double *w;
    int gradient;      /* K'E is wanted, else E -= K w and the squares of K's columns */
    size_t first, end; /* rows of this rank */
    size_t each;
    double *areas; /* block of K | sums: p x outputs, of which squares take p */
} equation_pass;

static void equation_block(void *context, size_t block, size_t worker)
{
    equation_pass *pass = context;
    const broad__device *reference = broad__device_reference();
    size_t p = pass->layer->width, c = pass->v->model->outputs, first = pass->first + block * BROAD__BLOCK_ROWS;
    size_t n = pass->end - first < BROAD__BLOCK_ROWS ? pass->end - first : BROAD__BLOCK_ROWS;
    double *k = pass->areas + worker * pass->each, *sums = k + BROAD__BLOCK_ROWS * p;
    double *e = pass->v->e + first * c;
    for (size_t i = 0; i < n; i++) broad__verify_row(pass->v, k + i * p, pass->layer, first + i);
    if (pass->gradient) {
        reference->cross(sums, c, k, p, p, e, c, c, n);
        return;
    }
    reference->apply(e, c, -1.0, k, p, n, pass->w, c, p, c);
    for (size_t i = 0; i < n * p; i++) sums[i % p] += k[i] * k[i];
}

/* out: the first `count` of the sums. */
static int equation_run(double *out, equation_pass *pass, size_t count)
{
    size_t p = pass->layer->width, workers = broad__pool_threads(pass->v->pool), lead = BROAD__BLOCK_ROWS * p;
    pass->each = lead + p * pass->v->model->outputs;
    pass->areas = broad__alloc_doubles(workers, pass->each);
    if (!pass->areas) return BROAD_NO_MEMORY;
    broad__verify_own(&pass->first, &pass->end, pass->v, pass->s->from, pass->s->rows);
    size_t blocks = (pass->end - pass->first + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS;
    int status = broad__pool_run_watched(pass->v->pool, blocks, equation_block, pass);
    memset(out, 0, count * sizeof(double));
    for (size_t w = 0; w < workers; w++)
        for (size_t i = 0; i < count; i++) out[i] += pass->areas[w * pass->each + lead + i];
    broad__free(pass->areas);
    return status == BROAD_OK ? broad__verify_add(pass->v, out, count) : status;
}

static const double *weights_of(const broad__solution *s, const broad__layer *layer)
{
    return s->joint ? layer->joint : layer->output;
}

static double sum_of_squares(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sum;
}

/* E minus the fits of layers [first, last), and the sizes of their terms. */
typedef struct sizes {
    size_t columns;
    double k, w; /* squares of A and of W */
} sizes;

static int take_off(sizes *out, double *columns, const broad__solution *s, const broad__verification *v, size_t first,
                    size_t last)
{
    int status = BROAD_OK;
    *out = (sizes){0};
    for (size_t j = first; status == BROAD_OK && j < last; j++) {
        const broad__layer *layer = &v->model->layers[j];
        equation_pass pass = {.v = v, .s = s, .layer = layer, .w = weights_of(s, layer)};
        double *own = columns + out->columns;
        status = equation_run(own, &pass, layer->width);
        for (size_t i = 0; status == BROAD_OK && i < layer->width; i++) out->k += own[i];
        out->w += sum_of_squares(pass.w, layer->width * v->model->outputs);
        out->columns += layer->width;
    }
    return status;
}

/* What a component may be off by: its column's length times `e`, what rounding of the nodes moves the column by times
 * `nodes`, and the rest. As for a single layer in verify_chain.c. */
typedef struct allowance {
    double e, nodes, rest;
    const double *doubt; /* squares of what the columns may have moved by; NULL: that is not counted yet */
} allowance;

static allowance allow(const broad__solution *s, const broad__verification *v, sizes size, double before)
{
    double rounding = size.k * sqrt(size.w);
    if (s->rows < size.columns) rounding += s->lambda > 0 ? size.k * sqrt(size.k) * s->after / s->lambda : INFINITY;
    return (allowance){before + v->drift / BROAD__TOLERANCE, before / BROAD__TOLERANCE,
                       s->lambda * sqrt(size.w) + rounding * BROAD__ROUNDING / BROAD__TOLERANCE, NULL};
}

/* columns: squares of those of all layers; at: where this layer's begin. */
static int layer_gradient(broad__solution *s, const broad__verification *v, size_t j, const double *columns, size_t at,
                          const allowance *granted)
{
    const broad__layer *layer = &v->model->layers[j];
    size_t p = layer->width, c = v->model->outputs;
    equation_pass pass = {.v = v, .s = s, .layer = layer, .w = weights_of(s, layer), .gradient = 1};
    double *gradient = broad__alloc_doubles(p, c);
    if (!gradient) return BROAD_NO_MEMORY;
    int status = equation_run(gradient, &pass, p * c);
    for (size_t i = 0; status == BROAD_OK && i < p * c; i++) {
        double scale = sqrt(columns[at + i / c]) * granted->e + granted->rest;
        if (granted->doubt) scale += sqrt(granted->doubt[at + i / c]) * granted->nodes;
        double off = fabs(gradient[i] - s->lambda * pass.w[i]) / scale;
        if (scale > 0 && !(off <= s->gradient)) s->gradient = off;
    }
    broad__free(gradient);
    return status;
}

static int gradients(broad__solution *s, const broad__verification *v, const double *columns, const allowance *granted)
{
    int status = BROAD_OK;
    s->gradient = 0;
    for (size_t j = s->first, at = 0; status == BROAD_OK && j < s->last; j++) {
        status = layer_gradient(s, v, j, columns, at, granted);
        at += v->model->layers[j].width;
    }
    return status;
}

/* The same with what rounding of the nodes may have done, to the columns and by them to E. */
static int doubted_gradients(broad__solution *s, broad__verification *v, const double *columns, sizes size,
                             double before)
{
    double *doubt = broad__alloc_doubles(size.columns, 1), moved = 0;
    if (!doubt) return BROAD_NO_MEMORY;
    int status = BROAD_OK;
    for (size_t j = s->first, at = 0; status == BROAD_OK && j < s->last; j++) {
        const broad__layer *layer = &v->model->layers[j];
        broad__doubted rows = {v, layer, weights_of(s, layer), s->from, s->rows};
        status = broad__verify_doubt(doubt + at, &moved, &rows);
        at += layer->width;
    }
    v->drift += moved;
    allowance granted = allow(s, v, size, before);
    granted.doubt = doubt;
    if (status == BROAD_OK) status = gradients(s, v, columns, &granted);
    broad__free(doubt);
    return status;
}

int broad__verify_solution(broad__solution *s, broad__verification *v)
{
    const broad_model *model = v->model;
    size_t width = 0;
    for (size_t j = 0; j < s->last; j++) width += model->layers[j].width;
    double *columns = broad__alloc_doubles(width, 1);
    if (!columns) return BROAD_NO_MEMORY;
    sizes older, size = {0};
    broad__verify_targets(v->e, v);
    int status = take_off(&older, columns, s, v, 0, s->first);
    double before = broad__verify_norm_rows(v, s->from, s->rows);
    if (status == BROAD_OK) status = take_off(&size, columns, s, v, s->first, s->last);
    s->after = broad__verify_norm_rows(v, s->from, s->rows);
    s->gradient = 0;
    v->drift = fmax(v->drift, BROAD__ROUNDING * (sqrt(older.k * older.w) + sqrt(size.k * size.w)));
    allowance granted = allow(s, v, size, before);
    if (status == BROAD_OK && size.w > 0) status = gradients(s, v, columns, &granted);
    if (status == BROAD_OK && !(s->gradient <= BROAD__TOLERANCE))
        status = doubted_gradients(s, v, columns, size, before);
    broad__free(columns);
    return status;
}

/* ---- at once --------------------------------------------------------------------------------------------------- */

/* Every block's record describes the whole network: the same rows, lambda and norms. */
static int same_records(broad__verification *v)
{
    const broad_model *model = v->model;
    const broad__certificate *a = &model->layers[0].certificate;
    for (size_t j = 1; j < model->layer_count; j++) {
        const broad__certificate *b = &model->layers[j].certificate;
        if (a->first_row != b->first_row || a->rows != b->rows || a->lambda != b->lambda ||
            a->norm_before != b->norm_before || a->norm_after != b->norm_after)
            return broad__refuse(v->verdict, j + 1,
                                 "layer %zu: its record is not that of the whole network, as layer 1's", j + 1);
    }
    return 1;
}

int broad__verify_at_once(broad__verification *v, double *out_norm, int *out_holds)
{
    const broad_model *model = v->model;
    if (!model->layer_count) return BROAD_OK;
    const broad__certificate *record = &model->layers[0].certificate;
    broad__solution s = {.last = model->layer_count, .from = record->first_row, .rows = record->rows};
    s.lambda = record->lambda;
    broad__finding f = {.before = broad__verify_norm_rows(v, s.from, s.rows)};
    *out_holds = same_records(v);
    for (size_t j = 0; *out_holds && j < model->layer_count; j++) *out_holds = broad__verify_record(v, j, f.before);
    if (!*out_holds) return BROAD_OK;
    int status = broad__verify_solution(&s, v);
    if (status < 0) return status;
    f.after = *out_norm = s.after;
    f.gradient = s.gradient;
    for (size_t j = 0; *out_holds && j < model->layer_count; j++) {
        *out_holds = broad__verify_judge(v, j, &f);
        v->verdict->layers += (size_t)*out_holds;
    }
    return BROAD_OK;
}

/* ---- beside a chain -------------------------------------------------------------------------------------------- */

static int joint_hash(char out[BROAD__HASH_TEXT], const broad_model *model)
{
    broad__hash *hash = broad__hash_open();
    if (!hash) return BROAD_NO_MEMORY;
    for (size_t j = 0; j < model->layer_count; j++)
        broad__hash_add(hash, model->layers[j].joint, model->layers[j].width * model->outputs * sizeof(double));
    broad__hash_close(out, hash);
    return BROAD_OK;
}

static int judge_joint(broad__verification *v, const broad__solution *s)
{
    const broad__joint_record *record = &v->model->joint;
    double floor = BROAD__FLOOR * v->model->first_norm + v->drift, error = fabs(s->after - record->norm);
    v->verdict->worst_norm_error = fmax(v->verdict->worst_norm_error, error / fmax(record->norm, floor));
    if (!(error <= BROAD__TOLERANCE * record->norm + floor))
        return broad__refuse(v->verdict, 0, "joint weights: recorded norm %.12g, recomputed %.12g", record->norm,
                             s->after);
    if (!(s->gradient <= BROAD__TOLERANCE))
        return broad__refuse(v->verdict, 0, "joint weights: they do not solve their ridge problem (off by %.3g)",
                             s->gradient);
    return 1;
}

int broad__verify_joint(broad__verification *v, int *out_holds)
{
    const broad_model *model = v->model;
    char hash[BROAD__HASH_TEXT];
    int status = joint_hash(hash, model);
    if (status < 0) return status;
    if (strcmp(hash, model->joint.weights) != 0) {
        *out_holds = broad__refuse(v->verdict, 0, "joint weights: they are not those the record was made for");
        return BROAD_OK;
    }
    broad__solution s = {.last = model->layer_count, .joint = 1, .rows = v->data->rows, .lambda = model->joint.lambda};
    v->drift = 0;
    status = broad__verify_solution(&s, v);
    if (status == BROAD_OK) *out_holds = judge_joint(v, &s);
    return status;
}
