/* What preset `auto` chose for a network, and why. */
#ifndef BROAD_CLI_PAGE_TRAINING_CHOICES_H
#define BROAD_CLI_PAGE_TRAINING_CHOICES_H

#include "page/training.h"

void cli_training_choices(cli_output *output, const cli_training *training); /* nothing where nothing was chosen */

#endif
