/*
 * The records of a certificate: what can be checked of them without arithmetic over the rows, and whether they agree
 * with what was recomputed.
 */
#ifndef BROAD_MODEL_VERIFY_VERIFY_RECORDS_H
#define BROAD_MODEL_VERIFY_VERIFY_RECORDS_H

#include "model/verify/verification.h"

/* What was found for a layer. */
typedef struct broad__finding {
    double before, after, gradient;
    double tested; /* what its test compared with the bound; NaN: the matrix is too near to singular to say */
    double min;    /* the same if all rounding went one way */
    double max;
    /* Where the score was tested: rows that count, degrees of freedom, and how far rounding may have moved these. */
    double rows, df_before, df, df_doubt;
    size_t signs;           /* columns of signs that these are from; 0: unit vectors */
    double mean_eigenvalue; /* of K'K, or KK' */
} broad__finding;

/* Puts the reason into the verdict; returns 0, which stands for "does not hold". */
int broad__refuse(broad_verdict *verdict, size_t layer, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* *out_holds: the rows are those the model was trained on, by their fingerprints. */
int broad__verify_rows(broad__verification *v, int *out_holds);
/* *out_holds: every random weight is what the seed gives, bit by bit. */
int broad__verify_draws(broad__verification *v, int *out_holds);

/* Layer j was fitted to other rows than the layer before it. */
int broad__verify_new_rows(const broad_model *model, size_t j);
/* What the ratio of norms must keep: the bound, or where squares were tested its root. */
double broad__verify_ratio_bound(const broad__certificate *c);

/* 1 if everything in layer j's record follows from other records; before: the norm that it must start from. */
int broad__verify_record(broad__verification *v, size_t j, double before);
/* 1 if the record agrees with what was found, and that keeps the bound. */
int broad__verify_judge(broad__verification *v, size_t j, const broad__finding *found);

#endif
