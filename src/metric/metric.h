/* Measures of a verdict against the truth. */
#ifndef BROAD_METRIC_METRIC_H
#define BROAD_METRIC_METRIC_H

#include "data/table.h"

/* scores: rows x outputs. For a classification the class with the largest score (the first of equals) is the verdict;
 * `positive` is the class that precision, recall and the rates of a two-class problem refer to. A rate with an empty
 * denominator is 0. */
int broad__metrics(broad_metrics *out, const broad_data *truth, const double *scores, size_t positive);

/* The same for rows that come piece by piece, in order. */
typedef struct broad__tally {
    const broad_data *truth; /* not owned */
    size_t *confusion;
    long double squares, distances;
} broad__tally;

int broad__tally_open(broad__tally *out, const broad_data *truth);
/* scores: of `count` rows from `first` on. */
void broad__tally_add(broad__tally *tally, const double *scores, size_t first, size_t count);
void broad__tally_measure(broad_metrics *out, broad__tally *tally, size_t positive); /* takes the confusion over */
void broad__tally_close(broad__tally *tally);                                        /* accepts a zeroed one */

#endif
