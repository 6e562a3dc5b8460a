/* Boxes in COCO's JSON. */
#ifndef BROAD_DATA_PHOTO_BOXES_JSON_H
#define BROAD_DATA_PHOTO_BOXES_JSON_H

#include "data/photo/boxes.h"

int broad__boxes_read_coco(broad__boxes *out, const broad__source *source);

#endif
