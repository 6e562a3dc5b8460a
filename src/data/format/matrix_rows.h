/* The inputs of a matrix that lies row by row, many rows at a time on several threads. */
#ifndef BROAD_DATA_FORMAT_MATRIX_ROWS_H
#define BROAD_DATA_FORMAT_MATRIX_ROWS_H

#include "data/format/matrix.h"

/* The numbers in the file, if they are what a table has: doubles of this machine, all of them inputs; otherwise NULL. */
const double *broad__matrix_in_place(const broad__matrix *matrix, const broad__roles *roles);

/* Fills rows [first, end) of x (rows x inputs) from all columns that are inputs; with x NULL the numbers in place are only
 * looked at. *out_finite: all are finite numbers; otherwise x holds anything. */
int broad__matrix_inputs(int *out_finite, double *x, const broad__matrix *matrix, const broad__roles *roles,
                         size_t first, size_t end, size_t threads);

#endif
