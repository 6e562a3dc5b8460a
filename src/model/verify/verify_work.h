/* What the parts of the verification share; model/verify.c says what is checked. */
#ifndef BROAD_MODEL_VERIFY_VERIFY_WORK_H
#define BROAD_MODEL_VERIFY_VERIFY_WORK_H

#include <float.h>

#include "compute/pool.h"
#include "data/table.h"
#include "model/model.h"

/* Two ways of adding up the same numbers differ by this much at most, relative to what is added up. */
#define BROAD__TOLERANCE 1e-7
/* Norms below this part of ||E_0|| are rounding. */
#define BROAD__FLOOR 1e-11
/* One product or sum of numbers of size 1 may be off by this much. */
#define BROAD__ROUNDING (16 * DBL_EPSILON)

typedef struct broad__verification {
    const broad_model *model;
    const broad_data *data;
    broad_verdict *verdict;
    broad__pool *pool;
    size_t features;
    double *z;           /* rows x features */
    double *sqrt_weight; /* rows: root of what each row counts, which its K and E are multiplied by; NULL: 1 */
    double *e;           /* rows x outputs */
    double rounding;     /* of the sums that output weights were solved from */
    double drift;        /* how far rounding may have moved E so far */
} broad__verification;

/* What was found for a layer. */
typedef struct broad__finding {
    double before, after, gradient;
    double tested; /* what its test compared with the bound; NaN: the matrix is too near to singular to say */
    double least;  /* the same if all rounding went one way */
    double most;
} broad__finding;

/* Puts the reason into the verdict; returns 0, which stands for "does not hold". */
int broad__refuse(broad_verdict *verdict, size_t layer, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A column of a row's scaled inputs, from the row as it was read. */
double broad__verify_scaled(const broad_model *model, const double *x, size_t column);
/* 1 if the recorded scaling is that of the rows of the first fit. */
int broad__verify_scaling(broad__verification *v);

/* A layer's row of K, by plain loops. */
void broad__verify_row(const broad__verification *v, double *k, const broad__layer *layer, size_t row);
/* Y in the network's units, times the roots: rows x outputs. */
void broad__verify_targets(double *out, const broad__verification *v);
double broad__verify_norm(const double *e, size_t count);
/* Layer j was fitted to other rows than the layer before it. */
int broad__verify_new_rows(const broad_model *model, size_t j);
/* What the ratio of norms must keep: the bound, or where squares were tested its root. */
double broad__verify_ratio_bound(const broad__certificate *c);
/* Adds a row's leave-one-out square to sums[0], and how far rounding may have moved it to sums[1]. off: of its residual. */
void broad__verify_leave_out(double sums[2], double square, double leverage, double off);

/* 1 if everything in layer j's record follows from other records; before: the norm that it must start from. */
int broad__verify_record(broad__verification *v, size_t j, double before);
/* 1 if the record agrees with what was found, and that keeps the bound. */
int broad__verify_judge(broad__verification *v, size_t j, const broad__finding *found);

/* Stored weights of layers [first, last) that should solve one ridge problem over the rows [from, from + rows), for what the
 * layers before them leave over. */
typedef struct broad__solution {
    size_t first, last;
    int joint; /* the joint weights, else the output weights */
    size_t from, rows;
    double lambda;
    double after;    /* norm of what is left over */
    double gradient; /* largest component of A'E - lambda W, relative to what it is made of */
} broad__solution;

/* Uses v->e. */
int broad__verify_solution(broad__solution *s, broad__verification *v);

/* The layers of a network whose weights are all solved for together: at once, or again with every layer, all or the last.
 * *out_norm: where the last layer ends. */
int broad__verify_at_once(broad__verification *v, double *out_norm, int *out_holds);
int broad__verify_stepwise(broad__verification *v, double *out_norm, int *out_holds);
int broad__verify_window(broad__verification *v, double *out_norm, int *out_holds);
/* The joint weights beside a chain. */
int broad__verify_joint(broad__verification *v, int *out_holds);

#endif
