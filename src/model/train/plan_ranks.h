/* Work, memory and messages of a run that several ranks share (comm/comm.h), before it starts. */
#ifndef BROAD_MODEL_TRAIN_PLAN_RANKS_H
#define BROAD_MODEL_TRAIN_PLAN_RANKS_H

#include "broad/broad.h"

int broad__plan_ranks(broad_ranks_plan *out, const broad_options *options, size_t rows, size_t inputs, size_t outputs,
                      size_t ranks);

#endif
