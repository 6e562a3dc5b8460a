/* Delimited text in pieces, on several threads. */
#ifndef BROAD_DATA_FORMAT_CSV_THREADS_H
#define BROAD_DATA_FORMAT_CSV_THREADS_H

#include "data/format/csv_rows.h"

/* Fills the table from *next on, as far as that can be done in pieces; *next is then the row where the plain loop continues,
 * or the end of the text. */
int broad__csv_fill_threads(broad__filling *work, const char **next);

#endif
