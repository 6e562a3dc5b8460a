/*
 * What each input tells of the targets by itself: their variance between its bins, a part of the whole. Bins have equally
 * many rows, and rows with the same value are in one bin; missing values have one of their own. Units of the inputs do not
 * matter, and an input that acts by a bump or a step counts as much as one that acts by a slope.
 */
#ifndef BROAD_FEATURE_MARGINAL_H
#define BROAD_FEATURE_MARGINAL_H

#include <stddef.h>

/* The same of pairs, by the means of their cells, five bins by five: out gets, of each input, what it tells together with that
 * other input with which it tells most, beyond what both tell by themselves; 0 where that is within what chance gives.
 * *out_sum: what the cells of pairs that have no input in common tell one after the other, the strongest first, each of what
 * those before it have left. All 0 where there are too many pairs to look at. */
int broad__marginal_pairs(double *out, double *out_sum, const double *x, size_t inputs, const double *y, size_t outputs,
                          size_t rows);

/* out: inputs; 0 to 1, less what chance gives to an input that tells nothing. x: rows x inputs, y: rows x outputs. */
int broad__marginal(double *out, const double *x, size_t inputs, const double *y, size_t outputs, size_t rows);

#endif
