/* What the parts of the joint fit share. */
#ifndef BROAD_LAYER_JOINT_WORK_H
#define BROAD_LAYER_JOINT_WORK_H

#include <stdatomic.h>

#include "layer/joint.h"

size_t broad__joint_size(const broad__joint *joint); /* n of M */

/* ---- watching -------------------------------------------------------------------------------------------------- */

/* A stage of the work, up to the part `until` of the whole: jobs report what they have done, and those on the caller's thread
 * tell the watcher. */
typedef struct broad__joint_watch {
    broad__joint *joint;
    const broad__joint_task *task;
    double from, until, all;
    atomic_size_t done;
    atomic_int stopped; /* the watcher asked for it: jobs that have not begun have nothing to do */
    double told;        /* when the watcher heard of it last */
} broad__joint_watch;

void broad__joint_watch_open(broad__joint_watch *out, broad__joint *joint, const broad__joint_task *task, double until,
                             double all);
void broad__joint_watch_step(broad__joint_watch *watch, size_t amount, size_t worker);
/* Returns 1 if it was stopped. */
int broad__joint_watch_close(broad__joint_watch *watch);

/* ---- joint_sums.c: A and M ------------------------------------------------------------------------------------- */

/* Rows [first, end) of A, only the columns of these pieces. */
void broad__joint_fill(double *out, size_t stride, const broad__residual *rows, const broad__kblock *pieces,
                       size_t count, size_t first, size_t end);
/* M += A'A and A'Y over these rows, in the columns from `from` on of them; until: part of the whole that this completes. */
int broad__joint_add(broad__joint *joint, const broad__joint_task *task, size_t first, size_t end, size_t from,
                     double until);
/* M += AA' over the columns of A from `column` on; in the rows of M from `from` on. */
int broad__joint_add_dual(broad__joint *joint, const broad__joint_task *task, size_t column, size_t from, double until);

/* ---- joint_solve.c --------------------------------------------------------------------------------------------- */

/* What is above the diagonal of the matrix <- M, in the columns from `from` on; its diagonal <- that of M + lambda I. */
void broad__joint_mirror(broad__joint *joint, broad__pool *pool, size_t from, double lambda);
/* R in the columns from `old` on, of M and the lambda it is for, where those before are there. *out_broken: Cholesky came upon a
 * pivot that is not positive. */
int broad__joint_border(int *out_broken, broad__joint *joint, const broad__joint_task *task, size_t old);
/* R for this lambda, unless it is there. spectral: the eigendecomposition instead, which leaves no R. */
int broad__joint_factor(int *out_broken, broad__joint *joint, const broad__joint_task *task, double lambda,
                        int spectral);
int broad__joint_solve(double *b, broad__joint *joint, const broad__residual *rows); /* b: n x outputs */
/* W with the lambda of the fit, and what it leaves over. */
int broad__joint_weights(broad__joint *joint, const broad__joint_task *task);

/* ---- joint_loo.c ----------------------------------------------------------------------------------------------- */

/* The best lambda, which completes the part `until` of the whole; and the scores of the sample with W and R as they are. */
int broad__joint_choose(broad__joint *joint, const broad__joint_task *task, double until);
int broad__joint_leave_out(broad__joint *joint, const broad__joint_task *task);
void broad__joint_forget_sample(broad__joint *joint);

#endif
