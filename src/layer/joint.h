/*
 * One ridge regression over the nodes of all layers, kept up to date while layers and rows are added.
 *
 *   A = [K_1 ... K_m],  W = (A'A + lambda I)^-1 A'Y = A'(AA' + lambda I)^-1 Y
 *
 * M is A'A, or AA' where there are fewer rows than columns, and R'R = M + lambda I. What is added borders M or is added
 * to it, and R follows:
 *
 *                  M = A'A                  M = AA'
 *   columns        border M, border R       M += A_new A_new', update R by these columns
 *   rows           M += A_new'A_new,        border M, border R
 *                  update R by these rows
 *
 *   border: R12 = R^-T M12,  R22'R22 = M22 + lambda I - R12'R12;  update: Householder, R'R += b'b
 *
 * The solution is refined with the residual of the rows themselves, as far as that residual shows it to be needed;
 * where it shows that R has drifted, R is recomputed from M. Leave-one-out in closed form: y_i - r_i / (1 - h_i) with
 * h_i = |a_i R^-1|^2, or y_i - alpha_i / g_i with alpha = (M + lambda I)^-1 Y and g the diagonal of that inverse. Rows
 * of one group are left out together (layer/leave_out_sets.h).
 */
#ifndef BROAD_LAYER_JOINT_H
#define BROAD_LAYER_JOINT_H

#include "layer/residual.h"
#include "layer/spd.h"

enum {
    BROAD__LOO_ROWS = 2000 /* that leave-one-out is computed on at most, unless M is AA'; with groups, plus one set */
};

typedef struct broad__joint_task {
    broad__residual *residual; /* their Z, and where the residual goes; E is not read */
    const double *y;           /* rows x outputs: targets, times the rows' roots */
    const broad__kblock *kblocks;
    size_t count;
    int lambda_auto; /* by leave-one-out */
    double lambda;   /* otherwise */
    /* Where the search for lambda begins, and what it found: similar problems have similar ones. NULL, or 0: unknown */
    double *exponent;
    int loo;   /* leave-one-out scores are wanted */
    int rough; /* for comparisons: leave-one-out of fewer rows */
    /* Nothing else is wanted: where the search for lambda has them already, W is not solved for. */
    int scores_alone;
    /* A mean over rows of the leave-one-out square: above it, the first lambda is the last that is tried. 0: there is none */
    double hopeless;
} broad__joint_task;

typedef struct broad__joint {
    size_t rows, columns, kblocks, outputs; /* that M covers */
    int dual;                               /* M = AA' */
    double *matrix;   /* n x n, n = columns, or rows in the dual form: R, and below its diagonal M */
    double *diagonal; /* n: that of M */
    double *cross;    /* A'Y, columns x outputs; not in the dual form */
    double *a;        /* A, rows x columns, in the dual form */
    double factored;  /* lambda that R is for; below 0: there is none */
    double *spare;  /* n x n: above its diagonal R of another lambda, from which R can be taken; NULL: there is none */
    double spared;  /* that lambda */
    broad__spd spd; /* in place of R where Cholesky breaks down */
    int spectral;
    size_t factors, updates; /* how often R was computed from M, and updated; for tests */
    size_t passes;           /* over the rows, to refine W with their residual */

    double *w; /* columns x outputs */
    double lambda, norm;
    int left; /* next of the residual is what W leaves, here and not far away, unless something else has been tried since */

    /* Rows that leave-one-out is computed on: all, or some that their keys choose. */
    size_t sample_count, search_count; /* lambda is searched on the first of them */
    size_t *sample;
    size_t set_count;            /* of rows that are left out together; 0: each by itself */
    size_t *sets;                /* set_count + 1: where each begins in the sample */
    double *sample_a, *sample_y; /* A and Y of these rows; not A in the dual form, which has all of it */
    double loo;                  /* norm of their leave-one-out residuals */
    double *searched_w; /* W that loo_scores of the rows that lambda was searched on are for; NULL: there is none */
    int scored;         /* loo and loo_scores are those of the search for lambda: there is no W */
    int given_up;       /* it was hopeless: loo is of the rows that lambda is searched on, and scores there are none */
    double *loo_scores; /* sample_count x outputs, without the roots; if wanted */
} broad__joint;

void broad__joint_clear(broad__joint *joint);        /* accepts a zeroed one */
size_t broad__joint_size(const broad__joint *joint); /* n of M */

/* Begins with the sums of the candidate that has just been accepted, whose columns are the first kblock: they need not
 * be added up again. Nothing happens where there are no suitable ones. E was Y when they were computed. The matrix of the
 * candidate is taken. */
int broad__joint_adopt(broad__joint *joint, broad__residual *residual);
/* What that candidate was solved with, if M has not changed since: the search for lambda need not factor it again. Takes the
 * factor. */
void broad__joint_adopt_factor(broad__joint *joint, broad__spd *spd);

/* Brings M, R and W up to date with the task and puts Y - A W into next; joint->norm is its norm. Only further rows
 * and kblocks may have come since the last call; otherwise clear it first. After a failure nothing is valid. */
int broad__joint_fit(broad__joint *joint, const broad__joint_task *task);

#endif
