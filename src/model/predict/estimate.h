/*
 * From leave-one-out scores to the estimate of how good a network is.
 */
#ifndef BROAD_MODEL_PREDICT_ESTIMATE_H
#define BROAD_MODEL_PREDICT_ESTIMATE_H

#include "data/table.h"
#include "metric/calibration.h"
#include "metric/law.h"
#include "metric/metric.h"
#include "metric/spread.h"
#include "model/model.h"
#include "model/predict/confidence.h"

enum { BROAD__RESIDUALS_MAX = 4096 };

/* From the scores that the network gives `count` rows when they are left out: count x outputs, in the units of the
 * targets; row i is rows[i] of `data`, or row i itself where rows is NULL. Replaces the estimate the model had. Where
 * a score or a measure is not finite the model has none afterwards. */
int broad__estimate_make(broad_model *model, const broad_data *data, const size_t *rows, size_t count,
                         const double *scores);

/* For everything that changes the network, or its training rows, without a new estimate. */
void broad__estimate_clear(broad_model *model);

/* What must hold of a stored estimate; BROAD_BAD_MODEL with the reason. */
int broad__estimate_check(const broad_model *model);

/*
 * The measures of a model on rows that are predicted block by block: of its predictions, of a classification also of
 * its probabilities, and of a regression the coverage of its intervals and the likelihood of the values, where the model
 * has them; level 0: 0.9.
 */
typedef struct broad__judge {
    const broad_model *model;
    const broad_data *truth;
    broad__tally tally;
    double level;                        /* of the intervals; 0: none */
    double *half;                        /* outputs: half of their width, in the mean over the training rows */
    long double *widths;                 /* outputs: sums over the rows */
    size_t *inside;                      /* outputs: values in them */
    broad__law *laws;                    /* outputs: of the residuals over their scale */
    long double likelihood;              /* sum over rows and outputs of the logarithm of the density */
    broad__reliability_sums reliability; /* of the probabilities, where the model has them */
    double *probabilities;               /* of one row */
} broad__judge;

/* threshold: see broad__verdicts; 0: none. */
int broad__judge_open(broad__judge *out, const broad_model *model, const broad_data *truth, double level,
                      double threshold);
void broad__judge_add(broad__judge *judge, const double *scores, size_t first, size_t count);
int broad__judge_measure(broad_metrics *out, broad__judge *judge);
void broad__judge_close(broad__judge *judge); /* accepts a half-open one */

#endif
