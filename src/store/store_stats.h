/* The file of sums beside a model: the same container, with the sums as its tensors. */
#ifndef BROAD_STORE_STORE_STATS_H
#define BROAD_STORE_STORE_STATS_H

#include "model/train/stats.h"

int broad__stats_save(const broad_stats *stats, const char *path);
int broad__stats_encode(void **out, size_t *out_bytes, const broad_stats *stats); /* the bytes of that file */
/* BROAD_BAD_MODEL if the bytes are damaged or do not belong to the model. */
int broad__stats_decode(broad_stats **out, const void *bytes, size_t count, const broad_model *model);
int broad__stats_load(broad_stats **out, const char *path, const broad_model *model);

#endif
