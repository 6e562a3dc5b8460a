/* Help and the Markdown reference on standard output. */
#ifndef BROAD_CLI_HELP_HELP_H
#define BROAD_CLI_HELP_HELP_H

#include "commands.h"

void cli_print_overview(void);
void cli_print_command(const cli_command *command);
void cli_print_markdown(void);

#endif
