/* One row of delimited text, for those who say which. */
#ifndef BROAD_DATA_FORMAT_CSV_FILL_H
#define BROAD_DATA_FORMAT_CSV_FILL_H

#include "data/format/csv_scan.h"

/* Where the numbers of a column go; first NULL: its cells are no plain numbers, or blanks separate them. */
typedef struct broad__csv_column {
    double *first;
    size_t stride;
} broad__csv_column;

/* The work, for all threads. */
typedef struct broad__filling {
    broad__parsed *content;
    const broad__csv *csv;
    const broad__roles *plan;
    broad_missing missing;
    broad__csv_column *columns;
} broad__filling;

/* What one thread has of its own. */
typedef struct broad__filler {
    const broad__filling *work;
    broad__dictionary *coding;    /* the content's, or one for this stretch of rows */
    broad__arena *arena;          /* for text that is not as it stands in the file */
    broad__arena *keep;           /* for copies of new texts in the coding; NULL: they stay where they are */
    broad__cells targets, groups; /* what is missing or no number among them; the cells themselves are the content's */
    const char *row;              /* start of the row at hand */
} broad__filler;

/* The row at *next, as number `row` of the content; *next is then where the following one may begin. */
int broad__csv_fill_row(broad__filler *filler, const char **next, size_t row);

/* Any cell, the long way: *at is then where the next one begins, *last says whether it is in another row. */
int broad__csv_fill_cell(broad__filler *filler, const char **at, int *last, size_t row, size_t column);

/* Rows that begin before `to`, `most` of them at most, as numbers `first` ... of the content. No quotation mark is among them
 * and the separator is no blank. Returns how many; *next is `to`, or the first row that something is wrong with. */
size_t broad__csv_fill_rows(broad__filler *filler, const char **next, const char *to, size_t first, size_t most);
size_t broad__csv_fill_rows_avx2(broad__filler *filler, const char **next, const char *to, size_t first, size_t most);

/* A row too much: says that it has not as many cells as the first. */
int broad__csv_fail_rows(broad__filler *filler, const char *at);

#endif
