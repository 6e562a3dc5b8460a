#include "model/model_phi.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"

/* Inputs whose weights are put side by side at a time. */
enum { STRETCH = 256 };

typedef struct joining {
    double *weight; /* columns x nodes */
    size_t columns, nodes;
    const broad__group *groups;
    size_t count;
} joining;

/* Row by row, so that every line of the fresh memory is written to once. */
static void join_stretch(void *context, size_t index, size_t worker)
{
    (void)worker;
    const joining *join = context;
    size_t end = broad__min((index + 1) * STRETCH, join->columns);
    for (size_t i = index * STRETCH; i < end; i++) {
        double *to = join->weight + i * join->nodes;
        for (size_t g = 0; g < join->count; to += join->groups[g++].nodes)
            memcpy(to, join->groups[g].weight + i * join->groups[g].nodes, join->groups[g].nodes * sizeof(double));
    }
}

static void join_weights(const joining *join, broad__pool *pool)
{
    size_t stretches = (join->columns + STRETCH - 1) / STRETCH;
    if (pool) broad__pool_run(pool, stretches, join_stretch, (void *)join);
    else
        for (size_t i = 0; i < stretches; i++) join_stretch((void *)join, i, 0);
}

int broad__model_phi(broad__phi *out, double **out_weights, const broad_model *model, const broad__device *device,
                     broad__pool *pool, size_t first, size_t count)
{
    size_t nodes = broad__model_feature_nodes(model, first + count) - broad__model_feature_nodes(model, first), at = 0;
    size_t columns = broad__model_columns(model);
    int direct = count && model->groups[first].source == BROAD__WEIGHT_SOURCE_DIRECT; /* such a group is alone */
    *out_weights = broad__alloc_doubles(direct ? 0 : columns + 1, nodes);
    if (!*out_weights) return BROAD_NO_MEMORY;
    double *weight = direct ? NULL : *out_weights, *bias = direct ? NULL : weight + columns * nodes;
    joining join = {weight, columns, nodes, model->groups + first, count};
    if (!direct) join_weights(&join, pool);
    for (size_t g = first; !direct && g < first + count; at += model->groups[g++].nodes)
        memcpy(bias + at, model->groups[g].bias, model->groups[g].nodes * sizeof(double));
    *out = (broad__phi){
        .device = device,
        .nodes = {columns, nodes, weight, bias, model->settings.feature_activation,
                  model->settings.precision == BROAD_PRECISION_FLOAT, NULL},
        .scaling = broad__model_scaling(model),
    };
    return BROAD_OK;
}
