/* Where the panels are in photos: boxes that a detector found, from a file or from a running program. */
#ifndef BROAD_DATA_PHOTO_BOXES_H
#define BROAD_DATA_PHOTO_BOXES_H

#include <stddef.h>

/* In pixels of the upright photo, or in parts of its sides. */
typedef struct broad__box {
    double left, top, right, bottom; /* the latter two are outside */
    double score;                    /* NaN: not told */
    int relative;                    /* 0 to 1 instead of pixels */
} broad__box;

typedef struct broad__box_list {
    size_t count, room;
    broad__box *items;
} broad__box_list;

void broad__box_list_clear(broad__box_list *list);

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
int broad__boxes_find(broad__box_list *out, const broad__boxes *boxes, const char *name);

/* A program that is started once, gets one file name a line and answers each with one line of JSON:
 *   {"file": "a.jpg", "boxes": [[left, top, right, bottom, score], ...]}    in pixels of the upright photo
 * or {"file": "a.jpg", "error": "why"}. What it prints to standard error comes into the messages. */
typedef struct broad__detector broad__detector;

int broad__detector_start(broad__detector **out, const char *command, double seconds);
/* Not for several threads at once. BROAD_BAD_DATA: the program says that it cannot read this photo; BROAD_FAILED: it ended, did
 * not answer in time or not in the way above; it is then stopped and no further call will do. */
int broad__detector_ask(broad__box_list *out, broad__detector *detector, const char *file);
void broad__detector_stop(broad__detector *detector); /* accepts NULL; waits for its end, kills it if need be */

#endif
