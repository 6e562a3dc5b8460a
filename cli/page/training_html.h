/* The page about training as HTML. */
#ifndef BROAD_CLI_PAGE_TRAINING_HTML_H
#define BROAD_CLI_PAGE_TRAINING_HTML_H

#include "page/training.h"

/* "-": standard output. */
int cli_training_write(const cli_training *training, const char *path);

#endif
