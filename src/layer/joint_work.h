/* What joint.c and joint_loo.c share. */
#ifndef BROAD_LAYER_JOINT_WORK_H
#define BROAD_LAYER_JOINT_WORK_H

#include "layer/joint.h"

size_t broad__joint_size(const broad__joint *joint); /* n of M */

/* Rows [first, end) of A, only the columns of these pieces. */
void broad__joint_fill(double *out, size_t stride, const broad__rows *rows, const broad__piece *pieces, size_t count,
                       size_t first, size_t end);

/* R for this lambda, unless it is there. *out_broken: Cholesky came upon a pivot that is not positive. spectral: the
 * eigendecomposition instead. */
int broad__joint_factor(int *out_broken, broad__joint *joint, const broad__rows *rows, double lambda, int spectral);
int broad__joint_solve(double *b, broad__joint *joint, const broad__rows *rows); /* b: n x outputs */

/* Leave-one-out, in joint_loo.c: the best lambda; and the scores of the sample with W and R as they are. */
int broad__joint_choose(broad__joint *joint, const broad__joint_task *task);
int broad__joint_leave_out(broad__joint *joint, const broad__joint_task *task);
void broad__joint_forget_sample(broad__joint *joint);

#endif
