/* Increments of a network that is being built: further layers, and further feature nodes with a layer of their own. */
#ifndef BROAD_MODEL_TRAIN_TRAIN_H
#define BROAD_MODEL_TRAIN_TRAIN_H

#include "model/train/trainer.h"

int broad__trainer_enhance(broad_trainer *trainer, size_t nodes, size_t layers);
int broad__trainer_features(broad_trainer *trainer, size_t groups, size_t nodes, size_t enhance);

/* What every increment begins with, and what it ends with; status: of what came in between. */
int broad__trainer_begin(broad_trainer *trainer, size_t nodes, size_t layers);
int broad__trainer_finish(broad_trainer *trainer, int status);

#endif
