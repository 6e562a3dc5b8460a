/* The result of a training run, as text or as JSON. */
#ifndef BROAD_CLI_RUN_RUN_REPORT_H
#define BROAD_CLI_RUN_RUN_REPORT_H

#include "run/train_run.h"

/* `paths`: the files of rows, in order, for the next command. */
int cli_run_report(const cli_run *run, const char *const *paths, size_t count);

#endif
