/* What 'broad data' finds out, of photos and of tables. */
#ifndef BROAD_CLI_RUN_DATA_H
#define BROAD_CLI_RUN_DATA_H

#include "run/photo_summary.h"

enum { DATA_ADVICE_MAX = 12, DATA_ADVICE_BYTES = 320 };

typedef struct data_advice {
    size_t count;
    char lines[DATA_ADVICE_MAX][DATA_ADVICE_BYTES];
} data_advice;

void data_advise(data_advice *advice, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rows of each class; freed with free(). NULL: out of memory, or not a classification. */
size_t *data_class_counts(const broad_data *data);
/* About targets that make training hard: few of a class, or many more of one than of another. */
void data_advise_targets(data_advice *advice, const broad_data *data, const size_t *counts);

/* ---- photos (data_photos.c) ---- */

typedef struct data_photos {
    const broad_data *data;
    cli_photo_facts facts;
    size_t *class_counts;          /* NULL: no classes */
    size_t *by_pixels, *by_aspect; /* rows in the order of these */
    size_t *members;               /* of each group, by its number */
    size_t *groups;                /* numbers of those of two and more, large ones first; facts.groups of them */
    size_t *copy_of; /* row with the same bytes, the first of them; the row itself where it has no other */
    size_t copies;   /* rows that are not their own copy_of */
    size_t jpegs, pngs;
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
