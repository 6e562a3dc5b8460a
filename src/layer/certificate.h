/* The record of a layer: enough to redraw its nodes and to check every inequality that it was accepted for. */
#ifndef BROAD_LAYER_CERTIFICATE_H
#define BROAD_LAYER_CERTIFICATE_H

#include "base/hash.h"
#include "broad/broad.h"

/* How a layer came about: the paper's algorithm 1 (initial, enhance), 2 (enhance), 3 (features), 4 (data). */
typedef enum broad__origin {
    BROAD__ORIGIN_INITIAL,
    BROAD__ORIGIN_ENHANCE,
    BROAD__ORIGIN_FEATURES,
    BROAD__ORIGIN_DATA,
    BROAD__ORIGIN_FORGETFUL
} broad__origin;
#define BROAD__ORIGINS "initial|enhance|features|data|forgetful"

typedef struct broad__certificate {
    broad__origin origin;
    broad_supervise test;
    size_t first_row, rows; /* of the training rows, those it was fitted to */
    double gamma, mu, bound;
    double norm_before, norm_after, ratio, tested;
    double lambda;
    double range; /* multiple of the base range */
    size_t step;  /* its index in the list of multiples */
    size_t draw;  /* which draw of that range was accepted */
    size_t tries;
    size_t relaxed;
    int passed;
    /* Where the score was tested (layer/score.h), otherwise 0: degrees of freedom of the chain before the layer and with
     * it, and its score with it; probes: columns of random signs that df is from, 0 where it is exact. */
    double df_before, df, score, penalty;
    size_t probes;
    int solved_again;               /* from sums, on further rows: model/train/stats.h */
    char weights[BROAD__HASH_TEXT]; /* hash of the output weights: binds this record to them */
} broad__certificate;

#endif
