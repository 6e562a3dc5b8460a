/* The cells of delimited text, once the roles of its columns are known. */
#ifndef BROAD_DATA_FORMAT_CSV_FILL_H
#define BROAD_DATA_FORMAT_CSV_FILL_H

#include "data/format/csv_rows.h"
#include "data/parsed.h"
#include "data/roles.h"

/* What becomes of the cells. */
typedef struct broad__csv_request {
    broad_missing missing;
    const broad__categories *known; /* the categories of the model; empty: levels are numbered as they come */
    int texts;                      /* targets and groups stay text that lies in the source, else they are coded */
    int empty;                      /* no rows are no error */
    int labels;                     /* coded targets may be classes */
    int divided;                    /* the rows are divided among the ranks of the call, if they are enough */
    size_t memory;                  /* bytes that the process should hold at most; 0: no limit */
    broad__spill *spill;            /* where the arrays of rows go; NULL: a new one if there are too many rows */
} broad__csv_request;

/* The steps before the rows: arrays for `capacity` rows, and where the columns of numbers go. */
int broad__csv_fill_open(broad__parsed *out, const broad__csv *csv, const broad__roles *roles,
                         const broad__csv_request *request, size_t capacity);
int broad__csv_fill_columns(broad__filling *work);
void broad__csv_fill_close(broad__filling *work);

int broad__csv_fill(broad__parsed *out, const broad__csv *csv, const broad__roles *roles,
                    const broad__csv_request *request);

#endif
