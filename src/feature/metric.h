/*
 * The metric that the directions of nodes are drawn with, learned from how a fitted network moves with its inputs:
 *
 *   M = sum over rows and outputs of g g',   g = d output / d x      x: the scaled inputs of a row
 *
 * scaled so that its diagonal has the mean 1. Directions are then M^(1/2) times random ones: many where the output
 * changes, few where it does not (Radhakrishnan et al., Science 383, 2024). With many columns only the diagonal is kept.
 */
#ifndef BROAD_FEATURE_METRIC_H
#define BROAD_FEATURE_METRIC_H

#include "compute/device.h"

enum { BROAD__METRIC_COLUMNS = 512 }; /* with more there is only a diagonal */

typedef struct broad__metric {
    size_t columns;
    int full;       /* m is columns x columns, else its diagonal */
    double *values; /* M; NULL: none, all directions alike */
} broad__metric;

/* Zeros. */
int broad__metric_open(broad__metric *out, size_t columns);
void broad__metric_close(broad__metric *metric); /* accepts a zeroed one */
void broad__metric_copy(broad__metric *to, const broad__metric *from);

/* Adds the outer products of gradients: rows x columns. */
void broad__metric_add(broad__metric *metric, const broad__device *device, const double *gradient, size_t rows);
/* Makes the diagonal's mean 1 once all gradients are there. 0: nothing moves the outputs, or they are not finite. */
int broad__metric_settle(broad__metric *metric);
/* The mean of two. */
void broad__metric_mean(broad__metric *to, const broad__metric *with);
/* Drops one input. Column j belongs to input j modulo `inputs`. */
void broad__metric_drop(broad__metric *metric, size_t inputs, size_t input);
/* Drops the least relevant inputs, as many as leave at least `share` of the diagonal's sum, and settles. unit: of each input the
 * first of those that it is dropped with; NULL: each by itself. */
int broad__metric_prune(broad__metric *metric, size_t inputs, const size_t *unit, double share);
/* Makes the inputs of a unit count alike, in every place the mean over all orders of them. */
int broad__metric_pool(broad__metric *metric, size_t inputs, const size_t *unit);
/* Trusts it only so far: share M + (1 - share) I. */
void broad__metric_soften(broad__metric *metric, double share);

double broad__metric_diagonal(const broad__metric *metric, size_t column);
void broad__metric_set_diagonal(broad__metric *metric, size_t column, double value);
/* out: columns. Roots of the diagonal. */
void broad__metric_relevance(double *out, const broad__metric *metric);
/* out: columns x columns, symmetric. Of a full one. */
int broad__metric_root(double *out, const broad__metric *metric, const broad__device *device);

#endif
