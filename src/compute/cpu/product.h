/* Products by the kernels that are best at their shape. Every number of a result is one chain of fused steps (kernels.h), so
 * that its bits depend neither on that choice nor on how a product is cut. */
#ifndef BROAD_COMPUTE_CPU_PRODUCT_H
#define BROAD_COMPUTE_CPU_PRODUCT_H

#include "compute/cpu/kernels.h"

/* at, as it lies and transposed */
broad__operand broad__as_is(const double *at, size_t stride);
broad__operand broad__turned(const double *at, size_t stride);

/* out (rows x columns) += sign a b, a: rows x depth, b: depth x columns. out may not overlap a or b. */
void broad__product(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b, size_t rows,
                    size_t columns, size_t depth);
/* The same for the upper triangle of a square out; what is below its diagonal stays. */
void broad__product_upper(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b, size_t side,
                          size_t depth);

#endif
