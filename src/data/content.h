/* What a format makes of a file: inputs as numbers; target and group cells as they are, to be judged later. */
#ifndef BROAD_DATA_CONTENT_H
#define BROAD_DATA_CONTENT_H

#include "data/text.h"

/* Cells of some columns, row by row: text as written, or numbers from a binary file. */
typedef struct broad__cells {
    size_t columns;
    broad__text *texts; /* NULL for numbers; point into the source or the arena */
    double *values;     /* NULL for text */
    int integers;       /* numbers: all are whole (LIBSVM) or of a whole type (NPY, IDX) */
} broad__cells;

typedef struct broad__content {
    const char *file;
    size_t rows, inputs;
    double *x;
    broad__cells targets, groups;
    broad__arena arena;
    /* The line of a row in a text file; NULL for a binary one. */
    size_t (*line_of)(const void *reader, size_t row);
    const void *reader;
} broad__content;

/* "data.csv:12" or "data.npy: row 12", for a message. */
enum { BROAD__WHERE_BYTES = 320 };
const char *broad__content_where(char out[BROAD__WHERE_BYTES], const broad__content *content, size_t row);

void broad__content_clear(broad__content *content);

#endif
