/* Own kernels, for rows of few columns: cuBLAS leaves most of the device idle there, and goes over the rows more often. */
#ifndef BROAD_COMPUTE_CUDA_NARROW_CUH
#define BROAD_COMPUTE_CUDA_NARROW_CUH

#include "compute/cuda/context.cuh"

/* out = activation(out + bias), rows x nodes */
void bias_and_activate(double *out, size_t out_stride, const double *bias, size_t nodes, size_t rows,
                       broad_activation activation);

/* Columns of inputs, of nodes and of outputs that the kernels below take at most. */
static constexpr int NARROW_MOST = 128, NARROW_OUTPUTS = 16;

/* out = activation(x weight + bias), for any number of nodes; weight and bias in the device's memory */
void narrow_nodes(double *out, size_t out_stride, const double *weight, const double *bias, size_t inputs, size_t nodes,
                  broad_activation activation, const double *x, size_t x_stride, size_t rows);
/* gram (p x p, upper triangle) += k'k and cross += k' side for up to two sides, in one reading of k */
void narrow_sums(double *gram, size_t gram_stride, const double *k, size_t k_stride, size_t p,
                 const broad__side *beside, size_t count, size_t rows);
/* out (rows x c) = e + sign k w, for any p, and *squares += its squares unless NULL; w in the device's memory, out may be e */
void narrow_apply(double *out, const double *e, size_t stride, double *squares, double sign, const double *k,
                  size_t k_stride, size_t rows, const double *w, size_t p, size_t c);
/* The same for up to two sides, which have NARROW_OUTPUTS columns together; squares of the first */
void narrow_change(double *squares, double sign, const double *k, size_t p, const broad__side *beside, size_t count,
                   const double *const w[2], size_t rows);

/* out (rows x c) = e + sign k w, *squares += its squares, and cross (p x c) += k' out unless NULL; all without gaps, out may
 * be e, w in the device's memory */
void narrow_shift(double *out, double *squares, double *cross, const double *e, double sign, const double *k,
                  size_t rows, const double *w, size_t p, size_t c);

/* out (p x columns) += the parts, p x columns each and `apart` numbers from each other, in order; 0: one after the other */
void add_parts(double *out, size_t out_stride, const double *parts, size_t part_stride, size_t p, size_t columns,
               size_t count, size_t apart = 0);

/* *out += the numbers, in a fixed order */
void add_numbers(double *out, const double *parts, size_t count);

#endif
