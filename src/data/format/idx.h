/* IDX, the format of MNIST: two zero bytes, type, number of dimensions, their sizes, the numbers; all big-endian. */
#ifndef BROAD_DATA_FORMAT_IDX_H
#define BROAD_DATA_FORMAT_IDX_H

#include "data/format/matrix.h"

int broad__idx_is(const void *bytes, size_t count);
int broad__idx_open(broad__matrix *out, const broad__source *source);

#endif
