/* What a run of training will need: memory, work and time. */
#ifndef BROAD_CLI_RUN_RUN_PLAN_H
#define BROAD_CLI_RUN_RUN_PLAN_H

#include "run/train_run.h"

/* Refuses what does not fit in memory, unless --force. With --plan: prints the plan and sets *out_done. Otherwise, where
 * standard error is a terminal, says how long a run takes that takes long; `times`: how often it is done. */
int cli_run_plan(int *out_done, cli_run *run, size_t rows, size_t inputs, size_t outputs, size_t times);

#endif
