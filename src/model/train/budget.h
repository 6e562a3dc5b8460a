/*
 * The time of a run: the work that it expects, by the plan (model/train/plan.h), for the progress that it reports, and for
 * max_seconds, which it is cut to.
 *
 * How fast this machine is, the pilot tells: operations done by the seconds they took. Of the time the pilot may have a
 * part, and takes the best settings that it found by then. The rest decides how many nodes there are: as many as the plan
 * says can be trained in it, with some time to spare. Layers end when there is no time for another one and for the joint
 * weights. Should all that not do, the run is stopped at the limit, and keeps the layers that it has.
 */
#ifndef BROAD_MODEL_TRAIN_BUDGET_H
#define BROAD_MODEL_TRAIN_BUDGET_H

#include "model/train/trainer.h"

/* Of a new network, before its pilot, with the sizes that it has then at most. */
void broad__budget_open(broad_trainer *trainer, const broad_data *data);
/* The time that small trials may take until they end, for broad__watch_forgive(). */
double broad__budget_limit_trials(const broad_trainer *trainer);
/* After them: fewer feature nodes where time is short. */
int broad__budget_size(broad_trainer *trainer, const broad_data *data);
/* Layers are about to be added to what there is. */
void broad__budget_begin(broad_trainer *trainer, size_t nodes, size_t layers);
void broad__budget_joint(const broad_trainer *trainer); /* the joint weights are about to be solved */

/* How many nodes of a block that is trained at once the time allows, at most `nodes`. */
size_t broad__budget_nodes(const broad_trainer *trainer, size_t nodes);
/* 1: there is no time for another layer that takes as long as the last one. */
int broad__budget_over(broad_trainer *trainer);
/* Says that the time was too short for any network. */
int broad__budget_fail(void);

#endif
