/*
 * Cells as people write them, as numbers: with a decimal comma, with marks between thousands, with a percent sign or a
 * currency, truth values, dates. Which of these a column holds is found once for all of it (csv_profile.h).
 */
#ifndef BROAD_DATA_FORMAT_CELL_H
#define BROAD_DATA_FORMAT_CELL_H

#include "data/form.h"
#include "data/format/number.h"

/* How to read the cells of one column; zeroed: plain numbers. */
typedef struct broad__cell_format {
    broad__form form;
    char decimal; /* '.' or ',': numbers may have marks, and this begins the fraction; 0: they are plain */
} broad__cell_format;

int broad__cell_format_plain(broad__cell_format format);
/* As a model remembers it, and back. */
broad__form broad__cell_format_form(broad__cell_format format);
broad__cell_format broad__cell_format_of(broad__form form);

/* The value of a cell. In columns of numbers further words stand for a missing value, such as "none" and "-". */
broad__number_kind broad__cell_value(double *out, broad__text cell, broad__cell_format format);

/* What a cell may be. */
typedef enum broad__cell_sign {
    BROAD__CELL_PLAIN = 1,         /* a plain number */
    BROAD__CELL_COMMA = 2,         /* a number with marks and a decimal comma */
    BROAD__CELL_POINT = 4,         /* ... and a decimal point */
    BROAD__CELL_GROUPED_POINT = 8, /* a plain number whose point may stand between thousands: 1.234 */
    BROAD__CELL_TRUTH = 16,        /* a truth value, or 0 or 1 */
    BROAD__CELL_DAY_FIRST = 32,    /* a date, if the day stands before the month */
    BROAD__CELL_MONTH_FIRST = 64,  /* ... if it stands after it; most dates are both */
    BROAD__CELL_EITHER_ORDER = 128 /* a date, but which one depends on the order */
} broad__cell_sign;

/* The signs of a cell that is not missing; 0: it is text. */
unsigned broad__cell_look(broad__text cell);

/* Whether it is missing where numbers are expected. */
int broad__cell_missing(broad__text cell);

#endif
