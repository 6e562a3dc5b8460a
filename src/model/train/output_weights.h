/* Solving for the output weights once the nodes are given: model/kind.h lists the ways. */
#ifndef BROAD_MODEL_TRAIN_OUTPUT_WEIGHTS_H
#define BROAD_MODEL_TRAIN_OUTPUT_WEIGHTS_H

#include "model/train/trainer.h"

/* Before layers are searched: what the layers so far span, where all weights are solved again with each layer. */
int broad__outputs_prepare(broad_trainer *trainer);

/* After a layer was accepted: the weights of those before it, where they change with it. */
int broad__outputs_follow(broad_trainer *trainer);

/* At the end of an increment: the joint weights, where there are any, and the estimate. */
int broad__outputs_finish(broad_trainer *trainer);

/* As broad_trainer_leave_out() in broad.h. */
int broad__outputs_leave_out(double *out, broad_trainer *trainer);

#endif
