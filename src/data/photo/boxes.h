/* Where the panels are in photos: boxes that a detector found, from a file or from a function of the caller's. */
#ifndef BROAD_DATA_PHOTO_BOXES_H
#define BROAD_DATA_PHOTO_BOXES_H

#include <stddef.h>

#include "broad/broad.h"
#include "data/distinct.h"
#include "data/format/source.h"

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

/* ---- for the readers ---- */

/* Limits on what is believed of a file. */
enum { BROAD__BOXES_MOST = 1 << 27, BROAD__BOX_FARTHEST = 1000000000 };

/* What a box file calls a photo. */
typedef struct broad__box_owner {
    broad__text bare;   /* its name without suffix */
    size_t first, last; /* its boxes: 1 + their numbers, 0 for none */
    size_t sibling;     /* 1 + the number of another owner with the same stem, 0 for none */
} broad__box_owner;

struct broad__boxes {
    char *source; /* for messages */
    broad__arena arena;
    broad__text_set names;    /* of the owners, with '/' between folders */
    broad__box_owner *owners; /* names.count */
    size_t owners_room;
    broad__text_set stems; /* last parts of the names without suffix */
    size_t *stem_owners;   /* stems.count: the latest owner with this stem; the rest are its siblings */
    size_t stems_room;
    broad__box *items;
    size_t *next; /* of each item: 1 + the number of the next one of its owner, 0 for none */
    size_t count, room, next_room;
};

/* The number of the owner of this name, new or not. bare: the name has no suffix that could be taken off. */
int broad__boxes_owner(size_t *out, broad__boxes *boxes, broad__text name, int bare);
int broad__boxes_add(broad__boxes *boxes, size_t owner, const broad__box *box);
int broad__box_list_add(broad_box_list *list, const broad__box *box);

/* What is wrong with the numbers of a box; NULL if nothing. */
const char *broad__box_fault(const broad__box *box);

/* As broad__boxes_read() from bytes in memory; yolo: they are the text file of a photo called `name`. */
int broad__boxes_read_bytes(broad__boxes **out, const char *name, const void *bytes, size_t count, int yolo);

#endif
