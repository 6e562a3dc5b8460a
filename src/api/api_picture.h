/* Pictures as other entry points hand them out. */
#ifndef BROAD_API_API_PICTURE_H
#define BROAD_API_API_PICTURE_H

#include "broad/broad.h"
#include "image/image.h"

/* Hands over an image that was made, unless making it failed: then it is freed and the status is returned. */
int broad__picture_hand_out(broad_picture **out, broad__image *image, int status);

#endif
