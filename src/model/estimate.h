/*
 * What is made of leave-one-out scores: the estimate of how good a network is, probabilities and prediction intervals.
 */
#ifndef BROAD_MODEL_ESTIMATE_H
#define BROAD_MODEL_ESTIMATE_H

#include "data/table.h"
#include "model/model.h"

enum { BROAD__RESIDUALS_MOST = 4096 };

/* From the scores that the network gives `count` rows when it has not seen them: count x outputs, in the units of the
 * targets; row i is rows[i] of `data`, or row i itself where rows is NULL. Replaces the estimate the model had. Where
 * a score or a measure is not finite the model has none afterwards. */
int broad__estimate_make(broad_model *model, const broad_data *data, const size_t *rows, size_t count,
                         const double *scores);

/* For everything that changes the network, or its training rows, without a new estimate. */
void broad__estimate_clear(broad_model *model);

/* What must hold of a stored estimate; BROAD_BAD_MODEL with the reason. */
int broad__estimate_check(const broad_model *model);

/* What of an estimate probabilities and intervals are made of; rows 0: there is none. */
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

/* Adds to the measures of a classification those of its probabilities, and to those of a regression the coverage of its
 * intervals of a level. level 0: of 0.9 if the model has them. Where it has none, the fields stay 0. */
int broad__estimate_metrics(broad_metrics *out, const broad_model *model, const broad_data *truth, const double *scores,
                            double level);

#endif
