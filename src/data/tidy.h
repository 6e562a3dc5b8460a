/* What is said about a table once it has been read: missing values, copies of rows, labels that look alike. */
#ifndef BROAD_DATA_TIDY_H
#define BROAD_DATA_TIDY_H

#include "data/parsed.h"
#include "data/roles.h"

/* Tells how many values are missing, and where. */
int broad__tidy_missing(broad__notes *notes, const broad__parsed *parsed, const broad__roles *roles,
                        const broad__layout *layout);

/* Groups copies of rows and, unless `silent`, tells of them. */
int broad__tidy_copies(broad_data *table, int silent);

/* Tells of classes whose names differ only in capitals or blanks, or that are 1 and yes. */
int broad__tidy_labels(broad__notes *notes, char *const *names, size_t count);

#endif
