/*
 * y += A v for a symmetric A of which the upper triangle is there: each number is read once, for its row and for its column.
 * What a row gives y[i] is added up in EIGHT sums, of every eighth column, whatever the width of a vector; what rows above
 * give it, one after the other.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_SYMMETRIC_H
#define BROAD_COMPUTE_CPU_KERNEL_SYMMETRIC_H

#include "compute/cpu/kernel_tile.h"

/* BAND: rows taken together */
enum { EIGHT = 8, PARTS = EIGHT / LANES, BAND = 4 };

INLINE double sum_eight(const full sums[PARTS])
{
    double s[EIGHT];
    memcpy(s, sums, sizeof s);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Eight columns, or the last `count` of all, of `rows` rows: y += a'v of these rows, sums += a x. */
INLINE void symmetric_eight(double *y, full sums[BAND][PARTS], const double *a, size_t stride, const double *own,
                            const double *x, const size_t rows, size_t count, const int whole)
{
    UNROLL for (size_t p = 0; p < PARTS; p++)
    {
        size_t at = p * LANES, last = whole || count > at + LANES ? LANES : count > at ? count - at : 0;
        full right = full_load_end(x + at, last, whole), sum = full_load_end(y + at, last, whole);
        UNROLL for (size_t r = 0; r < rows; r++)
        {
            full numbers = full_load_end(a + r * stride + at, last, whole);
            sums[r][p] = full_fma(numbers, right, sums[r][p]);
            sum = full_fma(numbers, full_spread(own[r]), sum);
        }
        full_finish(y + at, sum, last, whole);
    }
}

/* `rows` rows from the diagonal on, n columns. */
INLINE void symmetric_band(double *y, const double *a, size_t stride, const double *v, const size_t rows, size_t n)
{
    full sums[BAND][PARTS];
    UNROLL for (size_t r = 0; r < rows; r++)
    {
        UNROLL for (size_t p = 0; p < PARTS; p++) sums[r][p] = full_spread(0);
        for (size_t j = r; j < rows; j++) {
            y[r] += a[r * stride + j] * v[j];
            if (j > r) y[j] += a[r * stride + j] * v[r];
        }
    }
    size_t j = rows;
    for (; j + EIGHT <= n; j += EIGHT) symmetric_eight(y + j, sums, a + j, stride, v, v + j, rows, EIGHT, 1);
    if (j < n) symmetric_eight(y + j, sums, a + j, stride, v, v + j, rows, n - j, 0);
    UNROLL for (size_t r = 0; r < rows; r++) y[r] += sum_eight(sums[r]);
}

OUTLINE void kernel_symmetric(double *y, const double *a, size_t stride, const double *v, size_t n)
{
    size_t i = 0;
    for (; i + BAND <= n; i += BAND) symmetric_band(y + i, a + i * stride + i, stride, v + i, BAND, n - i);
    for (; i < n; i++) symmetric_band(y + i, a + i * stride + i, stride, v + i, 1, n - i);
}

#endif
