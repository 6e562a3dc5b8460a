/* What the passes over the rows share; for layer/rows.c and layer/pass.c alone. */
#ifndef BROAD_LAYER_ROWS_WORK_H
#define BROAD_LAYER_ROWS_WORK_H

#include "layer/rows.h"

/* Whether a x b numbers can be there, and an int can count them. */
int broad__rows_size_fits(size_t a, size_t b);
/* A pass is done with these rows: memory of what is spilled of them is given back. */
void broad__rows_release(const broad__rows *rows, size_t first, size_t end);
double broad__rows_squares(const double *values, size_t count);
/* Columns of K of the pieces for n rows from `first` on, whose Z is given. */
void broad__rows_fill(double *out, size_t stride, const broad__rows *rows, const broad__piece *pieces, size_t count,
                      const double *z, size_t first, size_t n);

#endif
