/* Sums over the rows of each column, and the shift and factor that follow from them. */
#ifndef BROAD_DATA_TRANSFORM_COLUMN_SUMS_H
#define BROAD_DATA_TRANSFORM_COLUMN_SUMS_H

#include "base/spill.h"
#include "broad/broad.h"
#include "compute/pool.h"
#include "data/owned.h"

/* Of one column, without missing values. Sums are kept in long double: they neither overflow for the largest doubles nor
 * lose the digits that matter. */
typedef struct broad__column_sums {
    long double sum, squares; /* squares: of the distances from the mean, if they are asked for */
    double min, max;
    size_t count;
} broad__column_sums;

/* Rows of numbers without gaps; in `spill`, whose memory is released on the way, or in memory (NULL). */
typedef struct broad__column_rows {
    const double *x; /* rows x columns */
    size_t rows, columns;
    broad__spill *spill;
    const broad__owned *owned; /* which of the rows are here, where ranks have divided them; NULL: all */
} broad__column_rows;

/* Of columns [first, end) of rows that are all here; out: one for each column of all. Parts may be computed on different
 * threads. */
void broad__column_sums_part(broad__column_sums *out, const broad__column_rows *rows, int squares, size_t first,
                             size_t end);
/* Rows that ranks have divided are summed a stretch of columns at a time, of which a thread takes whole lines. */
enum { BROAD__COLUMN_SUMS_LINE = 8 };
size_t broad__column_sums_stretch(size_t columns, size_t threads);
/* The same of all columns of rows that ranks have divided: on all of them, with the bits that it has on one. */
int broad__column_sums_divided(broad__column_sums *out, const broad__column_rows *rows, int squares, broad__pool *pool);

/* (value - shift) * factor lies in [0, 1] (minmax) or has mean 0 and deviation 1 (standard); otherwise shift is 0 and factor 1.
 * A column without a spread gets factor 1; one whose spread overflows is divided by its largest magnitude. */
void broad__column_scale(double *shift, double *factor, broad_scale how, const broad__column_sums *sums);
/* What such a column is divided by; 0 for one that is empty, constant, or spread so little that 1 / spread overflows. */
long double broad__column_spread(broad_scale how, const broad__column_sums *sums);
double broad__column_mean(const broad__column_sums *sums); /* 0 for an empty column */

#endif
