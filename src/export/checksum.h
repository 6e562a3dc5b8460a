/* What a model's file would be known by. */
#ifndef BROAD_EXPORT_CHECKSUM_H
#define BROAD_EXPORT_CHECKSUM_H

#include "base/hash.h"
#include "model/model.h"

/* The hash (base/hash.h) of all bytes of the file that it is saved to in full. */
int broad__checksum(char out[BROAD__HASH_TEXT], const broad_model *model);

#endif
