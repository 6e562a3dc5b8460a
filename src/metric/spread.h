/*
 * How the size of residuals follows the predicted value, for intervals that are wider where predictions are worse.
 * Plain functions on arrays.
 *
 * A spread is `count` knots, rising, then the scale at each: linear between them, constant beyond. Its mean over the rows
 * that it was fitted to is 1.
 */
#ifndef BROAD_METRIC_SPREAD_H
#define BROAD_METRIC_SPREAD_H

#include <stddef.h>

enum { BROAD__SPREAD_MOST = 8 };

/* The number of knots for this many rows: one for each 50, at most 8. 0: too few rows for more than one width. */
size_t broad__spread_knots(size_t rows);

/* count 0: 1. */
double broad__spread_at(const double *spread, size_t count, double value);

/*
 * Fits a spread of broad__spread_knots(rows) knots to the sizes of leave-one-out residuals, by the mean size in bins of
 * equally many rows. Every size is divided by the scale that the other rows give, and the result stays only where
 * intervals of level 0.9 become narrower in the mean by more than 2 % and by more than 1 / sqrt(rows): then *taken is 1
 * and sizes are the quotients, in another order. Else the scales are 1 and the sizes as they were.
 */
int broad__spread_fit(int *taken, double *out, double *sizes, const double *scores, size_t stride, size_t rows);

/*
 * out[0] and out[1]: what no target can be below or above, as far as the targets themselves show it; else -DBL_MAX and
 * DBL_MAX. Of at least 20 targets none of which is negative, with one that is exactly 0, the least is 0; and if the
 * largest is 0.99 to 1, or 99 to 100, the most is 1 or 100. A new row of the same kind lies beyond the training targets
 * with probability 1 / (rows + 1) at most, so what such a limit can cost in coverage is no more.
 */
void broad__limits_of(double *out, double least, double most, size_t rows);

#endif
