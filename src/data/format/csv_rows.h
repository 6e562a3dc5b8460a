/* Rows of delimited text into a table: one by one, or many at once. */
#ifndef BROAD_DATA_FORMAT_CSV_ROWS_H
#define BROAD_DATA_FORMAT_CSV_ROWS_H

#include "data/format/csv_scan.h"
#include "data/parsed.h"
#include "data/roles.h"

/* Where the numbers of a column go; first NULL: its cells are not plain numbers, or blanks separate them. */
typedef struct broad__csv_column {
    double *first;
    size_t stride;
} broad__csv_column;

/* The work, shared by all threads. */
typedef struct broad__filling {
    broad__parsed *parsed;
    const broad__csv *csv;
    const broad__roles *roles;
    broad_missing missing;
    broad__csv_column *columns;
    size_t capacity; /* rows that the arrays of `parsed` can hold */
    int divided;     /* they hold the rows of this rank, which end there */
    size_t memory;   /* bytes that the process should hold at most; 0: no limit */
} broad__filling;

/* What one thread has of its own. */
typedef struct broad__filler {
    const broad__filling *work;
    broad__dictionary *dictionary; /* that of `parsed`, or one for this piece of the text */
    broad__arena *arena;           /* for text that differs from the file's, such as undoubled quotes */
    broad__arena *keep;            /* for copies of new texts in the dictionary; NULL: they stay where they are */
    broad__cells targets, groups;  /* counts of what is missing or not a number; the cells themselves are in `parsed` */
    size_t missing;                /* input cells that are */
    const char *row;               /* start of the current row */
} broad__filler;

/* Fills row `row` of the table from the text at *next; *next is then where the following row may begin. */
int broad__csv_fill_row(broad__filler *filler, const char **next, size_t row);

/* Fills any cell, the slow way: *at is then where the next one begins, *last says whether it was the last of its row. */
int broad__csv_fill_cell(broad__filler *filler, const char **at, int *last, size_t row, size_t column);

/* Fills rows `first` ... of the table, at most `max`, from those that begin before `to`. The text has no quotation marks and
 * its separator is not a blank. Returns how many; *next is `to`, or the first row that has a fault. */
size_t broad__csv_fill_rows(broad__filler *filler, const char **next, const char *to, size_t first, size_t max);
size_t broad__csv_fill_rows_avx2(broad__filler *filler, const char **next, const char *to, size_t first, size_t max);

/* Fails for a row beyond the capacity: earlier rows must have had fewer cells than the first. */
int broad__csv_fail_rows(broad__filler *filler, const char *at);

#endif
