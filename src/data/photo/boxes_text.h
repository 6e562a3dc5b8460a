/* Boxes in text: YOLO's lines of numbers, and CSV with a header. */
#ifndef BROAD_DATA_PHOTO_BOXES_TEXT_H
#define BROAD_DATA_PHOTO_BOXES_TEXT_H

#include "data/photo/boxes.h"

int broad__boxes_read_yolo(broad__boxes *out, size_t owner, const broad__source *source);
int broad__boxes_read_csv(broad__boxes *out, const broad__source *source);

#endif
