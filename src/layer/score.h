/*
 * The generalised cross-validation score of a chain: what its residual would be on rows that it has not seen.
 *
 *   g = ||E|| / (1 - penalty df / N)         df: layer/probes.h; penalty 1 is plain cross-validation, more is safer
 */
#ifndef BROAD_LAYER_SCORE_H
#define BROAD_LAYER_SCORE_H

#include "layer/residual.h"
#include "layer/spd.h"

/* Of a residual of this norm with these degrees of freedom, and where <U_0, U> is `inner`. Infinite where nothing is left to
 * divide by. */
double broad__score_of(const broad__probes *probes, double norm, double df, double penalty);
double broad__score(const broad__probes *probes, double norm, double inner, double penalty);
/* Of the chain so far. */
double broad__score_now(const broad__residual *residual, double penalty);

/* What the candidate subtracts from the probes: out (width x probes) = (K'K + lambda I)^-1 K'U, by the system's factor,
 * and *out_inner = <U_0, U'> from the sums. work: probes x the larger of width and rows. */
int broad__score_probes(double *out, double *out_inner, const broad__residual *residual, broad__spd *spd, double *work);

/* Brings E and U from before a layer to after it: as training did, for a layer that is known. */
int broad__score_follow(broad__residual *residual, const broad__kblock *kblock, const double *w, double lambda);

#endif
