/* The model that a command works with. */
#ifndef BROAD_CLI_RUN_LOAD_MODEL_H
#define BROAD_CLI_RUN_LOAD_MODEL_H

#include "arguments.h"

/* Loads MODEL, the first argument. If a later argument is the model, the message says that MODEL comes first.
 * --normal is applied to it. */
int cli_model_load(broad_model **out, const cli_arguments *arguments);

#endif
