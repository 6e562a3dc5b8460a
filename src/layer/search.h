/*
 * The search for a layer: draws are tried range by range, outward from the base range, until one passes the test.
 *
 *   for each range of the features (layer 1 only), each range of the layer's own nodes, each of T draws:
 *       draw the nodes, solve, compare with the bound
 *   `first`: the first draw that passes is accepted; `best`: of the first range with any that passes, the best one
 *   if none passes: relax gamma, at most R times, and take the first (best) that passes then
 *
 * Everything is bounded by ranges x draws; a draw depends on (seed, layer, range, draw) alone. Draws that are likely to
 * be needed are tried together, in one pass over the rows; which ones are kept does not depend on that.
 */
#ifndef BROAD_LAYER_SEARCH_H
#define BROAD_LAYER_SEARCH_H

#include "layer/certificate.h"
#include "layer/growing_qr.h"
#include "layer/residual.h"
#include "layer/ridge.h"
#include "rng/draw.h"

/* The layer that is wanted. */
typedef struct broad__search_task {
    const broad_options *options;
    double range;        /* base range */
    double chain_lambda; /* of a chain followed by joint weights, in units of the mean eigenvalue; 0: a small one */
    broad__residual *residual;
    size_t index;         /* of the layer, from 0 */
    size_t nodes;         /* to draw */
    size_t first, prefix; /* columns of Z that K starts with */
    broad__origin origin;
    /* All weights are solved again with each layer: what the layers so far span, and Y times the rows' roots. NULL: a
     * chain. */
    broad__growing_qr *qr;
    const double *y;
    size_t following; /* nodes of the layer after this one, where it is known; 0: none */
    int may_defer;    /* the update of E may be left to the next pass, where the sums leave no doubt */
    /* Recomputes Z with the range of this step; NULL: Z is settled. Step 0 is in force at the start. */
    int (*redraw)(void *context, size_t step);
    /* Called after each draw; non-zero stops the search. May be NULL. */
    int (*watch)(void *context, size_t draws);
    void *context;
} broad__search_task;

/* Memory that is reused from layer to layer. */
typedef struct broad__search {
    broad__ridge ridge;
    double *weight, *bias;           /* of the draws tried together: features x nodes each, nodes each */
    size_t tries;                    /* that the layer before needed */
    double *next_weight, *next_bias; /* of the first draw of the layer after this one */
    broad__draw next;                /* which that is; nodes 0: none has been drawn */
    double *values;                  /* what was tested, feature step by range by draw; NaN: not yet */
    /* What the best of them has least of: the value, or for a test of every output the norm of the whole residual. */
    double *merits;
    /* By which part a value may exceed the bound before the residual is computed directly; 0 after that. */
    double *slack;
    size_t next_weight_capacity, next_bias_capacity;
    size_t weight_capacity, bias_capacity, values_capacity, merits_capacity, slack_capacity;
} broad__search;

/* What the search came to. Its arrays lie in the search and hold until its next run. */
typedef struct broad__search_result {
    int passed;                  /* a draw passed, and is the layer */
    int stopped;                 /* the watch asked for it */
    int deferred;                /* E is not up to date: the caller calls broad__residual_defer() */
    const double *weight, *bias; /* of the layer's nodes */
    const double *w;             /* its output weights; NULL with a qr, which has them */
    const double *probe_w;       /* the same for the probes; NULL: there are none */
    double inner;                /* <U_0, U> with the layer */
    double best;                 /* smallest value tested if none passed */
    broad__certificate certificate;
} broad__search_result;

/* If a draw passed, the residual has been updated, unless that is deferred, when norms after the layer are those from
 * the sums. Otherwise the rows are as before. */
int broad__search_run(broad__search_result *out, broad__search *search, const broad__search_task *task);
/* The nodes of the draw that passed become the caller's; NULL: there was no memory. To be called once, after the run. */
void broad__search_take_nodes(double **out_weight, double **out_bias, broad__search *search,
                              const broad__search_result *found, size_t inputs, size_t nodes);
void broad__search_clear(broad__search *search); /* accepts a zeroed one */

#endif
