/*
 * Decimal to binary. With the digits as a whole number m < 10^19 and value = m * 10^e:
 *   m <= 2^53, |e| <= 22   m and 10^|e| are doubles, one multiplication or division rounds once (Clinger 1990);
 *   |e| <= 64              m times the first 128 bits of 5^e, the first 128 bits of that: short of the truth by less than 2
 *                          in the last place, which almost never matters to the rounding (Eisel and Lemire 2021);
 *   |e| <= 27, if it does  5^|e| < 2^64: m * 5^e or m / 5^|e| in 128 bits, exact quotient and remainder, one rounding;
 *   otherwise              the C library's conversion in the "C" locale.
 */
#include "data/format/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/real_text.h"
#include "data/format/number_fast.h"
#include "data/format/number_powers.h"

__extension__ typedef unsigned __int128 uint128;

enum { DIGITS_MAX = 19, POWER_MAX = 27, LONGEST = 1024, EXPONENT_MAX = 99999 };

static const double power_of_10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t power_of_5[POWER_MAX + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* (top + something below one, if sticky) * 2^exponent, rounded to nearest, ties to even. top > 0; no result here comes
 * near the ends of the double range. */
static double round_once(uint64_t top, int sticky, int exponent)
{
    int shift = __builtin_clzll(top);
    top <<= shift;
    exponent += 11 - shift;
    uint64_t mantissa = top >> 11, rest = top & 0x7FF;
    if (rest > 0x400 || (rest == 0x400 && (sticky || (mantissa & 1)))) mantissa++;
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (double)mantissa * scale;
}

static double times_power(uint64_t m, int power)
{
    uint128 product = (uint128)m * power_of_5[power];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (!high) return round_once(low, 0, power);
    int shift = __builtin_clzll(high);
    if (shift) high = high << shift | low >> (64 - shift);
    return round_once(high, (low << shift) != 0, 64 - shift + power);
}

static double over_power(uint64_t m, int power)
{
    uint64_t divisor = power_of_5[power];
    int a = __builtin_clzll(m), b = __builtin_clzll(divisor);
    uint128 dividend = (uint128)(m << a) << 63;
    divisor <<= b;
    uint64_t quotient = (uint64_t)(dividend / divisor); /* 2^62 < quotient < 2^64 */
    return round_once(quotient, (uint64_t)dividend != quotient * divisor, b - a - 63 - power);
}

/* -1: too near to the middle between two doubles. m > 0; no result comes near the ends of the double range. */
static double times_first_bits(uint64_t m, int power)
{
    const uint64_t *five = broad__powers_of_5[power - BROAD__POWERS_FIRST];
    int zeros = __builtin_clzll(m);
    m <<= zeros;
    uint128 product = (uint128)m * five[0] + (uint64_t)((uint128)m * five[1] >> 64);
    int shift = !(product >> 127); /* the highest bit is one of the first two */
    product <<= shift;
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product, rest = high & 0x7FF;
    if ((rest == 0x400 && !low) || (rest == 0x3FF && low >= UINT64_MAX - 3)) return -1;
    uint64_t mantissa = (high >> 11) + (rest >> 10);
    int log = power * 152170 >> 16; /* floor(log2 5^power) */
    int exponent = 12 - shift - zeros + log + power;
    uint64_t made = ((uint64_t)(exponent + 1075) << 52) + (mantissa - ((uint64_t)1 << 52));
    double value;
    memcpy(&value, &made, sizeof value);
    return value;
}

/* The text from `at` to `end` is a well-formed number. */
static const char *library_value(double *out, const char *at, const char *end)
{
    char copy[LONGEST];
    size_t count = (size_t)(end - at);
    if (count >= sizeof copy) return NULL;
    memcpy(copy, at, count);
    copy[count] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return NULL;
    *out = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return end;
}

static size_t significant_digits(const char *at, const char *end)
{
    while (at < end && (*at == '0' || *at == '.')) at++;
    size_t count = 0;
    for (; at < end; at++) count += *at != '.';
    return count;
}

/* The exponent after 'e', if one is there; else `at` again. */
static const char *scan_exponent(int *out, const char *at, const char *end)
{
    const char *mark = at++;
    int negative = 0, value = 0;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    const char *digits = at;
    for (; at < end && (unsigned)(*at - '0') <= 9; at++)
        if (value < EXPONENT_MAX) value = 10 * value + (*at - '0');
    if (at == digits) return mark;
    *out = negative ? -value : value;
    return at;
}

static const char *scan_digits(uint64_t *m, const char *at, const char *end)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static const uint64_t power[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    while (end - at >= 8) {
        uint64_t t = broad__eight_load(at);
        unsigned count = broad__eight_count(broad__eight_others(t));
        if (count) *m = *m * power[count] + broad__eight_value(t, count);
        at += count;
        if (count < 8) return at;
    }
#endif
    for (; at < end && (unsigned)(*at - '0') <= 9; at++) *m = 10 * *m + (unsigned)(*at - '0');
    return at;
}

double broad__number_scaled(uint64_t m, long power)
{
    if (m <= (uint64_t)1 << 53 && power >= -22 && power <= 22)
        return power < 0 ? (double)m / power_of_10[-power] : (double)m * power_of_10[power];
    if (m == 0) return 0;
    if (power >= BROAD__POWERS_FIRST && power <= BROAD__POWERS_LAST) {
        double value = times_first_bits(m, (int)power);
        if (value >= 0) return value;
    }
    if (power >= 0 && power <= POWER_MAX) return times_power(m, (int)power);
    if (power < 0 && power >= -POWER_MAX) return over_power(m, (int)-power);
    return -1;
}

const char *broad__number_scan(double *out, const char *at, const char *end)
{
    const char *begin = at, *point = NULL;
    if (at == end) return NULL;
    int negative = *at == '-', exponent = 0;
    uint64_t m = 0;
    at += negative | (*at == '+');
    const char *first = at;
    at = scan_digits(&m, at, end);
    size_t digits = (size_t)(at - first);
    if (at < end && *at == '.') {
        point = ++at;
        at = scan_digits(&m, at, end);
        digits += (size_t)(at - point);
    }
    if (!digits) return NULL;
    const char *digits_end = at;
    if (at < end && (*at | 0x20) == 'e') at = scan_exponent(&exponent, at, end);
    if (digits > DIGITS_MAX && significant_digits(first, digits_end) > DIGITS_MAX) return library_value(out, begin, at);
    double value = broad__number_scaled(m, exponent - (point ? (long)(digits_end - point) : 0));
    if (value < 0) return library_value(out, begin, at);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= (uint64_t)negative << 63;
    memcpy(out, &bits, sizeof bits);
    return at;
}

static int is_word(broad__text cell, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == cell.count && strncasecmp(*words, cell.bytes, cell.count) == 0) return 1;
    return 0;
}

broad__number_kind broad__number_read(double *out, broad__text cell)
{
    static const char *const missing[] = {"na", "n/a", "nan",  "-nan", "+nan", "?", "null",
                                          "-",  "--",  "#n/a", "n.a.", "<na>", NULL};
    static const char *const infinite[] = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", NULL};
    cell = broad__text_trim(cell);
    if (!cell.count) return BROAD__NUMBER_MISSING;
    const char *end = cell.bytes + cell.count;
    if (broad__number_scan(out, cell.bytes, end) == end) return isinf(*out) ? BROAD__NUMBER_INFINITE : BROAD__NUMBER;
    if (is_word(cell, missing)) return BROAD__NUMBER_MISSING;
    if (is_word(cell, infinite)) return BROAD__NUMBER_INFINITE;
    return BROAD__NUMBER_TEXT;
}

void broad__number_print(char out[BROAD__NUMBER_BYTES], double value)
{
    if (value == 0) value = 0; /* no "-0" */
    if (fabs(value) < 1e15 && value == trunc(value)) {
        snprintf(out, BROAD__NUMBER_BYTES, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        double back = 0;
        snprintf(out, BROAD__NUMBER_BYTES, "%.*g", digits, value);
        broad__plain_point(out);
        if (broad__number_scan(&back, out, out + strlen(out)) && back == value) return;
    }
}
