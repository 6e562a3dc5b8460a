#include "feature/feature.h"

#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "compute/shards.h"

void broad__feature_block(double *z, size_t z_stride, const broad__feature_map *map, const broad__device *device,
                          const double *x, size_t x_stride, size_t rows, double *scratch)
{
    size_t inputs = map->nodes.inputs;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_FEATURES);
    broad__profile_span span = broad__profile_start();
    broad__scaling_apply(scratch, &map->scaling, x, rows, x_stride);
    broad__profile_stop(span, BROAD__STAGE_SCALE, 0, 2.0 * (double)rows * (double)inputs * sizeof(double));
    for (size_t i = 0; i < rows && !map->nodes.weight; i++)
        memcpy(z + i * z_stride, scratch + i * inputs, inputs * sizeof(double));
    if (map->nodes.weight) device->nodes(z, z_stride, &map->nodes, scratch, inputs, rows);
    broad__profile_leave(before);
}

typedef struct feature_run {
    double *z;
    size_t z_stride;
    const broad__feature_map *map;
    const broad__device *device;
    const double *x;
    size_t rows;
    double *scratch; /* a block of inputs for each worker */
} feature_run;

static void feature_piece(void *context, size_t block, size_t worker)
{
    feature_run *run = context;
    size_t inputs = run->map->scaling.inputs, columns = run->map->scaling.columns, stride = run->z_stride;
    size_t first = block * BROAD__BLOCK_ROWS;
    size_t n = run->rows - first < BROAD__BLOCK_ROWS ? run->rows - first : BROAD__BLOCK_ROWS;
    broad__feature_block(run->z + first * stride, stride, run->map, run->device, run->x + first * inputs, inputs, n,
                         run->scratch + worker * BROAD__BLOCK_ROWS * columns);
}

int broad__feature_rows(double *z, size_t z_stride, const broad__feature_map *map, const broad__device *device,
                        broad__pool *pool, const double *x, size_t rows)
{
    feature_run run = {z, z_stride, map, device, x, rows, NULL};
    run.scratch = broad__alloc_doubles(broad__pool_threads(pool) * BROAD__BLOCK_ROWS, map->scaling.columns);
    if (!run.scratch) return BROAD_NO_MEMORY;
    broad__pool_run(pool, (rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, feature_piece, &run);
    broad__free(run.scratch);
    return BROAD_OK;
}
