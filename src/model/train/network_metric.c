#include "model/train/network_metric.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "model/train/configure.h"
#include "model/train/gradients.h"

enum { ROWS_MOST = 1000, BLOCK = 16 };

/* Of a block of rows. */
typedef struct network_slopes {
    broad_trainer *trainer;
    size_t rows, features, columns, outputs, widest;
    double *z;        /* rows x features */
    double *h, *bent; /* rows x widest: nodes of a layer, or of a group; what the output moves by with each argument */
    double *by_z;     /* outputs x rows x features: d output / d z */
    double *gradient; /* rows x columns */
} network_slopes;

static void slopes_close(network_slopes *s)
{
    broad__free(s->z), broad__free(s->h), broad__free(s->bent), broad__free(s->by_z), broad__free(s->gradient);
}

static int slopes_open(network_slopes *s, broad_trainer *t)
{
    const broad_model *model = t->model;
    *s = (network_slopes){.trainer = t,
                          .features = t->train.residual.z.features,
                          .columns = broad__model_columns(model),
                          .outputs = model->outputs};
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].nodes > s->widest) s->widest = model->layers[j].nodes;
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].nodes > s->widest) s->widest = model->groups[g].nodes;
    s->z = broad__alloc_doubles(BLOCK, s->features);
    s->h = broad__alloc_doubles(BLOCK, s->widest);
    s->bent = broad__alloc_doubles(BLOCK, s->widest);
    s->by_z = broad__alloc_doubles(s->outputs * BLOCK, s->features);
    s->gradient = broad__alloc_doubles(BLOCK, s->columns);
    return s->z && s->h && s->bent && s->by_z && s->gradient ? BROAD_OK : BROAD_NO_MEMORY;
}

/* d output / d z, as far as one layer has to do with it. */
static void add_layer(network_slopes *s, size_t index)
{
    const broad_model *model = s->trainer->model;
    const broad__layer *layer = &model->layers[index];
    const broad__device *device = s->trainer->device;
    broad__kblock k = broad__model_kblock(model, index);
    const double *w = layer->joint ? layer->joint : layer->output;
    size_t c = s->outputs, nodes = layer->nodes;
    device->nodes(s->h, nodes, &k.nodes, s->z, s->features, s->rows);
    for (size_t q = 0; q < c; q++) {
        double *by_z = s->by_z + q * BLOCK * s->features;
        for (size_t i = 0; i < s->rows; i++) {
            for (size_t f = 0; f < k.prefix; f++) by_z[i * s->features + k.first + f] += w[f * c + q];
            for (size_t n = 0; n < nodes; n++)
                s->bent[i * nodes + n] =
                    broad__slope(model->settings.activation, s->h[i * nodes + n]) * w[(k.prefix + n) * c + q];
        }
        device->outer(by_z, s->features, s->bent, nodes, s->rows, layer->weight, nodes, layer->inputs, nodes);
    }
}

/* gradient += what one output moves by through the nodes of a group, which begin at column `first` of Z. */
static void add_group(network_slopes *s, size_t output, const broad__group *group, size_t first)
{
    broad_activation activation = s->trainer->model->settings.feature_activation;
    const double *by_z = s->by_z + output * BLOCK * s->features;
    size_t nodes = group->nodes;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t n = 0; n < nodes; n++) {
            size_t at = i * s->features + first + n;
            s->bent[i * nodes + n] = broad__slope(activation, s->z[at]) * by_z[at];
        }
    s->trainer->device->outer(s->gradient, s->columns, s->bent, nodes, s->rows, group->weight, nodes, s->columns,
                              nodes);
}

/* Adds rows [first, first + s->rows) of `count` that are evenly spaced. */
static void add_rows(broad__metric *out, network_slopes *s, size_t first, size_t count)
{
    const broad_model *model = s->trainer->model;
    const broad__residual *residual = &s->trainer->train.residual;
    for (size_t i = 0; i < s->rows; i++) {
        size_t row = (size_t)((double)(first + i) * (double)residual->rows / (double)count);
        memcpy(s->z + i * s->features, broad__z_supply_rows(&residual->z, row, 1, 0), s->features * sizeof(double));
    }
    memset(s->by_z, 0, s->outputs * BLOCK * s->features * sizeof(double));
    for (size_t j = 0; j < model->layer_count; j++) add_layer(s, j);
    for (size_t q = 0; q < s->outputs; q++) {
        memset(s->gradient, 0, s->rows * s->columns * sizeof(double));
        for (size_t g = 0, at = 0; at < s->features; at += model->groups[g++].nodes)
            add_group(s, q, &model->groups[g], at);
        broad__metric_add(out, s->trainer->device, s->gradient, s->rows);
    }
}

static int network_metric(broad__metric *out, broad_trainer *t)
{
    size_t rows = t->train.residual.rows, count = rows < ROWS_MOST ? rows : ROWS_MOST;
    network_slopes s;
    int status = broad__residual_undivide(&t->train.residual); /* Z of some rows is read here */
    if (status < 0) return status;
    status = slopes_open(&s, t);
    for (size_t i = 0; status == BROAD_OK && i < count; i += BLOCK) {
        s.rows = count - i < BLOCK ? count - i : BLOCK;
        add_rows(out, &s, i, count);
        status = broad__watch_check(status);
    }
    slopes_close(&s);
    return status;
}

int broad__network_metric_wanted(const broad_model *model)
{
    const broad_options *o = &model->settings;
    if (o->metric == BROAD_LEARNED_NO || o->feature_weights == BROAD_FEATURE_WEIGHTS_AUTOENCODER) return 0;
    if (!broad__slope_known(o->activation) || !broad__slope_known(o->feature_activation)) return 0;
    return model->layer_count > 0 && (o->metric == BROAD_LEARNED_YES || model->root != NULL);
}

int broad__network_metric_use(broad__directions *out_before, int *out_used, broad_trainer *t)
{
    broad_model *model = t->model;
    broad__metric metric = {0};
    broad__directions directions = {0};
    int status = broad__metric_open(&metric, broad__model_columns(model));
    if (status == BROAD_OK) status = network_metric(&metric, t);
    if (status == BROAD_OK && broad__metric_settle(&metric))
        status = broad__directions_open(&directions, &metric, metric.columns, t->device);
    broad__metric_close(&metric);
    if (status < 0 || !directions.relevance) return status;
    *out_before = (broad__directions){.relevance = model->relevance, .root = model->root};
    *out_used = 1;
    model->relevance = model->root = NULL;
    broad__model_take_directions(model, &directions);
    return BROAD_OK;
}
