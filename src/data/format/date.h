/* Dates and times in text as numbers: days since 1970-01-01, the time of day as a fraction. */
#ifndef BROAD_DATA_FORMAT_DATE_H
#define BROAD_DATA_FORMAT_DATE_H

#include "data/text.h"

typedef enum broad__date_kind {
    BROAD__DATE_NONE,
    BROAD__DATE_SURE,
    BROAD__DATE_EITHER /* it is written with slashes or dashes and the year last: which of the two orders counts */
} broad__date_kind;

/*
 * 2024-12-31 or 2024/12/31 (ISO 8601), 31.12.2024 (day first), 31/12/2024 or 12-31-2024 (in the order said), years also of two
 * digits where they come last; then, after "T" or a blank, 23:59, 23:59:30.5 or 11:59 PM, and Z or +01:00, which is
 * subtracted. A time alone is a fraction of a day.
 */
broad__date_kind broad__date_read(double *out, broad__text text, int month_first);

#endif
