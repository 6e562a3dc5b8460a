/* One photo on its way from a file to rows of inputs. */
#ifndef BROAD_DATA_PHOTO_PHOTOS_PREPARE_H
#define BROAD_DATA_PHOTO_PHOTOS_PREPARE_H

#include <pthread.h>

#include "broad/broad.h"
#include "data/photo/boxes.h"
#include "data/photo/photos_list.h"
#include "image/photo.h"
#include "image/print/print.h"

/* A row: which part of the photo, and which copy of it. */
typedef struct broad__photo_part {
    double left, top, right, bottom; /* pixels of the upright photo */
    double score;                    /* NaN: none */
    uint64_t copy;
    uint64_t faults; /* of broad_photo_fault; of a copy: those of the photo */
} broad__photo_part;

/* What a photo gives. Zeroed: nothing. */
typedef struct broad__prepared {
    size_t maps;       /* that the inputs are of */
    size_t rows;       /* 0: it was left out */
    broad_photo facts; /* what is the same in all rows; file and name are NULL */
    broad__print print;
    broad__photo_part *parts; /* rows */
    float *inputs;            /* rows x broad__photo_inputs() */
} broad__prepared;

void broad__prepared_clear(broad__prepared *prepared);

typedef struct broad__photo_cache broad__photo_cache;

/* What all photos share. The lock lets one thread at a time ask for boxes. */
typedef struct broad__preparing {
    broad__photo_spec spec;
    const broad__photo_maker *maker; /* of its maps */
    const char *boxes_path;          /* for messages */
    const broad__boxes *boxes;
    broad_boxes_function find_boxes;
    void *find_boxes_context;
    pthread_mutex_t *lock;
    size_t augment;
    uint64_t seed;
    const char *labels;        /* for messages; NULL: none */
    broad__photo_cache *cache; /* may be NULL */
} broad__preparing;

/*
 * Any number of threads at once. *out_ignored: it is no picture and was not meant to be one: a text beside the photos.
 * BROAD_BAD_DATA, BROAD_NO_INPUT, BROAD_IO: this file cannot be used, the message tells why without naming it.
 * BROAD_NO_MEMORY, BROAD_FAILED: nothing more can be done.
 */
int broad__prepare(broad__prepared *out, int *out_ignored, const broad__photo_file *file, const broad__preparing *how);

/* The picture that the inputs of a whole photo are made from: from the bytes of its file, and what these say (file and name
 * are ""); from pixels. */
int broad__photo_decode(broad__image *out, broad_photo *out_facts, const broad__photo_spec *spec, const void *bytes,
                        size_t count);
int broad__photo_reduce(broad__image *out, const broad__photo_spec *spec, const broad__image *picture);

/* The picture that the inputs of a row were made from, which is not one of an augmented copy. Messages do not name the file. */
int broad__photo_picture(broad__image *out, const broad__photo_spec *spec, const broad_photo *photo);

#endif
