/* What a path leads to. */
#ifndef BROAD_DATA_PATH_KIND_H
#define BROAD_DATA_PATH_KIND_H

#include "broad/broad.h"

broad_path_kind broad__path_kind(const char *path);

#endif
