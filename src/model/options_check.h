/* Options as a whole: every field in range, whoever filled them in. */
#ifndef BROAD_MODEL_OPTIONS_CHECK_H
#define BROAD_MODEL_OPTIONS_CHECK_H

#include "broad/broad.h"

int broad__options_check(const broad_options *options);

#endif
