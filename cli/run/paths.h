/* Names of photos on the command line, or on standard input. */
#ifndef BROAD_CLI_RUN_PATHS_H
#define BROAD_CLI_RUN_PATHS_H

#include "arguments.h"

/* Names of files and folders, in order. */
typedef struct cli_paths {
    size_t count;
    const char **items;
    char *lines; /* that they lie in, where they came from standard input; else NULL */
} cli_paths;

/* The arguments from number `first` on. Where `listed`, a lone "-" is a list of names on standard input, one per line. */
int cli_paths_take(cli_paths *out, const cli_arguments *arguments, size_t first, int listed);
void cli_paths_clear(cli_paths *paths); /* accepts one that was zeroed */

#endif
