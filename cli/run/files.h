/* Files of rows on the command line. */
#ifndef BROAD_CLI_RUN_FILES_H
#define BROAD_CLI_RUN_FILES_H

#include "arguments.h"

/* Files of rows in order, each with its file of labels or NULL. */
typedef struct cli_files {
    size_t count;
    const char *paths[CLI_GIVEN_MAX], *labels[CLI_GIVEN_MAX];
} cli_files;

/* The arguments after MODEL, with --labels for each or none. */
int cli_files_after_model(cli_files *out, const cli_arguments *arguments);
/* The values of an option that makes a list, with those of another for their labels. */
int cli_files_given(cli_files *out, const cli_arguments *arguments, const char *option, const char *labels);
/* Adds the files that the model remembers, in its order, where those given are some of them and all can be read; notes it.
 * Photos that can be told apart are left to run/recall.h. The texts of added ones are the model's. */
void cli_files_complete(cli_files *files, const broad_model *model, const cli_arguments *arguments);
int cli_files_apart(const cli_files *files, const char *output); /* cli_check_apart() of each */

#endif
