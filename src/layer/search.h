/*
 * The search for a layer: draws are tried range by range, outward from the base range, until one passes the test.
 *
 *   for each range of the features (layer 1 only), each range of the layer's own nodes, each of T draws:
 *       draw the nodes, solve, compare with the bound
 *   `first`: the first draw that passes is kept; `best`: of the first range with any that passes, the one that leaves least
 *   if none passes: relax gamma, at most R times, and take the first (best) that passes then
 *
 * Everything is bounded by ranges x draws; a draw depends on (seed, layer, range, draw) alone. Draws that are likely to be
 * needed are tried together, in one pass over the rows; which ones are kept does not depend on that.
 */
#ifndef BROAD_LAYER_SEARCH_H
#define BROAD_LAYER_SEARCH_H

#include "layer/certificate.h"
#include "layer/growing_qr.h"
#include "layer/residual.h"
#include "layer/ridge.h"

typedef struct broad__search {
    /* The task. */
    const broad_options *options;
    double range;        /* base range */
    double chain_lambda; /* of a chain that joint weights follow, in units of the mean eigenvalue; 0: a small one */
    broad__residual *rows;
    size_t index;         /* of the layer, from 0 */
    size_t nodes;         /* to draw */
    size_t first, prefix; /* columns of Z that K starts with */
    broad__origin origin;
    /* All weights are solved again with each layer: what the layers so far span, and Y times the rows' roots. NULL: a chain. */
    broad__growing_qr *qr;
    const double *y;
    int may_defer; /* E may be left to be brought up to date by the next pass, where the sums leave no doubt */
    /* Makes Z anew with the range of this step; NULL: Z is settled. Step 0 is in force at the start. */
    int (*redraw)(void *context, size_t step);
    /* Called after each draw; non-zero stops the search. May be NULL. */
    int (*watch)(void *context, size_t draws);
    void *context;

    /* What is there to be reused from layer to layer. */
    broad__ridge ridge;
    double *weight, *bias; /* of the draws tried together: features x nodes each, nodes each */
    size_t tries;          /* that the layer before needed */
    double *values;        /* what was tested, feature step by range by draw; NaN: not yet */
    double *merits; /* what is least in the best of them: the value, or for a test of every output the whole residual */
    double
        *slack; /* by which part a value may exceed the bound before the residual itself is looked at; 0 after that */
    size_t weight_room, bias_room, values_room, merits_room, slack_room;

    /* What came out. */
    int kept, stopped;
    int deferred;                          /* E is not up to date: the caller says broad__residual_defer() */
    const double *kept_weight, *kept_bias; /* of the kept draw */
    double best;                           /* smallest value tested if none passed */
    size_t feature_step;                   /* of the kept draw */
    broad__certificate certificate;
} broad__search;

/* On success with kept: kept_weight, kept_bias, ridge.w and the certificate are the layer's, and the rows' residual is updated,
 * unless it is deferred, when norms after the layer are from the sums; with a qr the weights are there instead. Without kept: no draw passed, or the watch stopped it; the rows are as before. */
int broad__search_run(broad__search *search);
void broad__search_clear(broad__search *search); /* accepts a zeroed one */

#endif
