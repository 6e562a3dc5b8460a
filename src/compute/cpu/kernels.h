/*
 * The products of the layer pass and of dense algebra by own kernels, one set for each kind of vector instructions.
 *
 * Every number of a result is one chain of fused multiply-adds in a fixed order: over the inputs for `nodes`, from the bias
 * on; over the columns of k for `apply`, over the rows for `gram` and `cross`, from the old value on. So the bits do not
 * depend on the vector width, on the number of rows in a call or on how rows are cut, and a scalar loop over fma() gives them
 * too. `sign` multiplies w first, which is exact for 1 and -1.
 *
 * In single precision, which models of 0.1 may have, `nodes` is such a chain of floats, from the bias on, with inputs and
 * weights rounded first.
 *
 * The set "plain" fuses where the target always can (aarch64). On x86-64 it is for processors without FMA: the same order,
 * but each product is rounded, so the last bits differ from those of the other sets. Training uses it there; prediction, which
 * gives the same bits everywhere, uses "exact": `nodes` and `apply` alone, with fused steps that are computed, not had.
 *
 * So do `product`, over the steps, and `substitute` and `factor`, which end with a division or a root. The `symmetric` ones
 * add up in eight sums, by every set alike.
 *
 * Nothing here allocates or locks; packed panels lie on the stack: less than 100 KB, but 450 KB for `product`, which prediction
 * does not use.
 */
#ifndef BROAD_COMPUTE_CPU_KERNELS_H
#define BROAD_COMPUTE_CPU_KERNELS_H

#include "compute/device.h"

/* A matrix that lies by rows (column is 1) or by columns (row is 1): its number i, j is at[i * row + j * column]. */
typedef struct broad__operand {
    const double *at;
    size_t row, column;
} broad__operand;

/* The same, to be written. */
typedef struct broad__target {
    double *at;
    size_t row, column;
} broad__target;

enum { BROAD__TRIANGLE = 64 }; /* the widest triangle that substitute and factor take */

/* Functions as in broad__device. */
typedef struct broad__kernels_single {
    void (*nodes)(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                  size_t rows);
} broad__kernels_single;

typedef struct broad__kernels {
    const char *name;
    void (*nodes)(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                  size_t rows);
    int (*pack)(double *out, const broad__nodes *nodes);
    void (*gram)(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p);
    void (*cross)(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                  size_t b_stride, size_t c, size_t rows);
    void (*apply)(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                  const double *w, size_t w_stride, size_t p, size_t c);
    void (*apply_ahead)(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, const double *w,
                        size_t w_stride, size_t p, size_t c, const broad__ahead ahead[2]);
    /* out (rows x columns) += sign a b, a: rows x depth, b: depth x columns, either as it lies or transposed */
    void (*product)(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b, size_t rows,
                    size_t columns, size_t depth);
    /* x (n x columns) <- L^-1 x for the lower triangle of l; `backward`: for its upper triangle, from the last row on */
    void (*substitute)(broad__target x, size_t columns, broad__operand l, size_t n, int backward);
    /* a (n x n, upper triangle) = R'R. 0, or the number of the first pivot that is not positive. */
    size_t (*factor)(double *a, size_t stride, size_t n);
    /* y += a v, a: n x n, upper triangle of a symmetric matrix */
    void (*symmetric)(double *y, const double *a, size_t stride, const double *v, size_t n);
    /* The same after a -= left right' + right left' */
    void (*symmetric_changed)(double *y, double *a, size_t stride, const double *v, const double *left,
                              const double *right, size_t n);
    const broad__kernels_single *single; /* for nodes->single */
} broad__kernels;

extern const broad__kernels_single broad__kernels_single_plain, broad__kernels_single_avx2,
    broad__kernels_single_avx512;

extern const broad__kernels broad__kernels_plain, broad__kernels_exact, broad__kernels_avx2, broad__kernels_avx512;

/* The set of that name, "avx512", "avx2", "exact" or "plain"; NULL where this processor cannot run it. */
const broad__kernels *broad__kernels_named(const char *name);
/* The set in use, by broad__vector_best(): the best that runs here, or what BROAD_KERNELS in the environment names. */
const broad__kernels *broad__kernels_used(void);
/* The set that models predict by: the same, or "exact" where it does not fuse. In WebAssembly, where that would be most of the
 * time, it does not. */
const broad__kernels *broad__kernels_predicting(void);

#endif
