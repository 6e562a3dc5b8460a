/* An update of the residual, E <- E - K w, that is carried out by the next pass over the rows. */
#ifndef BROAD_LAYER_DEFERRED_UPDATE_H
#define BROAD_LAYER_DEFERRED_UPDATE_H

#include "layer/kblock.h"

struct broad__residual; /* layer/residual.h */

typedef struct broad__deferred_update {
    int pending;
    int stored;            /* K is the one that the candidate has stored; otherwise it is recomputed from `kblock` */
    broad__kblock kblock;  /* of K */
    const double *w;       /* not owned */
    const double *probe_w; /* of the probes; NULL: they stay as they are. Not owned */
    double norm, inner;    /* ||E|| and <U_0, U> after the last update that was carried out */
} broad__deferred_update;

/* E becomes E - K w with the next pass, K being that of the candidate, which has one kblock; the norm of E is about
 * `norm`. w and the weights of the kblock must stay until then. */
void broad__residual_defer(struct broad__residual *residual, const broad__kblock *kblock, const double *w, double norm);
/* The probes take part in it: U becomes U - K w, and <U_0, U> is about `inner`. */
void broad__residual_defer_probes(struct broad__residual *residual, const double *w, double inner);
/* Carries out an update that is pending. */
int broad__residual_settle(struct broad__residual *residual);
/* E = E - K w at once, for any kblock; w: its width x outputs, probe_w: that of the probes, or NULL. */
int broad__residual_follow(struct broad__residual *residual, const broad__kblock *kblock, const double *w,
                           const double *probe_w);

#endif
