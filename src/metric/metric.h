/* Measures of a verdict against the truth. */
#ifndef BROAD_METRIC_METRIC_H
#define BROAD_METRIC_METRIC_H

#include "data/table.h"
#include "metric/ranking.h"

/* The numbers of broad_metrics.details for each output, in this order. */
enum {
    BROAD__DETAIL_ROWS,
    BROAD__DETAIL_PRECISION,
    BROAD__DETAIL_RECALL,
    BROAD__DETAIL_F1,
    BROAD__DETAIL_ROC,
    BROAD__DETAIL_PR
};
enum {
    BROAD__DETAIL_RMSE,
    BROAD__DETAIL_MAE,
    BROAD__DETAIL_R2,
    BROAD__DETAIL_BASELINE,
    BROAD__DETAIL_COVERAGE,
    BROAD__DETAIL_WIDTH
};
enum { BROAD__DETAILS = 6 };

/* How verdicts come from scores. */
typedef struct broad__verdicts {
    const double *calibration; /* that probabilities come from; NULL: there are none */
    size_t positive;           /* the class that precision, recall and the rates of a two-class problem refer to */
    double threshold; /* two classes: probability from which on the positive one is the verdict; 0: the larger score */
} broad__verdicts;

/* scores: rows x outputs. For a classification the class with the largest score (the first of equals) is the verdict,
 * unless there is a threshold. A rate with an empty denominator is NaN, in details -1, except for the precision of a
 * class that rows have and none gets: 0. */
int broad__metrics(broad_metrics *out, const broad_data *truth, const double *scores, const broad__verdicts *verdicts);
void broad__metrics_clear(broad_metrics *metrics); /* frees what it holds */

/* The same for rows that come piece by piece, in order. */
typedef struct broad__tally {
    const broad_data *truth; /* not owned */
    broad__verdicts verdicts;
    size_t *confusion;
    broad__ranking ranking;
    long double *sums;  /* outputs x (squares, distances) of a regression */
    long double fourth; /* sum over the rows of the square of their summed squares */
} broad__tally;

int broad__tally_open(broad__tally *out, const broad_data *truth, const broad__verdicts *verdicts);
/* scores: of `count` rows from `first` on. */
void broad__tally_add(broad__tally *tally, const double *scores, size_t first, size_t count);
int broad__tally_measure(broad_metrics *out, broad__tally *tally); /* takes the confusion over */
void broad__tally_close(broad__tally *tally);                      /* accepts a zeroed one */

/* From the numbers of each output (outputs x BROAD__DETAILS) to those over all of them: precision, recall, F1, balanced
 * accuracy and areas of a classification, and its baseline. */
void broad__metrics_pool(broad_metrics *out, const double *details, size_t classes, size_t positive);
/* The RMSE of the means over all targets, from that of each. */
double broad__baseline_of(const double *details, size_t targets);
/* Wilson's 95 % interval of a fraction counted on this many rows. */
void broad__wilson(double *low, double *high, double part, double rows);
/* A number of details as it is given out: what is not defined is stored as -1, and is NaN. Not for R2, which may be below 0. */
double broad__detail(const double *details, size_t output, size_t which);

#endif
