/*
 * The distribution of residuals, for the likelihood of values that were not seen: Student's t around 0, which goes from
 * heavy tails to a normal distribution, fitted to the sizes of leave-one-out residuals. Plain functions on arrays.
 */
#ifndef BROAD_METRIC_LAW_H
#define BROAD_METRIC_LAW_H

#include <stddef.h>

typedef struct broad__law {
    double freedom; /* INFINITY: normal */
    double scale;   /* 0: there is none, as where no residual differs from 0 */
    double top;     /* the logarithm of the density at 0 */
} broad__law;

/* By maximum likelihood, the freedom among 2, 2.5, 3, 4, 6, 8, 12, 20, 40 and infinity. The scale is at least 1 % of the
 * root of the mean square, since the density of many residuals that are exactly 0 has no bound. */
broad__law broad__law_fit(const double *sizes, size_t count);

/* The logarithm of the density at a distance from 0; the law has a scale. */
double broad__law_log_density(broad__law law, double distance);

#endif
