/* What is being verified, and what has been computed for it so far. */
#ifndef BROAD_MODEL_VERIFY_VERIFICATION_H
#define BROAD_MODEL_VERIFY_VERIFICATION_H

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
    /* The passes are shared out over the ranks of the call (comm/comm.h): of Z, and of E as it changes, a rank has rows
     * [first, end) alone, and sums are those of all. Otherwise these are all rows. */
    int divided;
    size_t first, end;
    size_t features;
    double *z;           /* rows x features */
    double *sqrt_weight; /* rows: root of what each row counts, which its K and E are multiplied by; NULL: 1 */
    double *e;           /* rows x outputs */
    double rounding;     /* of the sums that output weights were solved from */
    double drift;        /* how far rounding may have moved E so far */
} broad__verification;

#endif
