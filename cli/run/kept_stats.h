/* The sums of a model, kept beside it in MODEL.stats; those of the model it has replaced in MODEL.stats~. */
#ifndef BROAD_CLI_RUN_KEPT_STATS_H
#define BROAD_CLI_RUN_KEPT_STATS_H

#include "message.h"

/* BROAD_USAGE where the sums of such a network cannot be kept; weighted: its rows or classes have weights. */
int cli_stats_check(broad_kind kind, int chain, int weighted);
int cli_stats_check_model(const broad_model *model);
int cli_stats_exist(const char *model_path); /* whole, or left by a run that was cut off */
int cli_stats_make(const broad_model *model, const broad_data *training, const char *model_path, size_t threads);
/* Those that belong to this model. A run that was cut off after replacing the model is finished here. */
int cli_stats_load(broad_stats **out, const broad_model *model, const char *model_path);

/* ---- steps of replacing a model; `hash` is that of the new file, base/hash.h ---- */

int cli_stats_write_new(const broad_stats *stats, const char *model_path, const char *hash);
void cli_stats_remove_new(const char *model_path, const char *hash);
int cli_stats_step_aside(const char *model_path); /* MODEL.stats becomes MODEL.stats~; without it there is neither */
int cli_stats_settle(const char *model_path, const char *hash); /* the new ones become MODEL.stats */
int cli_stats_swap(const char *model_path);                     /* MODEL.stats and MODEL.stats~ change places */

#endif
