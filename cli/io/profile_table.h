/* --profile: where the time of a command goes, against what the machine could do. */
#ifndef BROAD_CLI_IO_PROFILE_TABLE_H
#define BROAD_CLI_IO_PROFILE_TABLE_H

#include "io/json.h"

typedef struct cli_profile {
    broad_profile *profile; /* NULL: not asked for */
    const cli_arguments *arguments;
    broad_speed machine;
    size_t threads;
    double start, processor; /* by the clock, and of the process, when it began */
    json_t *result;          /* of the command, with --json */
} cli_profile;

/* Before and after the command; what comes between is counted. end prints the table, or the command's JSON with `profile` in
 * it, and returns the status. With --json the command's result is collected in `out`, which must stay where it is. */
int cli_profile_begin(cli_profile *out, cli_arguments *arguments);
int cli_profile_end(cli_profile *profile, int status);

#endif
