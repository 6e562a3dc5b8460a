/*
 * The generalised cross-validation score of a chain: what its residual would be on rows that it has not seen.
 *
 *   g = ||E|| / (1 - penalty df / N)         df: layer/probes.h; penalty 1 is plain cross-validation, more is safer
 *
 * With K'K = V' diag(s) V, b = V K'E, b_u = V K'U and b_0 = V K'U_0 the sums tell the score for every lambda at once:
 *
 *   ||E - KW||^2 = ||E||^2 - 2 sum b^2/(s + lambda) + sum s b^2/(s + lambda)^2
 *   <U_0, U'>    = <U_0, U> - sum b_0 b_u/(s + lambda)
 *
 * and where K has more columns than rows, with KK' = V' diag(s) V, b = V E and so on:
 *
 *   ||E - KW||^2 = sum (lambda/(s + lambda))^2 b^2,    <U_0, U'> = sum lambda/(s + lambda) b_0 b_u
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

/* What a candidate would come to, from the sums. */
typedef struct broad__prospect {
    double lambda, norm, inner, score;
} broad__prospect;

/* The lambda of the least score for the candidate, over a grid of multiples of the mean eigenvalue. spd: spectral. */
int broad__score_lambda(broad__prospect *out, const broad__residual *residual, const broad__spd *spd, double penalty);

/* What the candidate subtracts from the probes: out (width x probes) = (K'K + lambda I)^-1 K'U, by the system's factor,
 * and *out_inner = <U_0, U'> from the sums. work: probes x the larger of width and rows. */
int broad__score_probes(double *out, double *out_inner, const broad__residual *residual, broad__spd *spd, double *work);

/* Brings E and U from before a layer to after it: as training did, for a layer that is known. */
int broad__score_follow(broad__residual *residual, const broad__kblock *kblock, const double *w, double lambda);

#endif
