/* Numbers in binary: NPY and IDX files. */
#ifndef BROAD_DATA_FORMAT_MATRIX_H
#define BROAD_DATA_FORMAT_MATRIX_H

#include "data/format/source.h"
#include "data/parsed.h"
#include "data/roles.h"

enum { BROAD__DIMENSIONS_MAX = 32 };

/* The first dimension counts the rows; the others are laid out one after the other, the last one fastest. */
typedef struct broad__matrix {
    const char *name;
    const broad__source *source;
    const unsigned char *bytes;
    char type; /* 'f', 'i', 'u' as in NPY; 'b' is 'u' */
    size_t item;
    int swapped; /* byte order is not this machine's */
    int fortran; /* the first dimension is the fastest in the file */
    size_t dimensions, shape[BROAD__DIMENSIONS_MAX];
    size_t rows, columns;
} broad__matrix;

/* Rows, columns and the bytes they need from the shape; the file has `have` bytes of them. */
int broad__matrix_check(broad__matrix *matrix, size_t have);
/* The number at that place. */
double broad__matrix_number(const broad__matrix *matrix, const unsigned char *at);

/* What becomes of the numbers; as in broad__csv_request. */
typedef struct broad__matrix_request {
    broad_missing missing;
    const broad__categories *known;
    size_t memory;
    broad__spill *spill;
    size_t threads;
    int divided;  /* the rows are divided among the ranks of the call, if they are enough */
    int in_place; /* inputs may stay in the file: the source is then kept as long as they are */
} broad__matrix_request;

int broad__matrix_fill(broad__parsed *out, const broad__matrix *matrix, const broad__roles *roles,
                       const broad__matrix_request *request);

#endif
