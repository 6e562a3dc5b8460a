/*
 * Rows of one size in, a picture of another size out, without the picture of the first size ever being in memory. What a
 * decoder hands out row by row comes straight into its final size.
 *
 * The vertical part comes first: it is a sum of rows, which vectorises, and it leaves only the rows of the result for
 * the horizontal part.
 */
#ifndef BROAD_IMAGE_RESAMPLE_H
#define BROAD_IMAGE_RESAMPLE_H

#include <stdint.h>

#include "image/image.h"

/* How the pixels along one side are made: pixel i is the sum over k < count[i] of weight[i * most + k] times the source
 * pixel first[i] + k. The weights of a pixel sum to 1; those from count[i] on are 0. */
typedef struct broad__axis {
    uint32_t *first;
    uint32_t *count;
    float *weight;
    size_t most; /* of the counts */
} broad__axis;

typedef struct broad__resample {
    broad__image image;   /* the result */
    size_t width, height; /* of what comes in */
    size_t taken, made;   /* rows */
    broad__axis across;
    broad__axis down;
    float *sum;            /* one row of what comes in, summed vertically; zeros behind it */
    unsigned char *row;    /* where the next row is put; NULL: right into the result, as the sizes agree */
    unsigned char *before; /* the row before it */
    unsigned char *block;  /* both of them */
    /* Where the height shrinks: the row before that is not in the sum yet, as two are added at once; NULL: it is. */
    const unsigned char *waiting;
    float waiting_weight;
    int waiting_adds; /* to rows that are in the sum */
} broad__resample;

/* Sides below 2^31. */
int broad__resample_begin(broad__resample *out, size_t width, size_t height, size_t to_width, size_t to_height);
size_t broad__resample_bytes(size_t width, size_t height, size_t to_width,
                             size_t to_height); /* memory that takes, roughly */

/* Where the next row, of `width` pixels, is to be written; then call broad__resample_done(). `height` rows in all. */
unsigned char *broad__resample_next(broad__resample *rows);
void broad__resample_done(broad__resample *rows);
/* A row of a picture that stays where it is until the last one was taken. */
void broad__resample_take(broad__resample *rows, const unsigned char *row);

/* Hands over the picture. Rows that never came are of this grey level. */
void broad__resample_finish(broad__image *out, broad__resample *rows, unsigned char missing);
void broad__resample_free(broad__resample *rows); /* accepts a half-built one, and one that is finished */

#endif
