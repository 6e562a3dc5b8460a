#include "model/predict.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/pool.h"
#include "compute/shards.h"
#include "model/map.h"

typedef struct prediction {
    double *out;
    const broad_model *model;
    const broad__device *device;
    broad__feature_map map;
    const double *x;
    size_t rows, stride;
    size_t widest;   /* columns of the widest layer */
    double *scratch; /* for each worker: scaled inputs, Z, K */
    size_t scratch_each;
} prediction;

/* scores += K_j W_j, K_j = [some columns of Z | H_j] */
static void add_layer(const prediction *p, const broad__layer *layer, double *scores, const double *z, double *k,
                      size_t n)
{
    size_t features = p->map.nodes.nodes, prefix = layer->width - layer->nodes;
    size_t first = broad__model_feature_nodes(p->model, layer->first_group);
    for (size_t i = 0; i < n && prefix; i++)
        memcpy(k + i * layer->width, z + i * features + first, prefix * sizeof(double));
    broad__nodes nodes = {layer->inputs, layer->nodes, layer->weight, layer->bias, p->model->settings.activation, 0};
    p->device->nodes(k + prefix, layer->width, &nodes, z, features, n);
    p->device->apply(scores, p->model->outputs, 1.0, k, layer->width, n, layer->joint ? layer->joint : layer->output,
                     p->model->outputs, layer->width, p->model->outputs);
}

static void predict_block(void *context, size_t block, size_t worker)
{
    const prediction *p = context;
    const broad_model *model = p->model;
    size_t first = block * BROAD__BLOCK_ROWS, outputs = model->outputs;
    size_t n = p->rows - first < BROAD__BLOCK_ROWS ? p->rows - first : BROAD__BLOCK_ROWS;
    double *scaled = p->scratch + worker * p->scratch_each;
    double *z = scaled + n * broad__model_columns(model), *k = z + n * p->map.nodes.nodes;
    double *scores = p->out + first * outputs;
    memset(scores, 0, n * outputs * sizeof(double));
    if (model->layer_count)
        broad__feature_block(z, p->map.nodes.nodes, &p->map, p->device, p->x + first * p->stride, p->stride, n, scaled);
    for (size_t j = 0; j < model->layer_count; j++) add_layer(p, &model->layers[j], scores, z, k, n);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < outputs; c++)
            scores[i * outputs + c] = scores[i * outputs + c] / model->output_factor[c] + model->output_shift[c];
}

static int check_inputs(const broad_model *model, const double *x, size_t rows, size_t stride)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < model->inputs; j++) {
            double value = x[i * stride + j];
            if (isfinite(value) || (isnan(value) && model->missing == BROAD_MISSING_MEAN)) continue;
            return broad__fail(BROAD_BAD_DATA, "row %zu, input '%s': %g is not a number the model can take%s", i + 1,
                               model->input_names[j], value,
                               isnan(value) ? " (it was trained without missing values)" : "");
        }
    return BROAD_OK;
}

static int predict_open(prediction *p, double **weights, size_t workers)
{
    const broad_model *model = p->model;
    size_t nodes = broad__model_feature_nodes(model, model->group_count);
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].width > p->widest) p->widest = model->layers[j].width;
    size_t block = p->rows < BROAD__BLOCK_ROWS ? p->rows : BROAD__BLOCK_ROWS;
    p->scratch_each = block * (broad__model_columns(model) + nodes + p->widest);
    p->scratch = broad__alloc_doubles(workers, p->scratch_each);
    *weights = broad__alloc_doubles(broad__model_map_room(model, 0, model->group_count), 1);
    if (!p->scratch || !*weights) return BROAD_NO_MEMORY;
    broad__model_map(&p->map, *weights, *weights + broad__model_columns(model) * nodes, model, 0, model->group_count);
    return BROAD_OK;
}

int broad__predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride, size_t threads)
{
    int status = check_inputs(model, x, rows, stride);
    if (status < 0 || rows == 0) return status;
    size_t blocks = (rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS;
    prediction p = {.out = out, .model = model, .device = broad__device_cpu(), .x = x, .rows = rows, .stride = stride};
    double *weights = NULL;
    broad__pool *pool = NULL;
    status = broad__pool_open(&pool, blocks < 2 ? 1 : threads);
    if (status == BROAD_OK) status = predict_open(&p, &weights, broad__pool_threads(pool));
    if (status == BROAD_OK) broad__pool_run(pool, blocks, predict_block, &p);
    broad__pool_close(pool);
    broad__free(p.scratch);
    broad__free(weights);
    return status;
}
