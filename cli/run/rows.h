/* Rows to train on, and rows as a model knows them. */
#ifndef BROAD_CLI_RUN_ROWS_H
#define BROAD_CLI_RUN_ROWS_H

#include "io/json.h"
#include "run/files.h"

/* The rows of a path with targets, for training; a remark where a regression looks like classes. */
int cli_read_table(broad_data **out, json_t **record, const char *path, const broad_read_options *read,
                   const cli_arguments *arguments);
/* The rows a model was trained on, from the files or folders it was trained on: of the first the training part, of the
 * others all. out_apart, unless NULL, gets the rows of the first that fit held out, and stays where there are none
 *. */
int cli_read_training(broad_data **out, broad_data **out_apart, json_t **record, const broad_model *model,
                      const cli_arguments *arguments, const cli_files *files);

#endif
