/*
 * The fast loop over rows without quotation marks; the body of broad__csv_fill_rows(), compiled once per instruction set
 * (csv_rows.c, csv_rows_avx2.c). The ends of cells are found first, for some kilobytes of text and many bytes at a time, so
 * that reading a number need not wait for the end of the previous one.
 */
#ifndef BROAD_DATA_FORMAT_CSV_ROWS_BODY_H
#define BROAD_DATA_FORMAT_CSV_ROWS_BODY_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "data/format/csv_rows.h"
#include "data/format/number_fast.h"

enum { AHEAD = 1 << 14, WORD = 64 }; /* bytes of text that are searched at once */

/* The bits of the bytes in `at` ... at + WORD - 1 that end a cell. */
static inline uint64_t ends_in(const char *at, char separator, char newline)
{
    uint64_t found = 0;
#if defined(__AVX2__)
    const __m256i separators = _mm256_set1_epi8(separator), newlines = _mm256_set1_epi8(newline);
    for (unsigned i = 0; i < WORD; i += 32) {
        __m256i now = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        __m256i equal = _mm256_or_si256(_mm256_cmpeq_epi8(now, separators), _mm256_cmpeq_epi8(now, newlines));
        found |= (uint64_t)(unsigned)_mm256_movemask_epi8(equal) << i;
    }
#elif defined(__SSE2__)
    const __m128i separators = _mm_set1_epi8(separator), newlines = _mm_set1_epi8(newline);
    for (unsigned i = 0; i < WORD; i += 16) {
        __m128i now = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i equal = _mm_or_si128(_mm_cmpeq_epi8(now, separators), _mm_cmpeq_epi8(now, newlines));
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(equal) << i;
    }
#else
    for (unsigned i = 0; i < WORD; i++) found |= (uint64_t)(at[i] == separator || at[i] == newline) << i;
#endif
    return found;
}

/* Distances from `from` of what ends a cell in the `count` bytes there; returns how many. `out` needs 8 elements more than that. */
static inline size_t find_ends(uint32_t *out, const char *from, size_t count, char separator, char newline)
{
    size_t have = 0, at = 0;
    for (; at + WORD <= count; at += WORD) {
        uint64_t found = ends_in(from + at, separator, newline);
        /* Eight at a time, even if there are fewer: their number cannot be predicted by the processor. */
        for (size_t left = (size_t)__builtin_popcountll(found), done = 0; done < left; done += 8) {
            for (unsigned k = 0; k < 8; k++, found &= found - 1)
                out[have + done + k] = (uint32_t)at + (uint32_t)(found ? __builtin_ctzll(found) : 0);
            if (left <= done + 8) have += left;
        }
    }
    for (; at < count; at++)
        if (from[at] == separator || from[at] == newline) out[have++] = (uint32_t)at;
    return have;
}

#ifdef __AVX2__

/* For a point at index p of sixteen characters, or none (16): the shuffle that moves the digits before it one byte on. */
static const unsigned char without_point[17][16] = {
    /* clang-format off */
    {128, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {128, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {128, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {128, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {128, 0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {128, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {128, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {128, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15},
    {128, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15}, {128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15},
    {128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15}, {128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15},
    {128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15}, {128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15},
    {128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15}, {128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    /* clang-format on */
};
static const double point_divisor[17] = {1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8, 1e7,
                                         1e6,  1e5,  1e4,  1e3,  1e2,  1e1,  1e0, 1e0};
static const double point_factor[17] = {1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7,
                                        1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,  1e0};
static const signed char last_bytes[32] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                           -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/* m / point_divisor[index], to the last bit, and faster than a division. With the rounded reciprocal y of b and a
 * quotient q that is one of the two doubles around m / b, q + (m - qb) y rounds to the quotient (Markstein 1990). The first
 * step makes q so from m y, which may be a unit further away. */
static inline double divided(double m, unsigned index)
{
    double b = point_divisor[index], y = point_factor[index], q = m * y;
    q = __builtin_fma(__builtin_fma(-q, b, m), y, q);
    return __builtin_fma(__builtin_fma(-q, b, m), y, q);
}

/* The number that sixteen digits make. */
static inline uint64_t sixteen_value(__m128i digits)
{
    /* Pairs of digits, then of pairs, then of fours: two numbers of eight digits. */
    __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010A));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    return (both & 0xFFFFFFFF) * 100000000 + (both >> 32);
}

/* One to three digits and a point, followed by sixteen digits, `digits`; less than 0: it is not such a number. */
static inline double number_long(const char *at, size_t count, __m128i digits)
{
    uint64_t t = broad__eight_load(at);
    size_t whole = broad__eight_count(broad__eight_others(t)), lead = count - 16;
    if (!whole || whole >= lead || at[whole] != '.') return -1;
    uint64_t before = ((uint64_t)1 << 8 * whole) - 1;
    t = (t & before) | (t >> 8 & ~before);
    if (broad__eight_count(broad__eight_others(t)) < lead - 1) return -1;
    uint64_t m = broad__eight_value(t, (unsigned)lead - 1) * 10000000000000000u + sixteen_value(digits);
    return broad__number_scaled(m, -(long)(count - 1 - whole));
}

/* The number that fills all of at ... end - 1, in at most sixteen characters without its sign, or some more if the last sixteen
 * are digits; 0: it is not such a number. The sixteen bytes before `end` are readable. */
static inline int number_ended(double *out, const char *at, const char *end)
{
    uint64_t negative = *at == '-';
    at += negative;
    size_t count = (size_t)(end - at);
    if (count - 1 >= 20) return 0;
    __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(end - 16));
    __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    unsigned mine = count < 16 ? 0xFFFFu << (16 - count) & 0xFFFF : 0xFFFF;
    unsigned point = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.'))) & mine;
    unsigned good = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits)) & mine;
    if ((good | point) != mine || (point & (point - 1)) || !good) return 0;
    double value;
    if (count <= 16) {
        unsigned index = (unsigned)__builtin_ctz(point | 0x10000);
        digits = _mm_and_si128(digits, _mm_loadu_si128((const __m128i *)(const void *)(last_bytes + count)));
        digits = _mm_shuffle_epi8(digits, _mm_loadu_si128((const __m128i *)(const void *)without_point[index]));
        uint64_t m = sixteen_value(digits);
        if (m > (uint64_t)1 << 53) return 0;
        value = divided((double)(int64_t)m, index);
    } else {
        value = point ? -1 : number_long(at, count, digits);
        if (value < 0) return 0;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= negative << 63;
    memcpy(out, &bits, sizeof bits);
    return 1;
}

#else

static inline int number_ended(double *out, const char *at, const char *end)
{
    (void)out, (void)at, (void)end;
    return 0;
}

#endif

/* One row whose cells end at from + ends[0], ...; 0: their number is not that of the other rows, or a cell has a fault. */
static inline int fill_ended(broad__filler *f, const char *at, const char *from, const uint32_t *ends, size_t row)
{
    const broad__csv_column *columns = f->work->columns;
    const size_t count = f->work->csv->columns;
    const char newline = f->work->csv->newline;
    const char *safe = f->work->csv->end - BROAD__NUMBER_AHEAD;
    f->row = at;
    for (size_t c = 0; c < count; c++) {
        const char *end = from + ends[c], *stop = end;
        double *to = columns[c].first ? columns[c].first + row * columns[c].stride : NULL;
        if ((*end == newline) != (c + 1 == count)) return 0;
        if (c + 1 == count && end > at && end[-1] == '\r') stop--;
        int read = to && (number_ended(to, at, stop) || (at < safe && broad__number_fast(to, at) == stop));
        if (!read) {
            int last;
            if (broad__csv_fill_cell(f, &at, &last, row, c) < 0 || at != end + 1) return 0;
        }
        at = end + 1;
    }
    return 1;
}

static inline size_t fill_rows(broad__filler *f, const char **next, const char *to, size_t first, size_t max)
{
    uint32_t ends[AHEAD + 8];
    broad__csv here = *f->work->csv;
    const char *at = *next, *from = at, *end = here.end;
    size_t have = 0, used = 0, rows = 0;
    here.end = to;
    for (; at < to; rows++) {
        if ((unsigned char)*at <= '#') { /* a blank line, or a comment */
            at = broad__row_start(&here, at);
            while (used < have && from + ends[used] < at) used++;
            if (at >= to) break;
        }
        if (rows == max) break;
        if (have - used < here.columns) {
            from = at;
            have = find_ends(ends, from, (size_t)(end - at) < AHEAD ? (size_t)(end - at) : AHEAD, here.separator,
                             here.newline);
            used = 0;
        }
        if (have < here.columns || at - here.begin < 16) { /* a long row, the last one, or the very first */
            have = 0;
            if (broad__csv_fill_row(f, &at, first + rows) < 0) break;
            continue;
        }
        if (!fill_ended(f, at, from, ends + used, first + rows)) break;
        used += here.columns;
        at = from + ends[used - 1] + 1;
    }
    *next = at;
    return rows;
}

#endif
