/* Delimited text: RFC 4180, with the separator and the header found from the content. */
#ifndef BROAD_DATA_CSV_H
#define BROAD_DATA_CSV_H

#include "data/content.h"
#include "data/plan.h"
#include "data/source.h"

typedef struct broad__csv {
    const char *name;
    const char *begin, *end; /* begin: after a byte-order mark */
    const char *body;        /* the first row of data */
    char separator, newline;
    size_t columns;
    char **names; /* NULL: no header */
} broad__csv;

/* How to read: what the user says, and what is known about the file. */
typedef struct broad__csv_hints {
    const char *header, *separator; /* as in broad_read_options */
    size_t rows;                    /* that the file should have; 0: not known */
    const broad__columns *model;    /* may be NULL */
} broad__csv_hints;

/* Finds separator, header and columns. The source must outlive it. */
int broad__csv_open(broad__csv *out, const broad__source *source, const broad__csv_hints *hints);
/* Inputs that hold text become categories, unless so few cells hold it (fewer than 1 of 100) that they must be slips. */
int broad__csv_categories(broad__plan *plan, const broad__csv *csv);
/* `known`: the categories of the model; empty: levels are taken as they come. */
int broad__csv_fill(broad__content *out, const broad__csv *csv, const broad__plan *plan, broad_missing missing,
                    const broad__categories *known);
void broad__csv_close(broad__csv *csv);

#endif
