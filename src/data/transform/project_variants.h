/* The vector widths of projection_apply.c, each in a file of its own: out (rows x columns) += x axes, x: rows x inputs, axes:
 * inputs x columns. All give the same bits. */
#ifndef BROAD_DATA_TRANSFORM_PROJECT_VARIANTS_H
#define BROAD_DATA_TRANSFORM_PROJECT_VARIANTS_H

#include <stddef.h>

void broad__project_plain(double *out, const double *axes, size_t columns, const double *x, size_t inputs, size_t rows);
#if defined(__x86_64__)
void broad__project_avx2(double *out, const double *axes, size_t columns, const double *x, size_t inputs, size_t rows);
void broad__project_avx512(double *out, const double *axes, size_t columns, const double *x, size_t inputs,
                           size_t rows);
#endif

#endif
