/* NPY: magic, version, length of the header, a Python dictionary (descr, fortran_order, shape), then the numbers. */
#ifndef BROAD_DATA_FORMAT_NPY_H
#define BROAD_DATA_FORMAT_NPY_H

#include "data/format/matrix.h"

int broad__npy_is(const void *bytes, size_t count);
int broad__npy_open(broad__matrix *out, const broad__source *source);

#endif
