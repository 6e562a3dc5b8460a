/*
 * The metric of a whole network (feature/metric.h): how its outputs move with the scaled inputs, through enhancement nodes
 * and feature nodes, on some of its training rows. Groups that are added later are drawn with it.
 */
#ifndef BROAD_MODEL_TRAIN_NETWORK_METRIC_H
#define BROAD_MODEL_TRAIN_NETWORK_METRIC_H

#include "model/train/trainer.h"
#include "model/train/trials.h"

/* Whether further groups are to be drawn with it: where the first ones were drawn with a metric, or it is asked for. */
int broad__network_metric_wanted(const broad_model *model);
/* Puts it into the model's root and relevance; what was there goes to out_before, which takes it back by
 * broad__model_take_directions(), and *out_used becomes 1. Nothing changes where no output moves. */
int broad__network_metric_use(broad__directions *out_before, int *out_used, broad_trainer *trainer);

#endif
