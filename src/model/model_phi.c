#include "model/model_phi.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

int broad__model_phi(broad__phi *out, double **out_weights, const broad_model *model, const broad__device *device,
                     size_t first, size_t count)
{
    size_t nodes = broad__model_feature_nodes(model, first + count) - broad__model_feature_nodes(model, first), at = 0;
    size_t columns = broad__model_columns(model);
    int direct = count && model->groups[first].source == BROAD__WEIGHT_SOURCE_DIRECT; /* such a group is alone */
    *out_weights = broad__alloc_doubles(direct ? 0 : columns + 1, nodes);
    if (!*out_weights) return BROAD_NO_MEMORY;
    double *weight = direct ? NULL : *out_weights, *bias = direct ? NULL : weight + columns * nodes;
    for (size_t g = first; !direct && g < first + count; g++) {
        const broad__group *group = &model->groups[g];
        for (size_t i = 0; i < columns; i++)
            memcpy(weight + i * nodes + at, group->weight + i * group->nodes, group->nodes * sizeof(double));
        memcpy(bias + at, group->bias, group->nodes * sizeof(double));
        at += group->nodes;
    }
    *out = (broad__phi){
        .device = device,
        .nodes = {columns, nodes, weight, bias, model->settings.feature_activation,
                  model->settings.precision == BROAD_PRECISION_FLOAT, NULL},
        .scaling = broad__model_scaling(model),
    };
    return BROAD_OK;
}
