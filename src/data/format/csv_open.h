/* Delimited text: the separator and the header are found from the content. */
#ifndef BROAD_DATA_FORMAT_CSV_OPEN_H
#define BROAD_DATA_FORMAT_CSV_OPEN_H

#include "data/format/csv_scan.h"
#include "data/notes.h"
#include "data/roles.h"

/* How to read: what the user says, and what is known about the file. */
typedef struct broad__csv_hints {
    const char *header, *separator; /* as in broad_read_options */
    size_t rows;                    /* that the file should have; 0: not known */
    const broad__columns *model;    /* may be NULL */
    size_t threads;                 /* 0: one per processor */
    int divided;                    /* the ranks of the call survey it together */
    broad__notes *notes;            /* of what was skipped; may be NULL */
} broad__csv_hints;

/* Finds separator, header and columns. The source must outlive it. */
int broad__csv_open(broad__csv *out, const broad__source *source, const broad__csv_hints *hints);

void broad__csv_close(broad__csv *csv);

#endif
