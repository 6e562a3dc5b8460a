#include "model/verify/verify_records.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "layer/supervise.h"
#include "rng/draw.h"

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

int broad__verify_rows(broad__verification *v, int *out_holds)
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

/* Nodes that the model has, and how they were drawn. */
typedef struct drawn {
    const double *weight, *bias;
    broad__draw draw;
} drawn;

static drawn drawn_group(const broad_model *model, size_t g)
{
    const broad__group *group = &model->groups[g];
    broad__stream stream = {model->settings.seed, BROAD__FOR_FEATURES, (uint32_t)g, (uint16_t)group->step, 0};
    broad__draw draw = {stream, broad__model_columns(model), group->nodes, model->range * group->range,
                        model->settings.range_unit};
    return (drawn){group->weight, group->bias, draw};
}

static drawn drawn_layer(const broad_model *model, size_t j)
{
    const broad__layer *layer = &model->layers[j];
    const broad__certificate *c = &layer->certificate;
    broad__stream stream = {model->settings.seed, BROAD__FOR_ENHANCEMENT, (uint32_t)j, (uint16_t)c->step,
                            (uint16_t)c->draw};
    broad__draw draw = {stream, layer->inputs, layer->nodes, model->range * c->range, model->settings.range_unit};
    return (drawn){layer->weight, layer->bias, draw};
}

/* Draws the nodes again. *out_same: they are equal, bit by bit. */
static int same_draw(int *out_same, const drawn *d)
{
    size_t inputs = d->draw.inputs, nodes = d->draw.nodes;
    double *weight = broad__alloc_doubles(inputs, nodes), *bias = broad__alloc_doubles(nodes, 1);
    int status = weight && bias ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        broad__draw_nodes(weight, bias, &d->draw);
        *out_same = memcmp(weight, d->weight, inputs * nodes * sizeof(double)) == 0 &&
                    memcmp(bias, d->bias, nodes * sizeof(double)) == 0;
    }
    broad__free(weight);
    broad__free(bias);
    return status;
}

int broad__verify_draws(broad__verification *v, int *out_holds)
{
    const broad_model *model = v->model;
    unsigned long long seed = model->settings.seed;
    int status = BROAD_OK, same = 1;
    *out_holds = 1;
    for (size_t g = 0; status == BROAD_OK && *out_holds && g < model->group_count; g++) {
        if (model->groups[g].source != BROAD__WEIGHT_SOURCE_DRAWN) continue;
        drawn group = drawn_group(model, g);
        status = same_draw(&same, &group);
        if (status == BROAD_OK && !same)
            *out_holds = broad__refuse(
                v->verdict, 0, "the weights of feature group %zu are not those that seed %llu gives", g + 1, seed);
    }
    for (size_t j = 0; status == BROAD_OK && *out_holds && j < model->layer_count; j++) {
        drawn layer = drawn_layer(model, j);
        status = same_draw(&same, &layer);
        if (status == BROAD_OK && !same)
            *out_holds = broad__refuse(v->verdict, j + 1,
                                       "layer %zu: its random weights are not those that seed %llu gives", j + 1, seed);
    }
    return status;
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
    if (!near(c->ratio, ratio) || c->norm_after > c->norm_before * (1 + BROAD__FLOOR))
        return broad__refuse(v->verdict, j + 1, "layer %zu: its norms and its ratio do not agree", j + 1);
    if (c->ratio > broad__verify_ratio_bound(c) * (1 + ROOT_ROUNDING) || c->tested > c->bound || !c->passed)
        return broad__refuse(v->verdict, j + 1, "layer %zu: ratio %.9g, tested %.9g, above the bound %.9g", j + 1,
                             c->ratio, c->tested, c->bound);
    if (c->test == BROAD_SUPERVISE_RESIDUAL && c->tested != c->ratio)
        return broad__refuse(v->verdict, j + 1, "layer %zu: the tested value %.9g is not its ratio %.9g", j + 1,
                             c->tested, c->ratio);
    return 1;
}

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
    if (!(f->min <= c->bound * (1 + BROAD__TOLERANCE) + loose) || c->tested > f->max * (1 + loose) + loose ||
        c->tested < f->min * (1 - loose) - loose)
        return broad__refuse(v->verdict, j + 1, "layer %zu: tested value recorded %.9g, recomputed %.9g, bound %.9g",
                             j + 1, c->tested, f->tested, c->bound);
    return 1;
}
