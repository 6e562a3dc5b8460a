/* The demonstration on photos. */
#ifndef BROAD_CLI_DEMO_DEMO_PHOTOS_H
#define BROAD_CLI_DEMO_DEMO_PHOTOS_H

#include "arguments.h"

int demo_photos(const cli_arguments *arguments);

#endif
