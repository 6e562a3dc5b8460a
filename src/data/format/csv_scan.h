/* Cells and rows of delimited text. */
#ifndef BROAD_DATA_FORMAT_CSV_SCAN_H
#define BROAD_DATA_FORMAT_CSV_SCAN_H

#include "data/format/csv.h"

typedef struct broad__cell {
    broad__text text;  /* without quotes and without blanks around it */
    int doubled;       /* it holds quotes written twice */
    int last;          /* of its row */
    const char *fault; /* what is wrong with its quotes; NULL if nothing */
} broad__cell;

/* Reads the cell at `at` and returns where the next one begins. `at` < csv->end, or an empty last cell is read. */
const char *broad__cell_read(broad__cell *out, const broad__csv *csv, const char *at);

/* Undoes doubled quotes; the text then lies in the arena. */
int broad__cell_undouble(broad__text *text, broad__arena *arena);

/* The start of the next row that is not blank, or csv->end. */
const char *broad__row_start(const broad__csv *csv, const char *at);

/* Cells from `at` to the end of the row; *next is the start of the following row. */
size_t broad__row_cells(const char **next, const broad__csv *csv, const char *at);

/* Newlines, quotation marks and zero bytes: fills in newline and chunks. */
int broad__csv_survey(broad__csv *csv);

/* Everything before `at` was gone through; *given_back says what of it is out of memory, if there is a limit. */
void broad__csv_passed(const broad__csv *csv, const char **given_back, const char *at);

/* Line of a place in the text, from 1. */
size_t broad__line_at(const broad__csv *csv, const char *at);

#endif
