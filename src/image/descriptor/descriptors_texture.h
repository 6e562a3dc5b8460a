/* Local binary patterns. */
#ifndef BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_TEXTURE_H
#define BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_TEXTURE_H

#include "image/descriptor/descriptors_work.h"

/* The BROAD__PATTERNS histograms of a plane, from descriptor `at` on. */
void broad__count_texture(const broad__descriptor_grid *grid, broad__descriptor_work *work, const broad__plane *plane,
                          size_t at);

#endif
