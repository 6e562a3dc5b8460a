/*
 * A double is m 2^-s with m < 2^53. For sizes from 1e-4 to 1e15, where %g writes no exponent, n digits of it are d = m 10^p / 2^s
 * rounded, with 10^p the power that leaves n digits before the point. m 10^p fits 128 bits, so d, and how far it is off, are
 * exact. d reads back as the same number where it is off by less than half the distance to the next double, which is
 * 10^p / 2 in the same units. Everything else goes to the C library, which is many times slower.
 */
#include "base/real_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { LEAST_DIGITS = 15, MOST_DIGITS = 17, MANTISSA = 52, LEAST_EXPONENT = -4 };

/* clang-format off */
static const double sizes[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
                               1e13, 1e14, 1e15};
/* clang-format on */

static const uint64_t TEN_10 = 10000000000;

static wide power(unsigned p)
{
    wide result = p >= 10 ? TEN_10 : 1;
    for (p -= p >= 10 ? 10 : 0; p >= 5; p -= 5) result *= 100000;
    for (; p; p--) result *= 10;
    return result;
}

/* d of the head of the file, to the nearest, ties to even; *same: it reads back as the same number. */
static uint64_t digits_of(int *same, uint64_t mantissa, unsigned shift, unsigned p)
{
    wide unit = power(p), whole = mantissa * unit;
    wide d = whole >> shift, rest = whole - (d << shift), half = (wide)1 << shift >> 1;
    int up = rest > half || (shift && rest == half && (d & 1));
    wide off = up ? ((wide)1 << shift) - rest : rest;
    *same = 2 * off < unit || (2 * off == unit && mantissa % 2 == 0);
    return (uint64_t)d + (uint64_t)up;
}

/* d / 10^p without the zeros at its end. */
static size_t put_fixed(char *out, uint64_t d, unsigned p)
{
    char text[24];
    size_t count = 0, length = 0;
    for (; p && d % 10 == 0; p--) d /= 10;
    do {
        text[count++] = (char)('0' + d % 10);
        d /= 10;
    } while (d || count <= p);
    while (count) {
        out[length++] = text[--count];
        if (count && count == p) out[length++] = '.';
    }
    return length;
}

/* 0: not a number that goes this way. */
static size_t fast_text(char *out, double size)
{
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    uint64_t mantissa = (bits & (((uint64_t)1 << MANTISSA) - 1)) | (uint64_t)1 << MANTISSA;
    int shift = 1023 + MANTISSA - (int)(bits >> MANTISSA), exponent = LEAST_EXPONENT;
    /* Below a power of two the next double is nearer. */
    if (!(size >= 1e-4 && size < 1e15) || mantissa == (uint64_t)1 << MANTISSA) return 0;
    while (size >= sizes[exponent + 1 - LEAST_EXPONENT]) exponent++;
    for (int digits = LEAST_DIGITS; digits <= MOST_DIGITS; digits++) {
        int same = 0;
        unsigned p = (unsigned)(digits - 1 - exponent);
        uint64_t d = digits_of(&same, mantissa, (unsigned)shift, p);
        if (same) return put_fixed(out, d, p);
    }
    return 0;
}

size_t broad__plain_point(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (strchr("0123456789+-einfa", *from)) *to++ = *from;
        else if (to == text || to[-1] != '.') *to++ = '.';
    }
    *to = 0;
    return (size_t)(to - text);
}

size_t broad__real_text(char out[BROAD__REAL_BYTES], double value)
{
    size_t sign = value < 0;
    out[0] = '-';
    size_t length = fast_text(out + sign, fabs(value));
    if (length) return sign + length;
    for (int digits = LEAST_DIGITS; digits <= MOST_DIGITS; digits++) {
        snprintf(out, BROAD__REAL_BYTES, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return broad__plain_point(out);
}
