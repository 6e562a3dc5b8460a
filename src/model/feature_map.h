/* From the model's groups to the feature map in force. */
#ifndef BROAD_MODEL_FEATURE_MAP_H
#define BROAD_MODEL_FEATURE_MAP_H

#include "feature/feature.h"
#include "model/model.h"

/* Numbers that weight and bias of these groups take together. */
size_t broad__model_map_capacity(const broad_model *model, size_t first, size_t count);

/* The map of `count` groups from `first` on. weight (inputs x their nodes) and bias get them side by side; they must have
 * room. */
void broad__model_map(broad__feature_map *out, double *weight, double *bias, const broad_model *model, size_t first,
                      size_t count);

#endif
