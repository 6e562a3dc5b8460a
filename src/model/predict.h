/* Prediction: sum_j K_j W_j, block by block of rows. */
#ifndef BROAD_MODEL_PREDICT_H
#define BROAD_MODEL_PREDICT_H

#include "model/model.h"

/* out: rows x outputs, in the units of the targets. Safe to call from any number of threads on one model. */
int broad__predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride, size_t threads);

#endif
