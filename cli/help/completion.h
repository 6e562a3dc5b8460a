/* Completion scripts for shells, on standard output. */
#ifndef BROAD_CLI_HELP_COMPLETION_H
#define BROAD_CLI_HELP_COMPLETION_H

#include "commands.h"

int cli_print_completion(const char *shell);

#endif
