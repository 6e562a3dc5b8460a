/*
 * What each input tells of the targets by itself: their variance between its bins, a part of the whole. Bins have equally
 * many rows, and rows with the same value are in one bin; missing values have one of their own. Units of the inputs do not
 * matter, and an input that acts by a bump or a step counts as much as one that acts by a slope.
 */
#ifndef BROAD_FEATURE_MARGINAL_H
#define BROAD_FEATURE_MARGINAL_H

#include <stddef.h>

/* out: inputs; 0 to 1, less what chance gives to an input that tells nothing. x: rows x inputs, y: rows x outputs. */
int broad__marginal(double *out, const double *x, size_t inputs, const double *y, size_t outputs, size_t rows);

#endif
