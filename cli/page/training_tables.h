/* The tables of a page about training. */
#ifndef BROAD_CLI_PAGE_TRAINING_TABLES_H
#define BROAD_CLI_PAGE_TRAINING_TABLES_H

#include "page/training.h"

void cli_training_confusion(cli_output *output, const cli_training *training);
void cli_training_settings(cli_output *output, const cli_training *training);
void cli_training_certificate(cli_output *output, const cli_training *training);

#endif
