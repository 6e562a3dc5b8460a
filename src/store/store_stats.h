/* The file of sums beside a model: the same container, with the sums as its tensors. */
#ifndef BROAD_STORE_STORE_STATS_H
#define BROAD_STORE_STORE_STATS_H

#include "model/train/stats.h"

int broad__stats_save(const broad_stats *stats, const char *path);
/* BROAD_BAD_MODEL if the file is damaged or does not belong to the model. */
int broad__stats_load(broad_stats **out, const char *path, const broad_model *model);

#endif
