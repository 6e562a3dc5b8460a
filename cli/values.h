/* What the options of a command mean: settings of the library, counts and fractions. */
#ifndef BROAD_CLI_VALUES_H
#define BROAD_CLI_VALUES_H

#include <stdint.h>

#include "arguments.h"

/* Training options: preset first, then kind, then the others, whatever their order on the command line. */
int cli_training_options(broad_options *out, const cli_arguments *arguments);
/* Those of them that were given, besides preset and kind, on top of what is there. */
int cli_training_details(broad_options *options, const cli_arguments *arguments);
/* The same for an increment: --enhance may be Q alone, which is Qx1. */
int cli_increment_options(broad_options *out, const cli_arguments *arguments);
void cli_read_options(broad_read_options *out, const cli_arguments *arguments);
int cli_threads(size_t *out, const cli_arguments *arguments);
int cli_device(broad_device *out, const cli_arguments *arguments);
int cli_memory(size_t *out, const cli_arguments *arguments); /* 0: no limit */
int cli_seed(uint64_t *out, const cli_arguments *arguments);
int cli_count(size_t *out, const cli_arguments *arguments, const char *name); /* 0: not given, no default */
int cli_holdout(double *out, const cli_arguments *arguments);                 /* 0: not given */
int cli_level(double *out, const cli_arguments *arguments);                   /* --interval; 0: not given */
int cli_threshold(double *out, const cli_arguments *arguments);               /* --threshold; 0: not given */

#endif
