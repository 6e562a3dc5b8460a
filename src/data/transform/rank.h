/*
 * Ranks: the position of a value among the training values, between 0 and 1, along straight lines between knots.
 *
 * The knots of an input are BROAD__KNOTS values, rising, then their ranks.
 */
#ifndef BROAD_DATA_TRANSFORM_RANK_H
#define BROAD_DATA_TRANSFORM_RANK_H

#include <float.h>

#include "data/transform/column_sums.h"

enum { BROAD__KNOTS = 128 };

typedef struct broad__rank_task {
    broad__column_rows rows;
    const broad__column_sums *sums; /* of the rows, one per column */
    const double *fill;             /* columns: replaces a missing value */
    double *knots;                  /* columns x 2 * BROAD__KNOTS: the result */
} broad__rank_task;

/* Also the shift and factor that standardise the ranks of every column. With more than 2^18 rows the knots are chosen among
 * that many of them, evenly spaced; their ranks are those among all rows. */
int broad__rank_fit(double *shift, double *factor, const broad__rank_task *task);

/* The last knot that is not above `value`, which is not below the first one. */
static inline size_t broad__rank_knot(const double *knots, double value)
{
    size_t at = 0;
    for (size_t step = BROAD__KNOTS / 2; step; step /= 2) at += knots[at + step] <= value ? step : 0;
    return at;
}

static inline double broad__rank_of(const double *knots, double value)
{
    const double *values = knots, *ranks = knots + BROAD__KNOTS;
    if (!(value > values[0])) return ranks[0];
    if (value >= values[BROAD__KNOTS - 1]) return ranks[BROAD__KNOTS - 1];
    size_t low = broad__rank_knot(values, value);
    double width = values[low + 1] - values[low], part = (value - values[low]) / width;
    if (width > DBL_MAX) part = (value / 2 - values[low] / 2) / (values[low + 1] / 2 - values[low] / 2);
    return ranks[low] + part * (ranks[low + 1] - ranks[low]);
}

#endif
