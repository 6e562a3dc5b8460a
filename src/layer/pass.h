/*
 * One pass over the rows serves a layer: block by block, while they are in the cache, E gets the update that the layer
 * before left pending, the candidate's nodes are computed and added to G and B,
 * and to the sums of the probes.
 */
#ifndef BROAD_LAYER_PASS_H
#define BROAD_LAYER_PASS_H

#include "layer/residual.h"

typedef struct broad__pass {
    broad__residual *residual;
    const broad__kblock *kblocks; /* of the candidate, or one for each of several */
    size_t count;
    size_t trials;              /* candidates; 0: E is updated and no more */
    size_t gram, cross, probes; /* numbers of the sums wanted of each candidate; 0: not wanted */
    int ready;                  /* the candidate's K is there, computed ahead (layer/far_rows.h) */
    size_t step;                /* rows at a time; set by broad__pass_run(), and so is */
    double *blocks;             /* for the K of an update that is recomputed: a block per worker */
    const double *packed;       /* weights of the kblocks; NULL: as they are */
} broad__pass;

/* A pending update of E has been carried out afterwards. *out: the sums, candidate by candidate; not owned. */
int broad__pass_run(double **out, broad__pass *pass);

#endif
