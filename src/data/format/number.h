/* Numbers in text: exact to the last bit and the same in every locale. */
#ifndef BROAD_DATA_FORMAT_NUMBER_H
#define BROAD_DATA_FORMAT_NUMBER_H

#include <stdint.h>

#include "data/text.h"

typedef enum broad__number_kind {
    BROAD__NUMBER,
    BROAD__NUMBER_MISSING,  /* empty, NA, N/A, n.a., #N/A, NaN, ?, -, null, in any case */
    BROAD__NUMBER_INFINITE, /* inf, infinity, or beyond the largest double */
    BROAD__NUMBER_TEXT
} broad__number_kind;

/* Reads the decimal number at `at`: [+-] digits [. digits] [e [+-] digits]. Returns where it ends, or NULL if none
 * begins there. Too large gives an infinity, too small gives 0. */
const char *broad__number_scan(double *out, const char *at, const char *end);

/* m * 10^power, or -1 where that needs the library. */
double broad__number_scaled(uint64_t m, long power);

/* What a whole cell is; blanks around it do not count. */
broad__number_kind broad__number_read(double *out, broad__text cell);

enum { BROAD__NUMBER_BYTES = 32 };

/* The shortest text that reads back as the same number; whole numbers without exponent: "3", "0.1", "1e+300". */
void broad__number_print(char out[BROAD__NUMBER_BYTES], double value);

#endif
