/* Which columns matter to a network: by shuffling them, and by the metric that its nodes were drawn with. */
#ifndef BROAD_CLI_PAGE_TRAINING_COLUMNS_H
#define BROAD_CLI_PAGE_TRAINING_COLUMNS_H

#include "page/training.h"

void cli_training_columns(cli_output *output, const cli_training *training);

#endif
