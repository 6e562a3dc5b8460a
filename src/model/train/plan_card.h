/* Memory, work and traffic of a run on a GPU, before it starts. */
#ifndef BROAD_MODEL_TRAIN_PLAN_CARD_H
#define BROAD_MODEL_TRAIN_PLAN_CARD_H

#include "model/train/plan_memory.h"

/* Fills in `card` of a plan whose other fields are there; zeros where the work stays on the processor. */
void broad__plan_card(broad_ranks_plan *out, const broad__sizes *sizes, const broad_options *options);

#endif
