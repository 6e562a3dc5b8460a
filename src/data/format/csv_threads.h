/* Delimited text in pieces, on several threads. */
#ifndef BROAD_DATA_FORMAT_CSV_THREADS_H
#define BROAD_DATA_FORMAT_CSV_THREADS_H

#include "data/format/csv_rows.h"

/* Fills the table from *next on, as far as that can be done in pieces; *next is then the row where the plain loop continues,
 * or the end of the text. */
int broad__csv_fill_threads(broad__filling *work, const char **next);

/* How many rows the text has if each of its lines is one, and where row `row` of these begins; *out_end: where the last one
 * ends. */
size_t broad__csv_plain_rows(const char **out_end, const broad__csv *csv);
const char *broad__csv_plain_row(const broad__csv *csv, size_t row);
/* After every rank has filled in its rows [first, end): one numbering of levels, labels and groups, as in the whole text. Returns
 * 1; 0: there are too many; or the status of a failure. */
int broad__csv_join_ranks(broad__filling *work, size_t first, size_t end);

#endif
