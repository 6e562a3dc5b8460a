/*
 * Rows that are left out together. Rows of one group are alike: those that stay in the fit tell about those left out,
 * so all of them are left out at once. With residual r, H = A(A'A + lambda I)^-1 A' and the rows b of a set,
 *
 *   their residual if they were left out = (I - H_bb)^-1 r_b = (G_bb)^-1 alpha_b
 *
 * in the dual form with G = (AA' + lambda I)^-1 and alpha = G Y. A group of more than BROAD__SET_ROWS rows is left out
 * in parts of nearly equal size, none larger than that, each of rows that follow each other in the group: in the order of
 * their keys if they have some, so that it does not matter how they lie.
 */
#ifndef BROAD_LAYER_LEAVE_OUT_SETS_H
#define BROAD_LAYER_LEAVE_OUT_SETS_H

#include <stdint.h>

#include "compute/device.h"

enum { BROAD__SET_ROWS = 1000 };

typedef struct broad__leave_out_sets {
    size_t count;  /* 0: each row by itself */
    size_t *first; /* count + 1: where each begins in `rows` */
    size_t *rows;  /* set after set, by the sums of their keys, or as they first appear; rising within each */
    int by_key;
} broad__leave_out_sets;

/* group: a number for each row; may be NULL. key: another, which the order follows from; may be NULL. Without two
 * rows in one group there is nothing to leave out together, and with all rows in one nothing would remain: no sets
 * then. */
int broad__leave_out_sets_make(broad__leave_out_sets *out, const size_t *group, const uint64_t *key, size_t rows);
void broad__leave_out_sets_clear(broad__leave_out_sets *sets); /* accepts a zeroed one */

/* residual (n x outputs) <- matrix^-1 residual; matrix: n x n, upper triangle, and stays; pivots: n, the squares of its
 * Cholesky factor's; scratch: n x n. Where rounding has made the matrix singular its diagonal is raised by as little as
 * suffices. */
void broad__leave_out_sets_apply(double *residual, double *pivots, double *scratch, const double *matrix, size_t n,
                                 size_t outputs, const broad__device *device);

#endif
