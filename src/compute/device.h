/*
 * The compute contract: what training and prediction ask of a device. Matrices lie row by row; a stride is the distance
 * of two rows in numbers. Operations on rows work on one block, run on the caller's thread and may be called from several
 * threads at once. `reference` is plain C and says what each must give; the tests hold every device against it. An
 * operation that takes long ends early once the watch of its thread is stopped (base/watch.h), and its result is then open.
 */
#ifndef BROAD_COMPUTE_DEVICE_H
#define BROAD_COMPUTE_DEVICE_H

#include <stdint.h>

#include "broad/broad.h"

enum { BROAD__ACTIVATION_FLOPS = 20 }; /* what one takes, in the time of as many additions and multiplications */

/* Numbers that are read soon: an operation may bring them near while it is at work. */
typedef struct broad__soon {
    const double *at;
    size_t count;
} broad__soon;

enum { BROAD__SOON = 2 };

/* The same for a part of a matrix: `rows` runs of `columns` numbers. */
typedef struct broad__ahead {
    const double *at;
    size_t stride, rows, columns;
} broad__ahead;

/* Where random weights come from (rng/draw.h): weight (i, j) is (2u - 1) scale and bias j is (2u - 1) range, u the number at
 * element j (inputs + 1) + i, or that of input number `inputs`, of the stream that seed and words name. */
typedef struct broad__drawing {
    int known;
    uint32_t words[3];
    uint64_t seed;
    double range, scale;
} broad__drawing;

typedef struct broad__nodes {
    size_t inputs, nodes;
    const double *weight; /* inputs x nodes */
    const double *bias;   /* nodes          */
    broad_activation activation;
    int single;              /* computed in single precision; inputs are rounded to it and so are the results */
    const broad__soon *soon; /* BROAD__SOON of them; NULL: none */
    const double *packed;    /* the weights as `pack` of the device has put them; NULL: as they are */
    broad__drawing drawn; /* where it is known, a device may draw weights and biases itself: they have the same bits */
} broad__nodes;

enum { BROAD__PACKED = 12288 }; /* numbers of packed weights, at most */

/* A matrix beside k, with as many rows. */
typedef struct broad__side {
    double *at;
    size_t stride, columns;
    double *cross;   /* p x columns, where sums go */
    const double *w; /* p x columns, by which it changes; in the processor's memory */
} broad__side;

enum { BROAD__SIDES = 2 };

/* Memory of a device's own: what lies there is reached by its operations alone. */
typedef struct broad__memory {
    size_t block; /* numbers that a block of rows should have at most */
    /* Operations from which on rows may pass through it: in all, and for each number that travels. */
    double worth, worth_each;
    int (*alloc)(double **out, size_t count);
    void (*free)(double *at); /* accepts NULL */
    size_t (*room)(void);     /* numbers that could still be had */
    void (*zero)(double *at, size_t count);
    void (*put)(double *to, const double *from, size_t count); /* `from` may be changed as soon as it returns */
    /* Begins to bring these numbers, of which `get` is asked next: what is begun in between does not delay them. NULL: nothing
     * is begun before `get`. */
    void (*ask)(const double *from, size_t count);
    /* 0, or a status: what has gone wrong in any operation since the last one. */
    int (*get)(double *to, const double *from, size_t count);
    /* For rows that pass through, in two turns (compute/row_stream.h). stage: numbers in the processor's memory that travel
     * fast, as soon as what was sent from there is gone; NULL: there is too little memory. send: begins to bring them to `to`
     * while operations go on, except for those that were begun before the last `send`, which may still need what lies
     * there. await: operations begun from now on wait for what was sent. */
    double *(*stage)(size_t turn, size_t count);
    void (*send)(double *to, size_t turn, size_t count);
    void (*await)(void);
} broad__memory;

typedef struct broad__device {
    const char *name;
    /* The same device for rows in its own memory; NULL: it has none. There `memory` is set, operations on rows take and give
     * addresses in it, except for weights and biases, blocks may have any number of rows, and there is one caller at a time. */
    const struct broad__device *far;
    const broad__memory *memory; /* NULL: the processor's */

    /* Hold before the first operation, release after the last; nodes and apply alone, as for prediction, need neither.
     * Counted; any thread. 0, or a status where the device cannot work: it is not held then. For a device that must be
     * prepared; the processor need not be. */
    int (*hold)(void);
    void (*release)(void);

    /* out (rows x nodes) = activation(x weight + bias). A row's numbers are the same whatever rows it comes with. */
    void (*nodes)(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                  size_t rows);
    /* The weights of nodes in the order in which they are read, for many calls with rows: out has BROAD__PACKED numbers. 0:
     * nothing is gained by it. NULL: by none. */
    int (*pack)(double *out, const broad__nodes *nodes);
    /* out (p x p, upper triangle) += k'k */
    void (*gram)(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p);
    /* out (p x c) += a'b, over rows */
    void (*cross)(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                  size_t b_stride, size_t c, size_t rows);
    /* The last two at once, in one reading of k, for up to BROAD__SIDES sides: gram += k'k, cross += k' side. NULL: one after
     * the other is as good. */
    void (*sums)(double *gram, size_t gram_stride, const double *k, size_t k_stride, size_t p, const broad__side *sides,
                 size_t count, size_t rows);
    /* out (rows x c) += sign * k w, k: rows x p, w: p x c. A row's numbers are the same whatever rows it comes with. */
    void (*apply)(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                  const double *w, size_t w_stride, size_t p, size_t c);
    /* The same with sign 1; what stands in ahead[0] and ahead[1] may be brought near meanwhile. NULL: nothing gained by it. */
    void (*apply_ahead)(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, const double *w,
                        size_t w_stride, size_t p, size_t c, const broad__ahead ahead[2]);
    /* Without gaps between rows: out (rows x c) = e + sign k w, *squares += its squares, and cross (p x c) += k' out unless
     * NULL; out may be e. NULL: by the operations that it consists of. */
    void (*shift)(double *out, double *squares, double *cross, const double *e, double sign, const double *k,
                  size_t rows, const double *w, size_t p, size_t c);
    /* Each of up to BROAD__SIDES sides += sign k w, in one reading of k, without gaps; *squares += the squares of the first,
     * without gaps either. NULL: by the operations that it consists of. */
    void (*change)(double *squares, double sign, const double *k, size_t p, const broad__side *sides, size_t count,
                   size_t rows);
    /* out (rows x count) += a b', a: rows x p, b: count x p */
    void (*outer)(double *out, size_t out_stride, const double *a, size_t a_stride, size_t rows, const double *b,
                  size_t b_stride, size_t count, size_t p);

    /* *out += the sum of the squares */
    void (*squares)(double *out, const double *a, size_t count);
    /* *out += the sum of a(i, j) b(i, j), row by row */
    void (*inner)(double *out, const double *a, size_t a_stride, const double *b, size_t b_stride, size_t rows,
                  size_t columns);
    void (*copy)(double *out, size_t out_stride, const double *from, size_t from_stride, size_t rows, size_t columns);
    /* Row i of k times root[i] */
    void (*scale)(double *k, size_t k_stride, size_t rows, size_t columns, const double *root);

    /* Cholesky: a (n x n, upper triangle) = R'R, R in its place. 0, or the number of the first pivot that is not positive. */
    size_t (*factor)(double *a, size_t n);
    /* b (n x c) <- (R'R)^-1 b */
    void (*solve)(double *b, size_t c, const double *r, size_t n);
    /* b (rows x n) <- b R^-1 */
    void (*whiten)(double *b, size_t b_stride, size_t rows, const double *r, size_t r_stride, size_t n);
    /* R <- R^-1, upper triangle; what is below the diagonal stays. */
    void (*invert)(double *r, size_t n);
    /* R'R += b'b, b: k x n, which is used up. Signs are such that the diagonal stays positive. 0, or a status. */
    int (*update)(double *r, size_t n, double *b, size_t k);
    /* a (n x n, upper triangle) = V' diag(values) V: row i of a becomes eigenvector i, values rising. 0, or a status. */
    int (*eigen)(double *a, double *values, size_t n);
    /* a (n x n, upper triangle) = Q T Q' for a tridiagonal T with `diagonal` and, n - 1 of them, `beside` it; b (n x c) <- Q'b.
     * Nothing is said about what becomes of a. 0, or a status. */
    int (*tridiagonal)(double *diagonal, double *beside, double *a, size_t n, double *b, size_t c);
} broad__device;

const broad__device *broad__device_reference(void);
const broad__device *broad__device_cpu(void);           /* counts its operations in a profile (base/profile.h) */
const broad__device *broad__device_cpu_uncounted(void); /* the same without */

#endif
