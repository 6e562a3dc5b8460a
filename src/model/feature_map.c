#include "model/feature_map.h"

#include <string.h>

size_t broad__model_map_capacity(const broad_model *model, size_t first, size_t count)
{
    if (count && model->groups[first].source == BROAD__WEIGHT_SOURCE_DIRECT) return 0;
    return (broad__model_columns(model) + 1) *
           (broad__model_feature_nodes(model, first + count) - broad__model_feature_nodes(model, first));
}

void broad__model_map(broad__feature_map *out, double *weight, double *bias, const broad_model *model, size_t first,
                      size_t count)
{
    size_t nodes = broad__model_feature_nodes(model, first + count) - broad__model_feature_nodes(model, first), at = 0;
    size_t columns = broad__model_columns(model);
    for (size_t g = first; g < first + count; g++) {
        const broad__group *group = &model->groups[g];
        if (group->source == BROAD__WEIGHT_SOURCE_DIRECT) {
            weight = bias = NULL; /* such a group is alone */
            break;
        }
        for (size_t i = 0; i < columns; i++)
            memcpy(weight + i * nodes + at, group->weight + i * group->nodes, group->nodes * sizeof(double));
        memcpy(bias + at, group->bias, group->nodes * sizeof(double));
        at += group->nodes;
    }
    *out = (broad__feature_map){
        .nodes = {columns, nodes, weight, bias, model->settings.feature_activation,
                  model->settings.precision == BROAD_PRECISION_FLOAT},
        .scaling = broad__model_scaling(model),
    };
}
