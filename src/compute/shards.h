/*
 * Fixed shards: rows are cut into blocks, blocks into shards, both by the number of rows alone. A shard adds up its
 * blocks in order, shard sums are added in a fixed binary tree. So a sum has the same bits for any number of threads.
 */
#ifndef BROAD_COMPUTE_SHARDS_H
#define BROAD_COMPUTE_SHARDS_H

#include <stddef.h>

/* Up to SHARDS_FEW shards, each with at most SHARD_ROWS rows; beyond that as many more as ranks may need. */
enum { BROAD__BLOCK_ROWS = 256, BROAD__SHARDS_FEW = 32, BROAD__SHARDS_MAX = 1024, BROAD__SHARD_ROWS = 1 << 20 };

size_t broad__shard_count(size_t rows);
void broad__shard_rows(size_t *out_first, size_t *out_end, size_t shard, size_t rows);

/* parts[0] += parts[1] + ... in the fixed tree; part i at parts + i * stride, `length` numbers each. */
void broad__tree_sum(double *parts, size_t count, size_t stride, size_t length);

#endif
