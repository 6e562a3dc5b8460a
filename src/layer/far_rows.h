/*
 * Rows in the memory of a device of its own: while layers are added, E, next, the probes, Z and the rows' roots lie there,
 * and so does K. Where Z does not fit, or is not stored here either, the inputs lie there and Z is made block by block. Sums come
 * back; everything else that the layers do is done by the processor. Before and after that the rows lie in the processor's
 * memory, where all other parts of the program find them.
 */
#ifndef BROAD_LAYER_FAR_ROWS_H
#define BROAD_LAYER_FAR_ROWS_H

#include "compute/device.h"
#include "layer/kblock.h"

struct broad__residual; /* layer/residual.h */

/* Z of n rows from `first` on, in the device's memory. */
typedef void (*broad__far_maker)(void *context, double *out, size_t first, size_t n);

/* The inputs of the rows, from which Z can be made there. */
typedef struct broad__far_inputs {
    size_t columns; /* of a row; 0: there are none */
    void *context;
    int (*ready)(void *context); /* before what follows, and again whenever the features have changed */
    /* Those of n rows from `first` on, scaled, in the processor's memory. */
    void (*fill)(void *context, double *to, size_t first, size_t n);
    /* Z of n rows, whose inputs are x; both in the device's memory. */
    void (*make)(void *context, const broad__device *there, double *out, const double *x, size_t n);
} broad__far_inputs;

/* K of a candidate that is still to come, and K'K of a wide one: computed while the processor solves for the one before. */
typedef struct broad__far_ahead {
    double *k, *gram; /* gram: NULL where sums are better computed with K'E */
    size_t k_capacity, gram_capacity;
    const double *weight; /* of its nodes, by which it is known; NULL: nothing is there */
    size_t width;
} broad__far_ahead;

typedef struct broad__far_rows {
    double *z;    /* rows x features; NULL: it is made */
    double *x;    /* rows x inputs.columns, from which it is made; NULL: by `make` */
    double *root; /* rows: what K is multiplied by; NULL: 1 */
    double *sums;
    size_t sums_capacity;
    broad__far_inputs inputs;
    broad__far_maker make; /* where there are no inputs, either */
    void *context;
    double *block; /* of Z that was made */
    size_t block_capacity;
    double *e, *next, *u, *probe_next; /* in the processor's memory, meanwhile */
    broad__far_ahead ahead;
} broad__far_rows;

/* Takes the rows there, if the device has memory of its own and they fit, with Z or with their inputs, beside what passes over
 * them with `width` columns take; otherwise they stay. No update may be pending. */
int broad__far_send(struct broad__residual *residual, size_t width);
/* Takes Z there again, after it was changed here, or makes it in another way. */
int broad__far_send_z(struct broad__residual *residual);
/* Brings E and the probes back. Nothing happens to rows that are here. */
int broad__far_fetch(struct broad__residual *residual);
/* Forgets what is there. */
void broad__far_rows_drop(struct broad__residual *residual);

/* Starts to compute K of this candidate, whose weights stay where they are until it is tried; and K'K of a wide one. Nothing
 * happens where rows are here, or there is too little room. */
int broad__far_compute_ahead(struct broad__residual *residual, const broad__kblock *kblock);
int broad__far_is_ahead(const struct broad__residual *residual, const broad__kblock *kblock);
/* What was computed ahead becomes the candidate's own K. */
void broad__far_take_ahead(struct broad__residual *residual);
/* These weights are about to change: what was computed from them counts no more. */
void broad__far_void_ahead(struct broad__residual *residual, const double *weight);
void broad__far_forget_ahead(struct broad__residual *residual);
/* Rows of this rank. */
void broad__far_own_rows(size_t *first, size_t *end, const struct broad__residual *residual);

/* Whether there is no room for K of this width. */
int broad__far_is_full(const struct broad__residual *residual, size_t width);

/* Memory for rows, wherever they lie: `rows` of `width` numbers for each worker; and an array that grows. */
int broad__rows_alloc(double **out, const struct broad__residual *residual, size_t rows, size_t width);
int broad__rows_reserve(double **array, size_t *capacity, const struct broad__residual *residual, size_t count);
void broad__rows_free(const struct broad__residual *residual, double *array); /* accepts NULL */
/* Z of up to `step` rows at a time can be had from now on. */
int broad__rows_ready(struct broad__residual *residual, size_t step);
size_t broad__rows_workers(const struct broad__residual *residual); /* that go over them at once */

#endif
