/*
 * How well scores put the rows of each class before all others: areas under the curves of ROC and of precision over
 * recall, one class against the rest.
 *
 * Rows are ranked by the log odds of the class, log p_c - log(1 - p_c): the order of the probabilities, told apart where
 * these are so near 0 or 1 that they round to it.
 */
#ifndef BROAD_METRIC_RANKING_H
#define BROAD_METRIC_RANKING_H

#include <stddef.h>
#include <stdint.h>

#include "base/spill.h"

#define BROAD__RANKED_MOST ((size_t)1 << 21) /* log odds kept: of more rows, every k-th */

/* Rows that come piece by piece, in order. */
typedef struct broad__ranking {
    size_t classes, step, most, count; /* every step-th row; how many there will be; those kept so far */
    size_t released;                   /* of those, the ones whose memory was released */
    broad__spill *spill;               /* where they lie; NULL: in memory. Not owned */
    double *odds;                      /* class by class, `most` each */
    uint32_t *truth;
    double *scratch; /* classes */
} broad__ranking;

int broad__ranking_open(broad__ranking *out, size_t rows, size_t classes, broad__spill *spill);
/* Row number `row` with its scores; only every step-th is kept. calibration: see metric/calibration.h; NULL: none. */
void broad__ranking_add(broad__ranking *ranking, size_t row, const double *scores, size_t truth,
                        const double *calibration);
/* roc and pr: one for each class; NaN where the class, or any other, does not occur. */
int broad__ranking_measure(double *roc, double *pr, const broad__ranking *ranking);
void broad__ranking_close(broad__ranking *ranking); /* accepts a zeroed one */

#endif
