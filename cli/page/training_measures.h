/* The measures of a page about training, of all rows and by class or target. */
#ifndef BROAD_CLI_PAGE_TRAINING_MEASURES_H
#define BROAD_CLI_PAGE_TRAINING_MEASURES_H

#include "page/training.h"

void cli_training_measures(cli_output *output, const cli_training *training); /* of a classification */
void cli_training_targets(cli_output *output, const cli_training *training);  /* of several targets */

#endif
