/* From the model's groups to the feature map in force. */
#ifndef BROAD_MODEL_MAP_H
#define BROAD_MODEL_MAP_H

#include "feature/feature.h"
#include "model/model.h"

/* weight (inputs x all feature nodes) and bias get the first `groups` groups side by side; they must have room. */
void broad__model_map(broad__feature_map *out, double *weight, double *bias, const broad_model *model, size_t groups);

#endif
