#include "model/verify/verify_doubt.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "model/verify/verify_nodes.h"

/* What a node may be off by whose sum x is off by `by`. */
static double moved_node(broad_activation activation, double x, double by)
{
    if (activation == BROAD_ACTIVATION_SINE) return fmin(by, 2);
    double at = broad__verify_activation(activation, x);
    double most = fmax(fabs(broad__verify_activation(activation, x + by) - at),
                       fabs(broad__verify_activation(activation, x - by) - at));
    return activation == BROAD_ACTIVATION_GAUSSIAN && fabs(x) < by ? fmax(most, 1 - at) : most;
}

/* by: what each of x is off by; NULL: nothing. */
static void nodes_doubt(double *out, const broad__nodes *n, const double *x, const double *by)
{
    for (size_t j = 0; j < n->nodes; j++) {
        double sum = n->bias[j], size = fabs(sum), moved = 0;
        for (size_t i = 0; i < n->inputs; i++) {
            double weight = n->weight[i * n->nodes + j];
            sum += x[i] * weight;
            size += fabs(x[i] * weight);
            if (by) moved += by[i] * fabs(weight);
        }
        out[j] = moved_node(n->activation, sum, BROAD__ROUNDING * size + moved);
    }
}

static void features_doubt(double *out, const broad__verification *v, const double *x)
{
    const broad_model *model = v->model;
    for (size_t g = 0; g < model->group_count; g++) {
        const broad__group *group = &model->groups[g];
        broad__nodes nodes = {.inputs = broad__model_columns(model),
                              .nodes = group->nodes,
                              .weight = group->weight,
                              .bias = group->bias,
                              .activation = model->settings.feature_activation};
        if (group->source == BROAD__WEIGHT_SOURCE_DIRECT) memset(out, 0, group->nodes * sizeof(double));
        else nodes_doubt(out, &nodes, x, NULL);
        out += group->nodes;
    }
}

/* One pass over the rows; each worker has an area of its own. */
typedef struct doubt_pass {
    const broad__doubted *d;
    size_t first, end; /* rows of this rank */
    size_t each;
    double *areas; /* squares of the columns, square of what E moves by | a row: x, z, what z and k are off by */
} doubt_pass;

static void add_row(double *sums, double *scratch, const broad__doubted *d, size_t row)
{
    const broad__verification *v = d->v;
    const broad__layer *layer = d->layer;
    size_t p = layer->width, c = v->model->outputs, prefix = p - layer->nodes;
    double *x = scratch, *z = x + broad__model_columns(v->model), *z_doubt = z + v->features,
           *doubt = z_doubt + v->features, root = v->sqrt_weight ? v->sqrt_weight[row] : 1;
    broad__nodes nodes = {.inputs = layer->inputs,
                          .nodes = layer->nodes,
                          .weight = layer->weight,
                          .bias = layer->bias,
                          .activation = v->model->settings.activation};
    broad__verify_features(v, z, x, row);
    features_doubt(z_doubt, v, x);
    if (prefix)
        memcpy(doubt, z_doubt + broad__model_feature_nodes(v->model, layer->first_group), prefix * sizeof(double));
    nodes_doubt(doubt + prefix, &nodes, z, z_doubt);
    for (size_t a = 0; a < p; a++) sums[a] += root * doubt[a] * root * doubt[a];
    for (size_t q = 0; q < c; q++) {
        double moved = 0;
        for (size_t a = 0; a < p; a++) moved += root * doubt[a] * fabs(d->w[a * c + q]);
        sums[p] += moved * moved;
    }
}

static void doubt_block(void *context, size_t block, size_t worker)
{
    doubt_pass *pass = context;
    size_t first = pass->first + block * BROAD__BLOCK_ROWS;
    size_t n = pass->end - first < BROAD__BLOCK_ROWS ? pass->end - first : BROAD__BLOCK_ROWS;
    double *sums = pass->areas + worker * pass->each, *scratch = sums + pass->d->layer->width + 1;
    for (size_t i = 0; i < n; i++) add_row(sums, scratch, pass->d, first + i);
}

int broad__verify_doubt(double *columns, double *moved, const broad__doubted *d)
{
    const broad__verification *v = d->v;
    size_t p = d->layer->width, workers = broad__pool_threads(v->pool);
    doubt_pass pass = {.d = d, .each = p + 1 + broad__model_columns(v->model) + 2 * v->features + p};
    pass.areas = broad__alloc_doubles(workers, pass.each);
    if (!pass.areas) return BROAD_NO_MEMORY;
    broad__verify_own(&pass.first, &pass.end, v, d->from, d->rows);
    size_t blocks = (pass.end - pass.first + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS;
    int status = broad__pool_run_watched(v->pool, blocks, doubt_block, &pass);
    for (size_t w = 1; w < workers; w++)
        for (size_t a = 0; a <= p; a++) pass.areas[a] += pass.areas[w * pass.each + a];
    if (status == BROAD_OK) status = broad__verify_add(v, pass.areas, p + 1);
    memcpy(columns, pass.areas, p * sizeof(double));
    *moved += sqrt(pass.areas[p]);
    broad__free(pass.areas);
    return status;
}
