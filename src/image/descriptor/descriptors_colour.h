/* Histograms of colours and of contrasts. */
#ifndef BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_COLOUR_H
#define BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_COLOUR_H

#include "image/descriptor/descriptors_work.h"

void broad__count_colour(const broad__descriptor_grid *grid, broad__descriptor_work *work);
void broad__count_contrast(const broad__descriptor_grid *grid, broad__descriptor_work *work);

#endif
