/* The files among which photos are looked for. */
#ifndef BROAD_DATA_PHOTO_PHOTOS_LIST_H
#define BROAD_DATA_PHOTO_PHOTOS_LIST_H

#include "data/text.h"

typedef struct broad__photo_file {
    const char *file;   /* as it can be opened */
    const char *name;   /* from the folder given; of a file that was given itself: as given */
    broad__text folder; /* first part of the name, if it lies in a folder below the one given; else empty */
    const char *fault;  /* why it is left out without being looked at; NULL: it is looked at */
    int given;          /* itself: it is meant to be a photo, whatever it is */
    int unlisted;       /* no line of the labels names it */
} broad__photo_file;

typedef struct broad__photo_list {
    size_t count, room;
    broad__photo_file *items;
    broad__arena texts;
} broad__photo_list;

/*
 * The files given, and all files in the folders given, whatever they hold: folder by folder in the order given, sorted by
 * the bytes of their names. Names that begin with a dot are left out with all that is below them. Links are followed, but
 * no folder is read twice. What cannot be looked at below a folder is in the list with its fault. BROAD_NO_INPUT: a path
 * given cannot be opened.
 */
int broad__photo_list_make(broad__photo_list *out, const char *const *paths, size_t count);

/* One more at the end, with copies of the texts. `fault` may be NULL. */
int broad__photo_list_add(broad__photo_list *list, const char *file, const char *name, const char *fault);

/* Leaves out the file at `index`, with a copy of the reason. */
int broad__photo_list_refuse(broad__photo_list *list, size_t index, const char *fault);

void broad__photo_list_clear(broad__photo_list *list);

#endif
