/* Boxes by photo, and the readers that fill them: what boxes.h is made of. */
#ifndef BROAD_DATA_PHOTO_BOXES_READ_H
#define BROAD_DATA_PHOTO_BOXES_READ_H

#include "data/distinct.h"
#include "data/format/source.h"
#include "data/photo/boxes.h"

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

int broad__boxes_read_yolo(broad__boxes *out, size_t owner, const broad__source *source);
int broad__boxes_read_csv(broad__boxes *out, const broad__source *source);
int broad__boxes_read_coco(broad__boxes *out, const broad__source *source);

/* As broad__boxes_read() from bytes in memory; yolo: they are the text file of a photo called `name`. */
int broad__boxes_read_bytes(broad__boxes **out, const char *name, const void *bytes, size_t count, int yolo);

#endif
