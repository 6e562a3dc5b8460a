/* Manual pages, on standard output or as files. */
#ifndef BROAD_CLI_HELP_MANUAL_H
#define BROAD_CLI_HELP_MANUAL_H

#include "commands.h"

int cli_print_manual(const cli_command *command); /* NULL: of the tool itself */
int cli_write_manuals(const char *folder);

#endif
