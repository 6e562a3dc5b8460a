/*
 * Scaling of columns, statistics from the training rows. scaled = (value - shift) * factor; for `rank` the value is first
 * replaced by its rank among the training values, between 0 and 1, along straight lines between knots; `both` gives every
 * column twice, standardised and by rank.
 */
#ifndef BROAD_DATA_TRANSFORM_SCALE_H
#define BROAD_DATA_TRANSFORM_SCALE_H

#include "base/spill.h"
#include "broad/broad.h"

enum { BROAD__KNOTS = 128 };

/* Of one column, missing values left out. Sums are kept in long double: they neither overflow for the largest doubles nor
 * lose the digits that matter. */
typedef struct broad__column_sums {
    long double sum, squares; /* squares: of the distances from the mean, where they are asked for */
    double min, max;
    size_t count;
} broad__column_sums;

/* out: columns. x may lie in `spill`, whose memory is given back on the way; NULL: it does not. */
void broad__scale_sums(broad__column_sums *out, int squares, const double *x, size_t rows, size_t columns,
                       broad__spill *spill);

/* shift 0 and factor 1, or what the sums ask for. `fill` gets the mean; NULL: not wanted. */
void broad__scale_column(double *shift, double *factor, double *fill, broad_scale scale,
                         const broad__column_sums *sums);

/* shift and factor: columns. NaN values are left out of the statistics; a column that is constant or empty gets
 * factor 1; one whose spread overflows is divided by its largest magnitude. `none` gives 0 and 1. `fill` gets the
 * means, which replace missing values (NULL: not wanted). Not for rank and both. */
int broad__scale_fit(double *shift, double *factor, double *fill, broad_scale scale, const double *x, size_t rows,
                     size_t columns, broad__spill *spill);

/* out = scaled rows of x; a NaN becomes fill (in the units of x) before scaling. out may be x. */
void broad__scale_apply(double *out, const double *x, size_t rows, size_t columns, size_t stride, const double *shift,
                        const double *factor, const double *fill);

/* How the inputs of a network are scaled: from `inputs` columns as read to `columns` as the nodes see them. */
typedef struct broad__scaling {
    broad_scale how;
    size_t inputs, columns;
    const double *shift, *factor; /* columns each */
    const double *fill;           /* inputs */
    const double *knots; /* rank, both: for each input BROAD__KNOTS values, rising, then their ranks; else NULL */
} broad__scaling;

size_t broad__scaling_columns(broad_scale how, size_t inputs);
/* Numbers that the knots take: 0 where there are none. */
size_t broad__scaling_knots(broad_scale how, size_t inputs);
/* With more than 2^18 rows the knots are chosen among so many of them, at equal distances; their ranks are those among
 * all rows. */
int broad__scaling_fit(double *shift, double *factor, double *fill, double *knots, broad_scale how, const double *x,
                       size_t rows, size_t inputs, broad__spill *spill);
/* out: rows x columns */
void broad__scaling_apply(double *out, const broad__scaling *scaling, const double *x, size_t rows, size_t stride);

#endif
