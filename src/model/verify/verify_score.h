/*
 * Degrees of freedom of a chain and its score, recomputed (what they are: layer/probes.h, layer/score.h).
 *
 * U_0 is written down for all rows at the beginning, also for those that come later, and goes through the layers by
 *
 *   U <- U - K_j (K_j'K_j + lambda_j I)^-1 K_j'U         K_j'U over the rows that the layer was fitted to, K_j for all
 *
 * on the reference device. Where rows came later than some layers and made unit vectors into signs, both go through from
 * the beginning, and each layer is judged by those of its time. Of training's code only the draw of a sign, the marks of
 * rows and the search for rows with equal inputs are used.
 */
#ifndef BROAD_MODEL_VERIFY_VERIFY_SCORE_H
#define BROAD_MODEL_VERIFY_VERIFY_SCORE_H

#include "model/verify/verification.h"
#include "model/verify/verify_records.h"

typedef struct broad__verify_probes {
    int open;
    size_t start;        /* number of the first row; layers that were fitted from another one on do not count */
    size_t units, signs; /* columns of U: unit vectors, then signs; either may be none */
    size_t *unit;        /* rows: which unit each belongs to, a row or a group; SIZE_MAX: none */
    uint64_t *unit_key;  /* of each unit: what it has its signs by, the sum of its rows' */
    size_t *units_until; /* segments: how many units there are at the end of each */
    double *u, *u_first; /* rows x columns: U and U_0 */
    double doubt;        /* how far rounding may have moved df so far */
} broad__verify_probes;

void broad__verify_probes_close(broad__verify_probes *probes); /* accepts a zeroed one */

/* 1 if the score in layer j's record, where it has one, follows from its degrees of freedom and norms. */
int broad__verify_score_record(broad__verification *v, size_t j);

/* Takes the probes through layer j. found: where it was tested by its score, what the record should say; its norms are
 * there. */
int broad__verify_score(broad__finding *found, broad__verify_probes *probes, const broad__verification *v, size_t j);

/* 1 if the degrees of freedom agree with what was found. */
int broad__verify_score_judge(broad__verification *v, size_t j, const broad__finding *found);

#endif
