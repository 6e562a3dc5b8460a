/* Networks whose weights are solved for again with every layer, all of them or the last ones. */
#include "model/verify/verify_growth.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "model/kind.h"
#include "model/verify/verify_fit.h"
#include "model/verify/verify_joint.h"
#include "model/verify/verify_nodes.h"
#include "model/verify/verify_records.h"

static size_t width_of(const broad_model *model, size_t first, size_t last)
{
    size_t width = 0;
    for (size_t j = first; j < last; j++) width += model->layers[j].width;
    return width;
}

/* ---- a layer by itself ----------------------------------------------------------------------------------------- */

/* The layer alone, fitted to E: rows x outputs. Largest part of an output's square that remains; weights where wanted.
 * */
static int fit_alone(double *out_worst, double *out_weights, const broad__verification *v, size_t j, const double *e)
{
    const broad__layer *layer = &v->model->layers[j];
    size_t c = v->model->outputs, rows = layer->certificate.rows;
    broad__verify_fit g;
    int status = broad__verify_fit_open(&g, v, &layer->certificate, layer->width, e, out_weights != NULL);
    if (status == BROAD_OK) status = broad__verify_fit_add(&g, layer);
    *out_worst = 0;
    for (size_t q = 0; status == BROAD_OK && q < c; q++) {
        double before = 0;
        for (size_t i = 0; i < rows; i++) before += e[i * c + q] * e[i * c + q];
        if (before > 0) *out_worst = fmax(*out_worst, broad__verify_fit_square(&g, q) / before);
    }
    if (status == BROAD_OK && out_weights) broad__verify_fit_weights(out_weights, &g);
    broad__verify_fit_close(&g);
    return status;
}

/* ---- what is stored -------------------------------------------------------------------------------------------- */

/* The weights of the layers from `first` on solve their equations on the last layer's rows. */
static int stored_finding(broad__finding *found, broad__verification *v, size_t first)
{
    size_t count = v->model->layer_count;
    const broad__certificate *c = &v->model->layers[count - 1].certificate;
    broad__solution s = {.first = first, .last = count, .from = c->first_row, .rows = c->rows, .lambda = c->lambda};
    int status = broad__verify_solution(&s, v);
    *found = (broad__finding){.before = c->norm_before, .after = s.after, .gradient = s.gradient, .tested = NAN};
    return status;
}

/* The same, or those of the last layer alone do: training keeps whichever has the smaller residual, and near a tie it
 * may be either. */
static int check_stored(broad__verification *v, size_t first, int *out_holds)
{
    size_t last = v->model->layer_count - 1;
    int window = broad__fitting_of(&v->model->settings) == BROAD__FIT_WINDOW;
    broad__finding f;
    int status = stored_finding(&f, v, first);
    if (status == BROAD_OK && window && first < last && !(f.gradient <= BROAD__TOLERANCE))
        status = stored_finding(&f, v, last);
    if (status == BROAD_OK) *out_holds = broad__verify_judge(v, last, &f);
    return status;
}

/* ---- all weights, with every layer ----------------------------------------------------------------------------- */

/* The fit on layer j's rows with the layers before it. */
static int restart(broad__verify_fit *g, const broad__verification *v, size_t j)
{
    const broad_model *model = v->model;
    broad__certificate record = model->layers[j].certificate;
    record.lambda = model->layers[0].certificate.lambda;
    broad__verify_fit_close(g);
    int status = broad__verify_fit_open(g, v, &record, width_of(model, 0, model->layer_count),
                                        v->e + record.first_row * model->outputs, 0);
    for (size_t i = 0; status == BROAD_OK && i < j; i++) status = broad__verify_fit_add(g, &model->layers[i]);
    return status;
}

/* Adds layer j; found: what its record should say. */
static int step(broad__finding *found, broad__verify_fit *g, size_t j)
{
    const broad__verification *v = g->v;
    const broad__layer *layer = &v->model->layers[j];
    double first[2], then[2], worst = NAN;
    double *e = broad__alloc_doubles(g->rows, v->model->outputs);
    if (!e) return BROAD_NO_MEMORY;
    broad__verify_fit_residual(e, g);
    *found = (broad__finding){.before = broad__verify_fit_norm(g)};
    broad__verify_fit_leave_out(first, g);
    int status = broad__verify_fit_add(g, layer);
    found->after = broad__verify_fit_norm(g);
    broad__verify_fit_leave_out(then, g);
    if (status == BROAD_OK && layer->certificate.test == BROAD_SUPERVISE_OUTPUT)
        status = fit_alone(&worst, NULL, v, j, e);
    if (layer->certificate.test == BROAD_SUPERVISE_LOO) {
        found->tested = sqrt(then[0] / first[0]);
        found->min = sqrt(fmax(then[0] - then[1], 0) / (first[0] + first[1]));
        found->max = first[0] > first[1] ? sqrt((then[0] + then[1]) / (first[0] - first[1])) : INFINITY;
    } else {
        found->tested = found->min = found->max = worst;
    }
    broad__free(e);
    return status;
}

int broad__verify_stepwise(broad__verification *v, double *out_norm, int *out_holds)
{
    const broad_model *model = v->model;
    broad__verify_fit g = {0};
    int status = BROAD_OK;
    for (size_t j = 0; status == BROAD_OK && *out_holds && j < model->layer_count; j++) {
        broad__finding f;
        if (model->layers[j].certificate.lambda != model->layers[0].certificate.lambda) {
            *out_holds = broad__refuse(v->verdict, j + 1, "layer %zu: its lambda is not that of layer 1", j + 1);
            break;
        }
        if (broad__verify_new_rows(model, j)) status = restart(&g, v, j);
        if (status == BROAD_OK) *out_holds = broad__verify_record(v, j, broad__verify_fit_norm(&g));
        if (status == BROAD_OK && *out_holds) status = step(&f, &g, j);
        if (status < 0 || !*out_holds) break;
        *out_holds = broad__verify_judge(v, j, &f);
        *out_norm = f.after;
        v->verdict->layers += (size_t)*out_holds;
    }
    broad__verify_fit_close(&g);
    if (status == BROAD_OK && *out_holds && model->layer_count) status = check_stored(v, 0, out_holds);
    return status;
}

/* ---- the last weights, with every layer ------------------------------------------------------------------------ */

typedef struct window {
    broad__verification *v;
    double **w; /* for each layer, its weights so far */
    double *e;  /* all rows x outputs: their residual */
    double *k;  /* a row of K */
    double floor;
} window;

/* First of the last layers up to j that have `window` columns together; j itself in any case. */
static size_t window_first(const broad_model *model, size_t j)
{
    size_t first = j, columns = model->layers[j].width;
    while (first && columns + model->layers[first - 1].width <= model->settings.window)
        columns += model->layers[--first].width;
    return first;
}

/* E += sign K_l W_l for layers [first, last), in all rows. */
static void shift(window *s, size_t first, size_t last, double sign)
{
    size_t c = s->v->model->outputs;
    for (size_t l = first; l < last; l++) {
        const broad__layer *layer = &s->v->model->layers[l];
        for (size_t i = 0; i < s->v->data->rows; i++) {
            broad__verify_row(s->v, s->k, layer, i);
            for (size_t a = 0; a < layer->width; a++)
                for (size_t q = 0; q < c; q++) s->e[i * c + q] += sign * s->k[a] * s->w[l][a * c + q];
        }
    }
}

static double window_norm(const window *s, const broad__certificate *c)
{
    size_t outputs = s->v->model->outputs;
    return broad__verify_norm(s->e + c->first_row * outputs, c->rows * outputs);
}

/* Layers [first, j] again, together. Training keeps the fit if its residual is no larger than that of layer j alone,
 * and leaves things as they were if it is: the record says which. */
static int solve_again(window *s, size_t first, size_t j)
{
    const broad_model *model = s->v->model;
    const broad__certificate *c = &model->layers[j].certificate;
    size_t outputs = model->outputs, width = width_of(model, first, j + 1);
    broad__verify_fit g;
    shift(s, first, j + 1, 1);
    int status = broad__verify_fit_open(&g, s->v, c, width, s->e + c->first_row * outputs, 1);
    double *w = broad__alloc_doubles(width, outputs);
    if (status == BROAD_OK && !w) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        for (size_t l = first; l <= j && status == BROAD_OK; l++) status = broad__verify_fit_add(&g, &model->layers[l]);
        int kept = fabs(broad__verify_fit_norm(&g) - c->norm_after) <= BROAD__TOLERANCE * c->norm_after + s->floor;
        broad__verify_fit_weights(w, &g);
        const double *from = w;
        for (size_t l = first; l <= j && kept; l++) {
            size_t count = model->layers[l].width * outputs;
            memcpy(s->w[l], from, count * sizeof(double));
            from += count;
        }
        shift(s, first, j + 1, -1);
    }
    broad__free(w);
    broad__verify_fit_close(&g);
    return status;
}

static int window_step(broad__finding *found, window *s, size_t j)
{
    const broad_model *model = s->v->model;
    const broad__layer *layer = &model->layers[j];
    size_t first = window_first(model, j);
    *found = (broad__finding){.before = window_norm(s, &layer->certificate)};
    s->w[j] = broad__alloc_doubles(layer->width, model->outputs);
    if (!s->w[j]) return BROAD_NO_MEMORY;
    int status = fit_alone(&found->tested, s->w[j], s->v, j, s->e + layer->certificate.first_row * model->outputs);
    if (status < 0) return status;
    shift(s, j, j + 1, -1);
    if (first < j) status = solve_again(s, first, j);
    found->after = window_norm(s, &layer->certificate);
    found->min = found->max = found->tested;
    return status;
}

static int window_open(window *s, broad__verification *v)
{
    const broad_model *model = v->model;
    size_t widest = 0;
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].width > widest) widest = model->layers[j].width;
    *s = (window){.v = v, .e = v->e, .floor = BROAD__FLOOR * model->first_norm};
    s->w = broad__alloc_array(model->layer_count, sizeof *s->w);
    s->k = broad__alloc_doubles(widest, 1);
    return s->w && s->k ? BROAD_OK : BROAD_NO_MEMORY;
}

static void window_close(window *s)
{
    for (size_t j = 0; s->w && j < s->v->model->layer_count; j++) broad__free(s->w[j]);
    broad__free(s->w);
    broad__free(s->k);
}

int broad__verify_window(broad__verification *v, double *out_norm, int *out_holds)
{
    const broad_model *model = v->model;
    window s;
    int status = window_open(&s, v);
    for (size_t j = 0; status == BROAD_OK && *out_holds && j < model->layer_count; j++) {
        broad__finding f;
        *out_holds = broad__verify_record(v, j, window_norm(&s, &model->layers[j].certificate));
        if (*out_holds) status = window_step(&f, &s, j);
        if (status < 0 || !*out_holds) break;
        *out_holds = broad__verify_judge(v, j, &f);
        *out_norm = f.after;
        v->verdict->layers += (size_t)*out_holds;
    }
    window_close(&s);
    if (status == BROAD_OK && *out_holds && model->layer_count)
        status = check_stored(v, window_first(model, model->layer_count - 1), out_holds);
    return status;
}
