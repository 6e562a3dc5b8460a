/* Probabilities and prediction intervals from an estimate. Needs neither tables nor training, so that a predictor can
 * use it. */
#ifndef BROAD_MODEL_PREDICT_CONFIDENCE_H
#define BROAD_MODEL_PREDICT_CONFIDENCE_H

#include "model/model.h"

/* The part of an estimate that probabilities and intervals need; rows 0: there is none. */
typedef struct broad__confidence {
    broad_task task;
    size_t outputs, rows, residual_count;
    const double *calibration, *residuals;
} broad__confidence;

broad__confidence broad__confidence_of(const broad_model *model); /* points into the model */

/* scores: rows x outputs, as predicted; out may be scores. BROAD_USAGE: no classification, or no estimate. */
int broad__probabilities(double *out, const broad__confidence *confidence, const double *scores, size_t rows);

/* For each output how far above and below the predicted value the interval of that level reaches. BROAD_USAGE: no
 * regression, no estimate, or too high a level for its rows. */
int broad__interval(double *out, const broad__confidence *confidence, double level);

#endif
