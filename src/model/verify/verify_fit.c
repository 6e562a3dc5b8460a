#include "model/verify/verify_fit.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "model/verify/verify_nodes.h"

/* A column of which less than this part is new adds nothing but rounding. */
static const double NOTHING_NEW = 1e-12;
enum { CHUNK = 64, STRETCH = 1024 };

void broad__verify_fit_close(broad__verify_fit *g)
{
    broad__free(g->q);
    broad__free(g->left);
    broad__free(g->r);
    broad__free(g->turned);
    broad__free(g->part);
    broad__free(g->h);
    broad__free(g->k);
    broad__free(g->target);
    broad__sweep_close(&g->sweep);
    memset(g, 0, sizeof *g);
}

static int open_columns(broad__verify_fit *g)
{
    g->q = broad__alloc_doubles(g->capacity, g->length);
    g->r = broad__alloc_doubles(g->capacity, g->capacity);
    g->turned = broad__alloc_doubles(g->capacity, g->v->model->outputs);
    g->part = broad__alloc_doubles(g->capacity, 1);
    g->k = broad__alloc_doubles(g->capacity, 1);
    return g->q && g->r && g->turned && g->part && g->k ? BROAD_OK : BROAD_NO_MEMORY;
}

static int open_swept(broad__verify_fit *g)
{
    size_t c = g->v->model->outputs;
    g->target = broad__alloc_doubles(c, g->length);
    if (!g->target) return BROAD_NO_MEMORY;
    memcpy(g->target, g->left, c * g->length * sizeof(double));
    return broad__sweep_open(&g->sweep, g->v->pool, g->rows, g->lambda);
}

int broad__verify_fit_open(broad__verify_fit *out, const broad__verification *v, const broad__certificate *record,
                           size_t columns, const double *target, int weights)
{
    size_t c = v->model->outputs;
    *out = (broad__verify_fit){
        .v = v, .from = record->first_row, .rows = record->rows, .capacity = columns, .lambda = record->lambda};
    out->swept = columns > out->rows && record->lambda > 0 && !weights;
    out->length = out->swept ? out->rows : out->rows + columns;
    out->left = broad__alloc_doubles(c, out->length);
    out->h = broad__alloc_doubles(out->rows, 1);
    if (!out->left || !out->h) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < out->rows * c; i++) out->left[i % c * out->length + i / c] = target[i];
    out->off = BROAD__ROUNDING * broad__verify_norm(target, out->rows * c) + v->drift;
    return out->swept ? open_swept(out) : open_columns(out);
}

/* ---- Gram-Schmidt ---------------------------------------------------------------------------------------------- */

static void project_chunk(void *context, size_t chunk, size_t worker)
{
    (void)worker;
    broad__verify_fit *g = context;
    size_t end = (chunk + 1) * CHUNK < g->columns ? (chunk + 1) * CHUNK : g->columns;
    for (size_t l = chunk * CHUNK; l < end; l++)
        g->part[l] = broad__verify_dot(g->q + l * g->length, g->q + g->columns * g->length, g->rows + l + 1);
}

static void subtract_stretch(void *context, size_t stretch, size_t worker)
{
    (void)worker;
    broad__verify_fit *g = context;
    size_t first = stretch * STRETCH, end = first + STRETCH < g->length ? first + STRETCH : g->length;
    double *x = g->q + g->columns * g->length;
    for (size_t l = first < g->rows ? 0 : first - g->rows; l < g->columns; l++) {
        const double *q = g->q + l * g->length;
        for (size_t i = first; i < end; i++) x[i] -= g->part[l] * q[i];
    }
}

/* Subtracts from the current column its projections onto those before it. */
static void orthogonalise(broad__verify_fit *g)
{
    broad__pool_run(g->v->pool, (g->columns + CHUNK - 1) / CHUNK, project_chunk, g);
    broad__pool_run(g->v->pool, (g->rows + g->columns + STRETCH - 1) / STRETCH, subtract_stretch, g);
    for (size_t l = 0; l < g->columns; l++) g->r[l * g->capacity + g->columns] += g->part[l];
}

/* The column that lies at the end becomes part of the fit. One that brings nothing new is zero, and so is its weight.
 * */
static void take_column(broad__verify_fit *g)
{
    size_t at = g->columns, c = g->v->model->outputs, length = g->rows + at + 1;
    double *x = g->q + at * g->length, before = broad__verify_dot(x, x, g->rows);
    x[g->rows + at] = sqrt(g->lambda);
    orthogonalise(g);
    if (broad__verify_dot(x, x, length) < 0.5 * (before + g->lambda))
        orthogonalise(g); /* twice is enough, and once if little goes */
    double norm = sqrt(broad__verify_dot(x, x, length));
    if (!(norm > NOTHING_NEW * sqrt(before))) norm = 0;
    g->r[at * g->capacity + at] = norm;
    for (size_t i = 0; i < length; i++) x[i] = norm > 0 ? x[i] / norm : 0;
    for (size_t i = 0; i < g->rows; i++) g->h[i] += x[i] * x[i];
    for (size_t j = 0; j < c; j++) {
        double *left = g->left + j * g->length, t = broad__verify_dot(x, left, length);
        for (size_t i = 0; i < length; i++) left[i] -= t * x[i];
        g->turned[at * c + j] = t;
    }
    g->columns++;
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static int add_columns(broad__verify_fit *g, const broad__layer *layer)
{
    double *fresh = g->q + g->columns * g->length;
    for (size_t i = 0; i < g->rows; i++) {
        broad__verify_row(g->v, g->k, layer, g->from + i);
        for (size_t a = 0; a < layer->width; a++) fresh[a * g->length + i] = g->k[a];
    }
    int status = BROAD_OK;
    for (size_t a = 0; a < layer->width && status == BROAD_OK; a++) {
        status = broad__watch_poll(a, layer->width);
        if (status == BROAD_OK) take_column(g);
    }
    return status;
}

static int add_swept(broad__verify_fit *g, const broad__layer *layer)
{
    double *k = broad__alloc_doubles(g->rows, layer->width);
    if (!k) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < g->rows; i++) broad__verify_row(g->v, k + i * layer->width, layer, g->from + i);
    int status = broad__sweep_add(&g->sweep, k, layer->width);
    for (size_t j = 0; status == BROAD_OK && j < g->v->model->outputs; j++)
        broad__sweep_residual(g->left + j * g->length, &g->sweep, g->target + j * g->length);
    broad__sweep_rests(g->h, &g->sweep);
    for (size_t i = 0; i < g->rows; i++) g->h[i] = 1 - g->h[i];
    broad__free(k);
    return status;
}

int broad__verify_fit_add(broad__verify_fit *g, const broad__layer *layer)
{
    return g->swept ? add_swept(g, layer) : add_columns(g, layer);
}

double broad__verify_fit_square(const broad__verify_fit *g, size_t output)
{
    const double *left = g->left + output * g->length;
    return broad__verify_dot(left, left, g->rows);
}

double broad__verify_fit_norm(const broad__verify_fit *g)
{
    double sum = 0;
    for (size_t j = 0; j < g->v->model->outputs; j++) sum += broad__verify_fit_square(g, j);
    return sqrt(sum);
}

void broad__verify_fit_leave_out(double sums[2], const broad__verify_fit *g)
{
    sums[0] = sums[1] = 0;
    for (size_t i = 0; i < g->rows; i++) {
        double square = 0;
        for (size_t j = 0; j < g->v->model->outputs; j++) square += pow(g->left[j * g->length + i], 2);
        broad__verify_leave_out(sums, square, g->h[i], g->off);
    }
}

void broad__verify_fit_residual(double *out, const broad__verify_fit *g)
{
    size_t c = g->v->model->outputs;
    for (size_t i = 0; i < g->rows * c; i++) out[i] = g->left[i % c * g->length + i / c];
}

void broad__verify_fit_weights(double *out, const broad__verify_fit *g)
{
    size_t p = g->columns, c = g->v->model->outputs;
    for (size_t i = p; i-- > 0;)
        for (size_t j = 0; j < c; j++) {
            double sum = g->turned[i * c + j], pivot = g->r[i * g->capacity + i];
            for (size_t k = i + 1; k < p; k++) sum -= g->r[i * g->capacity + k] * out[k * c + j];
            out[i * c + j] = pivot > 0 ? sum / pivot : 0;
        }
}
