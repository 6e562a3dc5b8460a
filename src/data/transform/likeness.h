/*
 * How far a photo may lie from those that principal components were fitted to before it is not like them.
 *
 * Z are the standardised rows, K = ZZ' = U diag(w) U'. Of a row z the components t_c = u_c' Z z / sqrt(w_c) explain
 *
 *   sum_c t_c^2 w_c / (w_c + a),   a = 0.03 mean of w over all rows,
 *
 * and v is what is left of |z|^2: the predictive variance of a Gaussian process with kernel K and noise a, cut off after
 * the components. Black, white and foreign pictures have a large v, because nothing in the rows explains them.
 *
 * The limit comes from v of rows that were left out, in five parts by groups, of a fit to the others:
 *
 *   limit = median (q / median)^3 (1 + 3 / sqrt(rows)),   q: the value that four fifths of them do not exceed
 *
 * The middle of the values decides: a few odd photos among the rows do not widen the limit. docs/photos.md has the rates.
 */
#ifndef BROAD_DATA_TRANSFORM_LIKENESS_H
#define BROAD_DATA_TRANSFORM_LIKENESS_H

#include "compute/device.h"

enum { BROAD__LIKENESS_PARTS = 5 };

/* The parts may be left out by several threads, in any order. */
typedef struct broad__likeness {
    const double *k; /* rows x rows, the whole of K */
    size_t rows, components;
    const broad__device *device;
    size_t *parts; /* of each row */
    double *v;     /* of each row, when its part was left out */
    size_t groups;
    int status[BROAD__LIKENESS_PARTS];
} broad__likeness;

/* k, and groups of its rows, are the caller's. */
int broad__likeness_open(broad__likeness *out, const double *k, const size_t *groups, size_t rows, size_t components,
                         const broad__device *device);
void broad__likeness_leave(broad__likeness *l, size_t part);
/* The limit, from all parts; 0: too few groups to tell. The message of what went wrong is that of this thread. */
int broad__likeness_limit(double *out, broad__likeness *l);
void broad__likeness_close(broad__likeness *l);
/* The part of the square of component c, counted from the largest, that is explained; values: of K, rising. */
double broad__likeness_explained(const double *values, size_t rows, size_t c);

#endif
