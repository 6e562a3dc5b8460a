/* Options as a whole: every field within the limits of the option table, and no two in contradiction. */
#ifndef BROAD_MODEL_OPTIONS_CHECK_H
#define BROAD_MODEL_OPTIONS_CHECK_H

#include "broad/broad.h"

int broad__options_check(const broad_options *options);

#endif
