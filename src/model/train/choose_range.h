/* The base range of the random weights, by leave-one-out. */
#ifndef BROAD_MODEL_TRAIN_CHOOSE_RANGE_H
#define BROAD_MODEL_TRAIN_CHOOSE_RANGE_H

#include "model/train/trainer.h"

/* Before there is a Z: style, range and relevance of sampled nodes. */
int broad__trainer_run_pilot(broad_trainer *trainer, const broad_data *data);
/* Once Z has been computed: the ranges of other nodes. */
int broad__trainer_choose_range(broad_trainer *trainer, const broad_data *data);

#endif
