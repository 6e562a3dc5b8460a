/* Delimited text: RFC 4180, with the separator and the header found from the content. */
#ifndef BROAD_DATA_FORMAT_CSV_H
#define BROAD_DATA_FORMAT_CSV_H

#include <stdint.h>

#include "compute/pool.h"
#include "data/format/source.h"
#include "data/parsed.h"
#include "data/roles.h"

/* What is counted of each stretch of text, so that it can be read in pieces. */
enum { BROAD__CSV_CHUNK = 1 << 18 };

typedef struct broad__csv_chunk {
    uint32_t lines, quotes; /* ends of lines, quotation marks */
} broad__csv_chunk;

typedef struct broad__csv {
    const char *name;
    const char *begin, *end; /* begin: after a byte-order mark */
    const char *body;        /* the first row of data */
    char separator, newline;
    size_t columns;
    char **names; /* NULL: no header */
    const broad__source *source;
    broad__pool *pool;        /* NULL: the caller's thread alone */
    broad__csv_chunk *chunks; /* of begin ... end, BROAD__CSV_CHUNK bytes each */
    size_t chunk_count, lines, quotes;
} broad__csv;

/* How to read: what the user says, and what is known about the file. */
typedef struct broad__csv_hints {
    const char *header, *separator; /* as in broad_read_options */
    size_t rows;                    /* that the file should have; 0: not known */
    const broad__columns *model;    /* may be NULL */
    size_t threads;                 /* 0: one a processor */
} broad__csv_hints;

/* Finds separator, header and columns. The source must outlive it. */
int broad__csv_open(broad__csv *out, const broad__source *source, const broad__csv_hints *hints);
/* Inputs that hold text become categories, unless so few cells hold it (fewer than 1 of 100) that they must be slips. */
int broad__csv_categories(broad__roles *plan, const broad__csv *csv);

/* What becomes of the cells. */
typedef struct broad__csv_request {
    broad_missing missing;
    const broad__categories *known; /* the categories of the model; empty: levels are taken as they come */
    int texts;                      /* targets and groups as text that lies in the source, else coded */
    int labels;                     /* coded targets may be classes */
    size_t memory;                  /* bytes that the process should hold at most; 0: no limit */
    broad__spill *spill; /* what the arrays of rows are to lie in; NULL: a new one if there are too many rows */
} broad__csv_request;

int broad__csv_fill(broad__parsed *out, const broad__csv *csv, const broad__roles *plan,
                    const broad__csv_request *wants);
void broad__csv_close(broad__csv *csv);

#endif
