/*
 * A network as prediction sees it: scaling, nodes and output weights, and nothing that says how it was trained. Narrow
 * groups and layers can be put side by side, so that their nodes are computed together; what each layer adds to the
 * scores is still added layer by layer. So the numbers are the same, bit for bit, for any number of rows at once and
 * wherever the weights lie.
 */
#ifndef BROAD_MODEL_PREDICT_NETWORK_H
#define BROAD_MODEL_PREDICT_NETWORK_H

#include "compute/device.h"
#include "model/predict/confidence.h"

/* Feature nodes: columns of Z from `first` on. */
typedef struct broad__feature_run {
    broad__nodes nodes;
    size_t first;
} broad__feature_run;

/* The enhancement nodes of `count` layers. */
typedef struct broad__layer_run {
    broad__nodes nodes;
    size_t first, count;
} broad__layer_run;

/* What a layer adds to the scores: [columns of Z | its nodes] times the output weights. */
typedef struct broad__term {
    size_t first, prefix; /* columns of Z */
    size_t nodes;
    const double *output; /* (prefix + nodes) x outputs */
} broad__term;

typedef struct broad__network {
    broad_task task;
    size_t inputs, outputs;
    broad_missing missing;
    char *const *input_names; /* NULL: not kept */
    char **output_names;
    broad__scaling scaling;
    size_t features; /* columns of Z */
    int direct;      /* Z is the scaled inputs themselves, and there are no parts */
    size_t part_count, run_count, term_count;
    broad__feature_run *parts;
    broad__layer_run *runs;
    broad__term *terms;
    size_t widest;                /* nodes of a run at most */
    const double *shift, *factor; /* value = score / factor + shift */
    broad__confidence confidence;
    size_t bytes; /* of `block` */
    void *block;  /* owned: all that does not lie in the model or in borrowed memory */
} broad__network;

/* Weights inside `borrowed`, such as a mapped file, are used where they are: it outlives the network. borrowed NULL: the model outlives the network, and no weights are copied but those put side by side. join: narrow
 * groups and layers are. */
int broad__network_make(broad__network *out, const broad_model *model, const broad__borrowed *borrowed, int join);
void broad__network_clear(broad__network *network);

#endif
