/* The sums of a model, kept beside it in MODEL.stats. */
#ifndef BROAD_CLI_RUN_KEPT_STATS_H
#define BROAD_CLI_RUN_KEPT_STATS_H

#include "message.h"

int cli_stats_exist(const char *model_path); /* whole, or left by a run that was cut off */
int cli_stats_make(const broad_model *model, const broad_data *training, const char *model_path, size_t threads);
/* Those that belong to this model. A run that was cut off after replacing the model is finished here. */
int cli_stats_load(broad_stats **out, const broad_model *model, const char *model_path);
/* Replaces model and sums so that a crash at any moment leaves a model with sums that belong to it. */
int cli_stats_replace(const broad_stats *stats, const broad_model *model, const char *model_path, int compact);

#endif
