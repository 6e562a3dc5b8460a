/* The photos that a model judges incorrectly, within the page about its training. */
#ifndef BROAD_CLI_PAGE_TRAINING_MISTAKES_H
#define BROAD_CLI_PAGE_TRAINING_MISTAKES_H

#include "io/output.h"
#include "page/training.h"

/* Of the test rows, else of the training rows; the surest first. Nothing where they are no photos, or have no classes. */
void cli_training_mistakes(cli_output *output, const cli_training *training);

#endif
