/* The numbers that tables are full of, without a call and almost without a branch: [-] digits [. digits]. */
#ifndef BROAD_DATA_FORMAT_NUMBER_FAST_H
#define BROAD_DATA_FORMAT_NUMBER_FAST_H

#include <stdint.h>
#include <string.h>

#include "data/format/number.h"

enum { BROAD__NUMBER_AHEAD = 32 }; /* bytes that must be readable */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Eight characters; digits become 0 ... 9, everything else is larger. */
static inline uint64_t broad__eight_load(const char *at)
{
    uint64_t t;
    memcpy(&t, at, sizeof t);
    return t ^ 0x3030303030303030u;
}

/* The top bit of each byte that is above 9. */
static inline uint64_t broad__eight_others(uint64_t t)
{
    return (((t & 0x7F7F7F7F7F7F7F7Fu) + 0x7676767676767676u) | t) & 0x8080808080808080u;
}

static inline unsigned broad__eight_count(uint64_t others)
{
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* The number that the first `count` digits make, 1 ... 8 of them. */
static inline uint64_t broad__eight_value(uint64_t t, unsigned count)
{
    t <<= 64 - 8 * count; /* zeros in front of the digits */
    t = 10 * t + (t >> 8);
    return ((t & 0x000000FF000000FFu) * 0x000F424000000064u +
            ((t >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
           32;
}

/* As broad__number_scan(), or NULL where that has to be asked: for exponents, more than 19 digits and other rarities. */
static inline const char *broad__number_fast(double *out, const char *at)
{
    static const uint64_t power[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    static const double divisor[20] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    uint64_t negative = *at == '-';
    at += negative;
    uint64_t t = broad__eight_load(at), others = broad__eight_others(t), m;
    unsigned whole = broad__eight_count(others), fraction = 0;
    if (whole == 0 || whole == 8) return NULL;
    if (at[whole] == '.') {
        /* Without the point, and with the character after these eight. */
        uint64_t before = ((uint64_t)1 << 8 * whole) - 1, next = (uint64_t)(unsigned char)(at[8] ^ 0x30) << 56;
        t = (t & before) | ((t >> 8 | next) & ~before);
        unsigned count = broad__eight_count(broad__eight_others(t));
        m = broad__eight_value(t, count);
        fraction = count - whole;
        at += count + 1;
        while (count == 8) {
            t = broad__eight_load(at);
            count = broad__eight_count(broad__eight_others(t));
            if (!count) break;
            if (whole + fraction + count > 19) return NULL;
            m = m * power[count] + broad__eight_value(t, count);
            fraction += count;
            at += count;
        }
    } else {
        m = broad__eight_value(t, whole);
        at += whole;
    }
    double value = m <= (uint64_t)1 << 53 ? (double)m / divisor[fraction] : broad__number_scaled(m, -(int)fraction);
    if (value < 0) return NULL;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= negative << 63;
    memcpy(out, &bits, sizeof bits);
    return at;
}

#else

static inline const char *broad__number_fast(double *out, const char *at)
{
    (void)out, (void)at;
    return NULL;
}

#endif

#endif
