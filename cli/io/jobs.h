/* Work on numbered things, such as photos, on all threads, with a bar. */
#ifndef BROAD_CLI_IO_JOBS_H
#define BROAD_CLI_IO_JOBS_H

#include "arguments.h"

/* Some of them, on any thread: its failure message belongs to its thread. */
typedef int (*cli_job)(void *context, size_t first, size_t count);

/* Does all below `count`, `batch` of them at a time; threads 0: one per processor. The first failure ends the rest and is
 * returned with its message; so does an interrupt, with BROAD_INTERRUPTED, where signals are caught. */
int cli_jobs_run(size_t count, size_t batch, size_t threads, cli_job job, void *context, const char *label,
                 const cli_arguments *arguments);

#endif
