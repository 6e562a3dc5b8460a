/* Where the demonstrations put their files. */
#ifndef BROAD_CLI_DEMO_DEMO_FOLDER_H
#define BROAD_CLI_DEMO_DEMO_FOLDER_H

#include "arguments.h"

const char *demo_folder(const cli_arguments *arguments); /* DIR, or its default */
int demo_make_folder(const char *path);                  /* an existing one will do */

#endif
