/* Probabilities and prediction intervals from an estimate. Needs neither tables nor training, so that a predictor can
 * use it. */
#ifndef BROAD_MODEL_PREDICT_CONFIDENCE_H
#define BROAD_MODEL_PREDICT_CONFIDENCE_H

#include "metric/law.h"
#include "model/model.h"

/* The part of an estimate that probabilities and intervals need; rows 0: there is none. */
typedef struct broad__confidence {
    broad_task task;
    size_t outputs, rows, residual_count;
    const double *calibration, *residuals;
    size_t spread_count;           /* 0: one width for all rows */
    const double *spread, *limits; /* NULL: none; as in broad__estimate */
    size_t layers;                 /* none: then there is no estimate either */
    broad_outcome outcome;         /* how training ended, and why */
    const char *reason;
} broad__confidence;

broad__confidence broad__confidence_of(const broad_model *model); /* points into the model */

/* scores: rows x outputs, as predicted; out may be scores. BROAD_USAGE: no classification, or no estimate. */
int broad__probabilities(double *out, const broad__confidence *confidence, const double *scores, size_t rows);

/* For each output how far above and below the predicted value the interval of that level reaches, in the mean over the
 * training rows. BROAD_USAGE: no regression, no estimate, or too high a level for its rows. */
int broad__interval(double *out, const broad__confidence *confidence, double level);

/* How wide the interval of a value is, over the mean. */
double broad__scale_of(const broad__confidence *confidence, size_t output, double value);

/* How an output's residuals, over that scale, are distributed; of a model with intervals. */
broad__law broad__law_of(const broad__confidence *confidence, size_t output);

/* An interval: the predicted value and how far it reaches to both sides, then its ends within the limits. */
typedef struct broad__range {
    double value, reach, low, high;
} broad__range;

/* That of one value of an output, whose mean reach is known. */
broad__range broad__range_of(const broad__confidence *confidence, size_t output, double mean_reach, double value);

/* rows x outputs x 2: the ends, from the predicted values. Fails as broad__interval(), with 0 rows too. */
int broad__intervals(double *out, const broad__confidence *confidence, const double *values, size_t rows, double level);

#endif
