#include "compute/shards.h"

static size_t block_count(size_t rows) { return rows / BROAD__BLOCK_ROWS + (rows % BROAD__BLOCK_ROWS != 0); }

size_t broad__shard_count(size_t rows)
{
    size_t blocks = block_count(rows), shards = BROAD__SHARDS_FEW;
    while (shards < BROAD__SHARDS_MAX && rows / shards > BROAD__SHARD_ROWS) shards *= 2;
    return blocks < shards ? blocks : shards;
}

void broad__shard_rows(size_t *out_first, size_t *out_end, size_t shard, size_t rows)
{
    size_t blocks = block_count(rows), shards = broad__shard_count(rows);
    size_t each = blocks / shards, rest = blocks % shards;
    size_t first = shard * each + (shard < rest ? shard : rest);
    size_t end = first + each + (shard < rest);
    *out_first = first * BROAD__BLOCK_ROWS;
    *out_end = end * BROAD__BLOCK_ROWS < rows ? end * BROAD__BLOCK_ROWS : rows;
}

void broad__tree_sum(double *parts, size_t count, size_t stride, size_t length)
{
    for (size_t step = 1; step < count; step *= 2)
        for (size_t i = 0; i + step < count; i += 2 * step) {
            double *to = parts + i * stride;
            const double *from = parts + (i + step) * stride;
            for (size_t k = 0; k < length; k++) to[k] += from[k];
        }
}
