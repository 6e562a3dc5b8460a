#include "layer/z_supply.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"

int broad__z_supply_ready(broad__z_supply *z, size_t workers)
{
    if (z->stored || !z->make) return BROAD_OK;
    return broad__reserve(&z->blocks, &z->blocks_capacity, workers * BROAD__BLOCK_ROWS * z->features);
}

const double *broad__z_supply_rows(const broad__z_supply *z, size_t first, size_t n, size_t worker)
{
    if (z->stored) return z->stored + first * z->features;
    double *block = z->blocks + worker * BROAD__BLOCK_ROWS * z->features;
    z->make(z->context, block, first, n, worker);
    return block;
}

void broad__z_supply_clear(broad__z_supply *z)
{
    broad__free(z->blocks);
    memset(z, 0, sizeof *z);
}
