/*
 * Scaling of columns by statistics of the training rows: scaled = (value - shift) * factor. For `rank` the value is first
 * replaced by its rank (rank.h); `both` gives every column twice, standardised and by rank; `whole` scales all columns alike.
 *
 * A scaled value is never beyond BROAD__SCALED_MOST of either sign: whole numbers of 64 bits pass as they are, and sums of
 * products of what lies further out would overflow, in single precision first.
 */
#ifndef BROAD_DATA_TRANSFORM_SCALE_H
#define BROAD_DATA_TRANSFORM_SCALE_H

#include "data/transform/column_sums.h"
#include "data/transform/rank.h"

#define BROAD__SCALED_MOST 0x1p64

/* From `inputs` columns as read to `columns` as the nodes see them. */
typedef struct broad__scaling {
    broad_scale how;
    size_t inputs, columns;
    const double *shift, *factor; /* columns each */
    const double *fill;           /* inputs: replaces a missing value before scaling; NULL: none is missing */
    const double *knots;          /* rank, both: 2 * BROAD__KNOTS per input, as rank.h says; else NULL */
} broad__scaling;

/* What a fit fills in: the arrays of a broad__scaling, owned by the caller. fill NULL: not wanted (not for rank, both). */
typedef struct broad__scaling_arrays {
    double *shift, *factor, *fill, *knots;
} broad__scaling_arrays;

size_t broad__scaling_columns(broad_scale how, size_t inputs);
/* The size of the knots in numbers; 0: there are none. */
size_t broad__scaling_knots(broad_scale how, size_t inputs);

int broad__scaling_fit(const broad__scaling_arrays *out, broad_scale how, const broad__column_rows *rows);
/* The same where the sums of the columns are known, with the squares if they are needed. */
int broad__scaling_fit_sums(const broad__scaling_arrays *out, broad_scale how, const broad__column_rows *rows,
                            const broad__column_sums *sums);
int broad__scaling_needs_squares(broad_scale how);
int broad__scaling_is_ranked(broad_scale how);

/* Whether values within BROAD__SCALED_MOST, none of them missing, are what they are scaled to. */
int broad__scaling_is_plain(const broad__scaling *scaling);

/* out: rows x columns; it may be x unless there are more columns than inputs. */
void broad__scaling_apply(double *out, const broad__scaling *scaling, const double *x, size_t rows, size_t stride);

#endif
