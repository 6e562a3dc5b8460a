/* The demonstration on a table of two spirals. */
#ifndef BROAD_CLI_DEMO_DEMO_SPIRALS_H
#define BROAD_CLI_DEMO_DEMO_SPIRALS_H

#include "arguments.h"

int demo_spirals(const cli_arguments *arguments);

#endif
