/* R of a joint fit, and W. */
#ifndef BROAD_LAYER_JOINT_SOLVE_H
#define BROAD_LAYER_JOINT_SOLVE_H

#include "layer/joint.h"

/* What is above the diagonal of the matrix <- M, in the columns from `from` on; its diagonal <- that of M + lambda I.
 * */
void broad__joint_mirror(broad__joint *joint, broad__pool *pool, size_t from, double lambda);
/* R in the columns from `old` on, of M and the lambda it is for; the columns before are R already. *out_broken:
 * Cholesky met a pivot that is not positive. */
int broad__joint_border(int *out_broken, broad__joint *joint, const broad__joint_task *task, size_t old);
/* R for this lambda, unless R is already for it. spectral: the eigendecomposition instead, which leaves no R. */
int broad__joint_factor(int *out_broken, broad__joint *joint, const broad__joint_task *task, double lambda,
                        int spectral);
/* The spare R is that of this lambda from now on, if R is; where there is room for one. */
void broad__joint_spare(broad__joint *joint, double lambda);
void broad__joint_spare_nothing(broad__joint *joint);
int broad__joint_solve(double *b, broad__joint *joint, const broad__residual *residual); /* b: n x outputs */
/* W after broad__joint_choose(), as that solves for it; none in the dual form, where scores need none. No residual. */
int broad__joint_weights_plain(int *out_broken, broad__joint *joint, const broad__joint_task *task);
/* W with the lambda of the fit, and the residual. */
int broad__joint_weights(broad__joint *joint, const broad__joint_task *task);

#endif
