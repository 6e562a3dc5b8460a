/*
 * From scores to probabilities, and from residuals to intervals. Plain functions on arrays.
 *
 * Scores come from a ridge regression on one-hot targets and lie about 0 to 1. Probabilities are
 *
 *   p_c = exp(a s_c + b_c) / sum_k exp(a s_k + b_k)
 *
 * with one slope a >= 0 that minimises the log loss of leave-one-out scores. The biases b are not fitted: they undo the
 * class weights of training, b_c = -log(weight of c), and are 0 without. Fitted ones bring nothing on held-out rows,
 * and with none the most probable class is the one with the largest score.
 */
#ifndef BROAD_METRIC_CALIBRATION_H
#define BROAD_METRIC_CALIBRATION_H

#include <stddef.h>

#define BROAD__SLOPE_MOST 1e6

/* A calibration is the slope, then a bias for each class. */

/* The slope: finite and in [0, BROAD__SLOPE_MOST] for any finite scores (rows x classes). weights: of the rows; NULL:
 * all alike. bias: of the classes. */
double broad__calibrate(const double *scores, const size_t *truth, const double *weights, size_t rows, size_t classes,
                        const double *bias);

/* rows x classes; each row is positive or 0 and adds up to 1. out may be scores. */
void broad__calibrated(double *out, const double *scores, size_t rows, size_t classes, const double *calibration);

typedef struct broad__reliability {
    double brier;             /* mean over the rows of sum_c (p_c - [c is the truth])^2: 0 to 2                     */
    double log_loss;          /* mean of -log p of the true class, with p no smaller than 1e-15                      */
    double calibration_error; /* rows in 15 bins of equal width by the probability of their most probable class: mean
                                 over the rows of |share of right ones - mean probability| of their bin */
} broad__reliability;

/* Sums over rows that come piece by piece. */
enum { BROAD__BINS = 15 };
typedef struct broad__reliability_sums {
    size_t rows;
    double brier, loss;
    struct broad__bin {
        double probability; /* sums over its rows */
        size_t right;
    } bins[BROAD__BINS];
} broad__reliability_sums;

/* Scores of rows, and the class that each row has. */
typedef struct broad__scored {
    const double *scores; /* rows x classes */
    const size_t *truth;  /* rows */
    size_t rows, classes;
} broad__scored;

/* p: scratch for the probabilities of one row. */
void broad__reliability_add(broad__reliability_sums *sums, const broad__scored *scored, const double *calibration,
                            double *p);
broad__reliability broad__reliability_of(const broad__reliability_sums *sums);

int broad__reliability_measure(broad__reliability *out, const broad__scored *scored, const double *calibration);

/*
 * The jackknife's quantile: of n leave-one-out residual sizes the one of rank ceil((n + 1) level), from 1. A further
 * row of the same kind has a residual no larger with at least that probability; the rank must be n at most.
 *
 * `sizes` are `kept` of the n order statistics, rising: number k, from 1, is of rank ceil(k n / kept). The one taken is
 * the first whose rank is high enough. BROAD_USAGE: the level is not between 0 and 1, or too high for n rows.
 */
int broad__jackknife(double *out, const double *sizes, size_t kept, size_t rows, double level);
/* Sorts n sizes and leaves the `kept` order statistics at the front. */
void broad__order_statistics(double *sizes, size_t rows, size_t kept);

#endif
