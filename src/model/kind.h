/*
 * The family as one table. A kind is a choice of nodes, of how candidates are selected and of where the output weights
 * come from; everything else is shared.
 *
 *            nodes                        selection                     output weights
 *   rvfl     inputs + hidden nodes        none                          joint
 *   bls      feature groups + nodes       none                          joint
 *   brls     feature groups + layers      none; gcv                     chain, or joint after it
 *   bscrls   feature groups + layers      gcv, residual, loo, operator  chain, or joint after it; loo: always joint
 *   scn      hidden nodes, in blocks      every output's residual; gcv  chain (sc1), window (sc2), joint (sc3); gcv: chain
 */
#ifndef BROAD_MODEL_KIND_H
#define BROAD_MODEL_KIND_H

#include "broad/broad.h"

/* What the first layer's K is made of; later layers have their own nodes alone. */
typedef enum broad__node_plan {
    BROAD__NODES_FEATURES, /* [Z | H_1], H on Z: groups of feature nodes      */
    BROAD__NODES_LINKED,   /* [X | H_1], H on X: the scaled inputs themselves */
    BROAD__NODES_HIDDEN    /* H_1, on X                                       */
} broad__node_plan;

/* How the output weights follow from the layers. */
typedef enum broad__fitting {
    BROAD__FIT_CHAIN,    /* W_j from E_{j-1}, then E_j = E_{j-1} - K_j W_j                       */
    BROAD__FIT_FINALLY,  /* the chain, and at its end a joint ridge that predicts in its place   */
    BROAD__FIT_STEPWISE, /* all weights again with every layer, so that E_j is the joint residual */
    BROAD__FIT_WINDOW,   /* the same for the last nodes alone                                    */
    BROAD__FIT_AT_ONCE   /* no chain: all nodes of a run are one block, all weights joint        */
} broad__fitting;

typedef struct broad__kind {
    broad__node_plan nodes;
    unsigned tests;       /* that it may be given: bits 1 << broad_supervise */
    unsigned weights;     /* likewise: bits 1 << broad_weights               */
    int at_once;          /* without a chain layers mean nothing             */
    broad_supervise test; /* unless told otherwise, in preset paper */
} broad__kind;

const broad__kind *broad__kind_of(broad_kind kind);
broad__fitting broad__fitting_of(const broad_options *options);
/* Whether a joint ridge at the end predicts beside what was fitted layer by layer: after a chain, and where all weights
 * are solved again with each layer but lambda is chosen once all are there. */
int broad__joint_beside(const broad_options *options);

/* The nodes that this number of rows warrants, before any limit: more rows warrant more of them, but not in proportion.
 * */
double broad__size_for_rows(size_t rows);
/* Where the number of feature nodes is left open: that for this number of rows, or where supervision decides, the most
 * that may enter. No more than some nodes per row, and no more than can be summed up over the rows in reasonable time. */
void broad__size_features(broad_options *options, size_t rows);
/* Whether feature nodes enter the network only as long as leave-one-out gains by them (model/train/choose_size.h). */
int broad__grows_by_gain(const broad_options *options);

/* BROAD_USAGE for a number that is no kind. Everything else here takes it for granted that it is one. */
int broad__kind_exists(broad_kind kind);
/* BROAD_USAGE with the remedy where kind, test and weights do not go together. */
int broad__kind_check(const broad_options *options);

#endif
