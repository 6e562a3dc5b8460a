#include "layer/kblock.h"

size_t broad__kblock_width(const broad__kblock *kblock) { return kblock->prefix + kblock->nodes.nodes; }

size_t broad__kblocks_width(const broad__kblock *kblocks, size_t count)
{
    size_t width = 0;
    for (size_t i = 0; i < count; i++) width += broad__kblock_width(&kblocks[i]);
    return width;
}
