/*
 * Z of rows that do not fit in memory, block by block: recomputed from the inputs, or read back from a spilled array.
 * Either way its numbers are those of Z in memory.
 */
#ifndef BROAD_MODEL_TRAIN_ZSOURCE_H
#define BROAD_MODEL_TRAIN_ZSOURCE_H

#include "base/page_cursor.h"
#include "feature/phi.h"
#include "model/train/rowset.h"

typedef struct broad__z_run {
    size_t column; /* its first one in Z */
    broad__phi phi;
    double *weights; /* that phi points to */
} broad__z_run;

typedef struct broad__z_worker {
    broad__page_cursor of_x, of_z, of_root, of_y;
} broad__z_worker;

struct broad__z_source {
    const broad__device *device;
    size_t inputs, features;
    size_t part_count;
    const broad__part *parts; /* not owned: the rows, part after part */
    size_t run_count;
    broad__z_run *runs;
    size_t worker_count;
    broad__z_worker *workers;
    double *scaled; /* a block of scaled inputs per worker */
    size_t scaled_each;
    broad__spill *spill; /* of z and sqrt_weight */
    const double *z;     /* rows x features, not owned; NULL: recomputed */
    /* Other arrays of the rows, released as the pass goes on; not owned, NULL: none. */
    const double *sqrt_weight; /* rows */
    const double *y;           /* rows x outputs */
    size_t outputs;
};

/* No groups yet, and no rows. */
int broad__z_source_open(broad__z_source **out, const broad__rowset *rowset);
void broad__z_source_close(broad__z_source *source); /* accepts NULL */

/* How Z is computed from the first `groups` groups of the model. On failure everything is as it was. */
int broad__z_source_groups(broad__z_source *source, const broad_model *model, size_t groups);

/* A broad__z_maker; the context is the source. */
void broad__z_source_make(void *context, double *out, size_t first, size_t n, size_t worker);

/* The groups of Z in the runs in which they came: the first layer's together, later ones one by one. A product of
 * another width could round differently. How many from `first` on are one run. */
size_t broad__group_run(const broad_model *model, size_t first, size_t groups);

#endif
