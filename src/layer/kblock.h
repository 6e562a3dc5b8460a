/* The columns that one layer contributes to K: `prefix` columns of Z from `first` on, then its nodes H = xi(Z W + b).
 * */
#ifndef BROAD_LAYER_KBLOCK_H
#define BROAD_LAYER_KBLOCK_H

#include "compute/device.h"

typedef struct broad__kblock {
    broad__nodes nodes;
    size_t first, prefix;
} broad__kblock;

size_t broad__kblock_width(const broad__kblock *kblock);
/* Columns of several, side by side. */
size_t broad__kblocks_width(const broad__kblock *kblocks, size_t count);

#endif
