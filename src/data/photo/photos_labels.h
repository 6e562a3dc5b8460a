/* The list that gives photos their targets: a CSV file with a line for each photo. */
#ifndef BROAD_DATA_PHOTO_PHOTOS_LABELS_H
#define BROAD_DATA_PHOTO_PHOTOS_LABELS_H

#include "data/format/csv_fill.h"
#include "data/format/csv_open.h"
#include "data/photo/photos_list.h"

typedef struct broad__photo_labels {
    broad__source source;
    int converted; /* it was not UTF-8 */
    broad__csv csv;
    broad__roles plan;
    broad__parsed content;          /* its rows are the lines; the first target column names the files */
    char **target_names;            /* of the others ... */
    broad__cell_format *formats;    /* ... and how their numbers are written */
    char *group_name, *weight_name; /* NULL: no such column */
    broad__notes notes;             /* of what reading it did */
    size_t *lines;                  /* of each photo in the list: its row of the content; SIZE_MAX: none */
} broad__photo_labels;

/*
 * Finds each line's photo in the list: by its name, by the path it is opened by, or by the last part of its name where only
 * one photo is called so. Photos without a line are marked `unlisted`; lines without a photo come to the end of the list
 * with that fault. BROAD_BAD_DATA: two lines for a photo, two photos for a line, no photo for any line.
 */
int broad__photo_labels_read(broad__photo_labels *out, broad__photo_list *list, const broad_read_options *options,
                             const broad__columns *model);
void broad__photo_labels_clear(broad__photo_labels *labels);

/* Targets, groups and weights of a table whose row i is of photo photos[i] in the list. */
int broad__photo_labels_set(broad_data *table, const broad__photo_labels *labels, const size_t *photos,
                            const broad_read_options *options, const broad__columns *model);

#endif
