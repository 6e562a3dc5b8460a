/* What `broad data` finds in a folder of photos. */
#ifndef BROAD_CLI_RUN_DATA_PHOTOS_H
#define BROAD_CLI_RUN_DATA_PHOTOS_H

#include "run/data_advice.h"
#include "run/photo_summary.h"

typedef enum data_photo_format {
    DATA_PHOTO_JPEG,
    DATA_PHOTO_PNG,
    DATA_PHOTO_HEIC,
    DATA_PHOTO_WEBP,
    DATA_PHOTO_TIFF,
    DATA_PHOTO_FORMATS
} data_photo_format;

typedef struct data_photos {
    const broad_data *data;
    cli_photo_facts facts;
    size_t *class_counts;          /* NULL: no classes */
    size_t *by_pixels, *by_aspect; /* rows in the order of these */
    size_t *members;               /* of each group, by its number */
    size_t *groups;                /* numbers of those of two and more, large ones first; facts.groups of them */
    size_t *copy_of; /* row with the same bytes, the first of them; the row itself where it has no other */
    size_t copies;   /* rows that are not their own copy_of */
    size_t faulty;   /* photos that are too dark, too bright, blurred or too small */
    size_t of_format[DATA_PHOTO_FORMATS];
    size_t landscape, portrait;
    size_t timed, placed;
    char first_time[20], last_time[20];
    double south, north, west, east;
} data_photos;

int data_photos_make(data_photos *out, const broad_data *data);
void data_photos_clear(data_photos *photos);
void data_photos_advise(data_advice *advice, const data_photos *photos);
void data_photos_print(const data_photos *photos, int all);
void data_photos_json(json_t *object, const data_photos *photos);

#endif
