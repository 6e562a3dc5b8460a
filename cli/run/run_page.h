/* --report of fit, grow and learn: the page about the run. */
#ifndef BROAD_CLI_RUN_RUN_PAGE_H
#define BROAD_CLI_RUN_RUN_PAGE_H

#include "run/train_run.h"

/* The path can be written to and is neither an input nor the model. */
int cli_run_check_page(const cli_run *run);
/* `files`: what was trained on; NULL: not known. */
int cli_run_page(const cli_run *run, const cli_files *files);

#endif
