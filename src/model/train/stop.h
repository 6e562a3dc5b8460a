/* Rules for stopping early. They combine: the first that is met ends the run, and the model says which. */
#ifndef BROAD_MODEL_TRAIN_STOP_H
#define BROAD_MODEL_TRAIN_STOP_H

#include "model/train/trainer.h"

/* 0: go on; 1: stop, the outcome is set; or a status. next_nodes: nodes of the next layer; 0: none follows, and only
 * what has been reached counts, not limits on a next layer. */
int broad__stop_rules(broad_trainer *trainer, size_t next_nodes);
int broad__model_outcome(broad_model *model, broad_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
