#include "feature/phi.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"

enum { SCRATCH_NUMBERS = 1 << 21 }; /* of scaled inputs at a time, unless a row has more */

/* Rows that are scaled at a time: fewer where they are wide. */
static size_t rows_at_once(size_t columns, size_t rows)
{
    size_t few = columns ? SCRATCH_NUMBERS / columns : rows;
    return broad__min(rows, broad__min(BROAD__BLOCK_ROWS, few ? few : 1));
}

size_t broad__phi_scratch(size_t columns, size_t rows) { return rows_at_once(columns, rows) * columns; }

static void some_rows(double *z, size_t z_stride, const broad__phi *phi, const double *x, size_t rows, double *scratch)
{
    size_t columns = phi->nodes.inputs;
    const double *scaled = x;
    broad__profile_span span = broad__profile_start();
    int plain = broad__scaling_is_plain(&phi->scaling) && broad__all_within(x, rows * columns, BROAD__SCALED_MOST);
    if (!plain) { /* otherwise they are taken where they lie */
        broad__scaling_apply(scratch, &phi->scaling, x, rows, phi->scaling.inputs);
        scaled = scratch;
    }
    broad__profile_stop(span, BROAD__STAGE_SCALE, 0,
                        (scaled == x ? 1.0 : 2.0) * (double)rows * (double)columns * sizeof(double));
    for (size_t i = 0; i < rows && !phi->nodes.weight; i++)
        memcpy(z + i * z_stride, scaled + i * columns, columns * sizeof(double));
    if (phi->nodes.weight) phi->device->nodes(z, z_stride, &phi->nodes, scaled, columns, rows);
}

void broad__phi_block(double *z, size_t z_stride, const broad__phi *phi, const double *x, size_t rows, double *scratch)
{
    size_t step = rows_at_once(phi->scaling.columns, rows);
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_FEATURES);
    for (size_t i = 0; i < rows; i += step)
        some_rows(z + i * z_stride, z_stride, phi, x + i * phi->scaling.inputs, broad__min(step, rows - i), scratch);
    broad__profile_leave(before);
}

typedef struct phi_run {
    double *z;
    size_t z_stride;
    const broad__phi *phi;
    const double *x;
    size_t rows;
    double *scratch; /* scaled inputs, for each worker */
    size_t scratch_each;
} phi_run;

static void run_block(void *context, size_t block, size_t worker)
{
    phi_run *run = context;
    const broad__scaling *scaling = &run->phi->scaling;
    size_t first = block * BROAD__BLOCK_ROWS, n = broad__min(run->rows - first, BROAD__BLOCK_ROWS);
    broad__phi_block(run->z + first * run->z_stride, run->z_stride, run->phi, run->x + first * scaling->inputs, n,
                     run->scratch + worker * run->scratch_each);
}

int broad__phi_rows(double *z, size_t z_stride, const broad__phi *phi, broad__pool *pool, const double *x, size_t rows)
{
    phi_run run = {z, z_stride, phi, x, rows, NULL, broad__phi_scratch(phi->scaling.columns, rows)};
    run.scratch = broad__alloc_doubles(broad__pool_threads(pool), run.scratch_each);
    if (!run.scratch) return BROAD_NO_MEMORY;
    broad__pool_run(pool, (rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, run_block, &run);
    broad__free(run.scratch);
    return broad__watch_check(BROAD_OK);
}
