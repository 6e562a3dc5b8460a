/* The version, in a file of its own: a program that only predicts is linked to nothing else of the interface. */
#include "broad/broad.h"

const char *broad_version(void) { return BROAD_VERSION; }

int broad_version_number(void) { return BROAD_VERSION_NUMBER; }
