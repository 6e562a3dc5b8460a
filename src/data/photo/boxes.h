/* Where the panels are in photos: boxes that a detector found, from a file or from a function of the caller's. */
#ifndef BROAD_DATA_PHOTO_BOXES_H
#define BROAD_DATA_PHOTO_BOXES_H

#include <stddef.h>

#include "broad/broad.h"

/* In pixels of the upright photo, or in parts of its sides. */
typedef struct broad__box {
    double left, top, right, bottom; /* the latter two are outside */
    double score;                    /* NaN: not told */
    int relative;                    /* 0 to 1 instead of pixels */
} broad__box;

struct broad_box_list {
    size_t count, room;
    broad__box *items;
};

void broad__box_list_clear(broad_box_list *list);

typedef struct broad__boxes broad__boxes;

/*
 * `path` is found out by content:
 *   a folder of YOLO text files, NAME.txt for NAME.jpg: "class cx cy width height [score]", parts of the sides;
 *   a COCO JSON file: images (id, file_name), annotations (image_id, bbox [x, y, width, height], score);
 *   a CSV file with a header: file, left, top, right, bottom, and score if there is one (also x, y, width, height; xmin, ymin,
 *   xmax, ymax); pixels, or parts of the sides where none is above 1.
 * Errors name file, line and column, or the JSON place, and what to do.
 */
int broad__boxes_read(broad__boxes **out, const char *path);
void broad__boxes_free(broad__boxes *boxes); /* accepts NULL */

/* The boxes of the photo `name` ("Dusty/dusty_001.jpg"): by its path from the folder given, or its last part where that is
 * unique, with or without suffix. Appends to `out`; none is no failure. BROAD_BAD_DATA: the last part is ambiguous. */
int broad__boxes_find(broad_box_list *out, const broad__boxes *boxes, const char *name);

#endif
