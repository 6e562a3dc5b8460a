/* A file as its format's reader leaves it: inputs and weights are numbers; target and group cells are interpreted later. */
#ifndef BROAD_DATA_PARSED_H
#define BROAD_DATA_PARSED_H

#include <stdint.h>

#include "base/spill.h"
#include "data/distinct.h"
#include "data/owned.h"

/*
 * Cells of some columns, row by row: as text (photos and their lists), as numbers (binary files), or coded (CSV): then
 * `values` holds the numbers, and NaN for other cells, and `ids`, if there is one column that may hold classes, the number of
 * each row's text in the dictionary.
 */
typedef struct broad__cells {
    size_t columns;
    broad__text *texts;
    double *values;
    size_t *ids;
    int integers; /* numbers: all are whole (LIBSVM) or of a whole type (NPY, IDX) */

    /* Of coded cells: how many are missing, how many are not finite numbers, and the first of each. */
    size_t missing, first_missing, words, first_word;
    broad__text word; /* the first one; in the arena */
} broad__cells;

/* The id of a target that is missing. */
#define BROAD__NO_LABEL SIZE_MAX

/* The different texts of the columns that are not numbers, numbered in the order they come. */
typedef struct broad__dictionary {
    size_t level_sets;       /* columns of categories: data/levels.h */
    broad__text_set *levels; /* of each of them */
    int levels_closed;       /* they are those of a model: no others are added */
    broad__text_set labels;  /* of the target, and their values as numbers: NaN if they are not */
    double *label_values;
    size_t label_capacity;
    int labels_over; /* there are too many to be classes: no more are kept, and ids mean nothing */
    broad__text_set groups;
} broad__dictionary;

typedef struct broad__parsed {
    const char *file;
    size_t rows, inputs;
    broad__spill *spill; /* where the arrays of rows lie, except texts; NULL: in memory */
    int spill_borrowed;  /* it is not freed with this */
    double *x;
    broad__owned *owned; /* which of its rows are here; NULL: all. What the other arrays hold is here for all rows */
    int x_in_place;      /* it lies in the file, and is only read */
    size_t missing;      /* cells of inputs that are */
    double *weights;     /* rows, each 0 or more; NULL: no such column */
    broad__cells targets, groups;
    broad__dictionary dictionary;
    broad__arena arena;
    /* The line of a row in a text file; NULL for a binary one. */
    size_t (*line_of)(const void *reader, size_t row);
    const void *reader;
} broad__parsed;

/* "data.csv:12" or "data.npy: row 12", for a message. */
enum { BROAD__WHERE_BYTES = 320 };
const char *broad__parsed_where(char out[BROAD__WHERE_BYTES], const broad__parsed *parsed, size_t row);

/* Whether a dense table is in proportion to a file that may be much smaller. */
int broad__parsed_dense(size_t rows, size_t inputs, size_t file_bytes);

/* Opens a spill if `rows` rows of `numbers` numbers each are too many for `memory` bytes; 0: no limit. An open one
 * stays. */
int broad__parsed_place(broad__parsed *parsed, size_t rows, size_t numbers, size_t memory);
/* An array of rows, in the spill or in memory; it may hold anything. */
void *broad__parsed_alloc(const broad__parsed *parsed, size_t count, size_t bytes);
/* Whether a table of `rows` rows of `numbers` numbers each is to be divided among the ranks of the call, of which each then
 * holds its part in memory; all ranks say the same. */
int broad__parsed_divides(const broad__parsed *parsed, size_t rows, size_t numbers, size_t memory);
/* All inputs on every rank. */
int broad__parsed_gather(broad__parsed *parsed);
/* After every rank has filled in its own rows of a divided table: the rest of its targets, groups and weights, and what was
 * found in them. */
int broad__parsed_share(broad__parsed *parsed);

/* Moves the arrays of rows into a spill, if they are in memory. */
int broad__parsed_move(broad__parsed *parsed, size_t memory);
/* Rows [first, first + count) are not needed for a while. */
void broad__parsed_done(const broad__parsed *parsed, size_t first, size_t count);

/* Drops the rows that have no target, if `targets` is set, and those whose weight is 0. *out_missing, *out_weightless: how
 * many. Texts (lists of photos) stay as they are. */
int broad__parsed_drop(size_t *out_missing, size_t *out_weightless, broad__parsed *parsed, int targets);

void broad__dictionary_clear(broad__dictionary *dictionary);
void broad__parsed_clear(broad__parsed *parsed);

#endif
