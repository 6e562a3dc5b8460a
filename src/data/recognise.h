/* What a path leads to, told from its first bytes: the one place that knows how files begin. */
#ifndef BROAD_DATA_RECOGNISE_H
#define BROAD_DATA_RECOGNISE_H

#include "broad/broad.h"

broad_path_kind broad__path_kind(const char *path);
broad_path_kind broad__bytes_kind(const void *bytes, size_t count); /* never a folder */

/* What a file is that begins so and is no table, and what to do about it; NULL: it may be a table. */
const char *broad__bytes_foreign(const void *bytes, size_t count);

#endif
