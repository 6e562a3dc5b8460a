/*
 * What the columns of delimited text hold, where they are not simply numbers: text becomes categories, truth values and dates
 * become numbers, numbers may have a decimal comma or marks, and columns that only name their rows are left out.
 */
#ifndef BROAD_DATA_FORMAT_CSV_PROFILE_H
#define BROAD_DATA_FORMAT_CSV_PROFILE_H

#include "data/format/csv_scan.h"
#include "data/notes.h"
#include "data/roles.h"

/* Whether the first rows, or the names of the columns, call for a look at all of the text. */
int broad__csv_unusual(const broad__csv *csv, const broad__roles *roles);

/* Looks at all of it, sets formats and roles, and tells what was done. A model's columns keep their roles. */
int broad__csv_profile(broad__roles *roles, const broad__csv *csv, broad__notes *notes);

#endif
