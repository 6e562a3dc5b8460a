/* Where the passes over the rows find Z, the feature nodes: in memory, or recomputed block by block. */
#ifndef BROAD_LAYER_Z_SUPPLY_H
#define BROAD_LAYER_Z_SUPPLY_H

#include <stddef.h>

/* Computes Z of n rows from `first` on, at most BROAD__BLOCK_ROWS; out: n x features. Called from any thread, as worker
 * number `worker` of the pool. A row's numbers do not depend on the rows it is computed with. */
typedef void (*broad__z_maker)(void *context, double *out, size_t first, size_t n, size_t worker);

typedef struct broad__z_supply {
    size_t features;
    const double *stored; /* rows x features; not owned. NULL: recomputed */
    broad__z_maker make;  /* where it is not stored */
    void *context;
    double *blocks; /* a block per worker, where it is not stored */
    size_t blocks_capacity;
} broad__z_supply;

/* To be called before the passes, on the caller's thread: memory for the blocks. */
int broad__z_supply_ready(broad__z_supply *z, size_t workers);
/* Z of n rows from `first` on, at most BROAD__BLOCK_ROWS: stored, or recomputed in the worker's own block, where it
 * stays until the worker asks for other rows. */
const double *broad__z_supply_rows(const broad__z_supply *z, size_t first, size_t n, size_t worker);
void broad__z_supply_clear(broad__z_supply *z); /* accepts a zeroed one */

#endif
