/* All charts of a page about training. */
#ifndef BROAD_CLI_PAGE_TRAINING_CHARTS_H
#define BROAD_CLI_PAGE_TRAINING_CHARTS_H

#include "page/training.h"

int cli_training_chart(cli_training *training);

#endif
