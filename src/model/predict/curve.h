/* The figures of a network cut after each of its layers: what broad_model_curve() promises. */
#ifndef BROAD_MODEL_PREDICT_CURVE_H
#define BROAD_MODEL_PREDICT_CURVE_H

#include "data/table.h"
#include "model/model.h"

int broad__model_curve(broad_curve_point *out, const broad_model *model, const broad_data *data, size_t threads);
/* Sets the leave-one-out norms of existing points. */
int broad__model_curve_loo(broad_curve_point *points, const broad_model *model, const broad_data *training,
                           size_t threads);

#endif
