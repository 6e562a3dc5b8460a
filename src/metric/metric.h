/* Measures of a verdict against the truth. */
#ifndef BROAD_METRIC_METRIC_H
#define BROAD_METRIC_METRIC_H

#include "data/table.h"

/* scores: rows x outputs. For a classification the class with the largest score (the first of equals) is the verdict;
 * `positive` is the class that precision, recall and the rates of a two-class problem speak of. A rate with an empty
 * denominator is 0. */
int broad__metrics(broad_metrics *out, const broad_data *truth, const double *scores, size_t positive);

#endif
