/* What a format makes of a file: inputs and weights as numbers; target and group cells as they are, to be judged later. */
#ifndef BROAD_DATA_CONTENT_H
#define BROAD_DATA_CONTENT_H

#include "data/distinct.h"

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
    double *weights; /* rows, each above 0; NULL: no such column */
    broad__cells targets, groups;
    size_t level_sets;       /* columns of categories: data/levels.h */
    broad__text_set *levels; /* of each of them */
    int levels_closed;       /* they are those of a model: no other can come */
    broad__arena arena;
    /* The line of a row in a text file; NULL for a binary one. */
    size_t (*line_of)(const void *reader, size_t row);
    const void *reader;
} broad__content;

/* "data.csv:12" or "data.npy: row 12", for a message. */
enum { BROAD__WHERE_BYTES = 320 };
const char *broad__content_where(char out[BROAD__WHERE_BYTES], const broad__content *content, size_t row);

/* Whether a dense table is in proportion to a file that may be much smaller. */
int broad__content_dense(size_t rows, size_t inputs, size_t file_bytes);

void broad__content_clear(broad__content *content);

#endif
