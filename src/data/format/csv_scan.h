/* Delimited text (RFC 4180), its rows and its cells. */
#ifndef BROAD_DATA_FORMAT_CSV_SCAN_H
#define BROAD_DATA_FORMAT_CSV_SCAN_H

#include <stdint.h>

#include "compute/pool.h"
#include "data/format/source.h"
#include "data/text.h"

/* Text is surveyed in chunks of this many bytes, so that several threads can read it. */
enum { BROAD__CSV_CHUNK = 1 << 18 };

typedef struct broad__csv_chunk {
    uint32_t lines, quotes; /* ends of lines, quotation marks */
} broad__csv_chunk;

typedef struct broad__csv {
    const char *name;
    const char *begin, *end; /* begin: after a byte-order mark */
    const char *top;         /* the first row, header or not: after a title */
    const char *body;        /* the first row of data */
    char separator, newline;
    char comment; /* lines that begin with it are none; 0: there are no such lines */
    size_t columns;
    size_t trailing;   /* of them, at the end, without a name or a value: each row ends with separators */
    int titled;        /* lines were skipped before `top` */
    int unnamed_first; /* the header has no name for the first column */
    char **names;      /* NULL: no header */
    const broad__source *source;
    broad__pool *pool;        /* NULL: the caller's thread alone */
    broad__csv_chunk *chunks; /* of begin ... end, BROAD__CSV_CHUNK bytes each */
    size_t chunk_count, lines, quotes;
    int wide; /* not all of it is ASCII */
} broad__csv;

typedef struct broad__cell {
    broad__text text;  /* without quotes and surrounding blanks */
    int doubled;       /* it holds quotes written twice */
    int last;          /* of its row */
    const char *fault; /* what is wrong with its quotes; NULL: nothing */
} broad__cell;

/* Reads the cell at `at` and returns where the next one begins. At csv->end an empty last cell is read. */
const char *broad__cell_read(broad__cell *out, const broad__csv *csv, const char *at);

/* Undoes doubled quotes; the text then lies in the arena. */
int broad__cell_undouble(broad__text *text, broad__arena *arena);

/* The start of the next row that is neither blank nor a comment, or csv->end. */
const char *broad__row_start(const broad__csv *csv, const char *at);

/* Cells from `at` to the end of the row; *next is the start of the following row. */
size_t broad__row_cells(const char **next, const broad__csv *csv, const char *at);

/* Everything before `at` has been read; *released is how far its memory has been released, if there is a limit. */
void broad__csv_passed(const broad__csv *csv, const char **released, const char *at);

/* The line number of a position in the text, from 1. */
size_t broad__line_at(const broad__csv *csv, const char *at);

#endif
