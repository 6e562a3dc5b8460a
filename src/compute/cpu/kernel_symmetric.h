/*
 * y += A v for a symmetric A of which the upper triangle is there: each number is read once, for its row and for its column, and
 * may be changed on the way.
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

/* A takes left right' + right left' off first; left NULL: it stays. */
typedef struct change {
    const double *left, *right;
} change;

/* Eight columns, or the last `count` of all, of `rows` rows: y += a'v of these rows, sums += a x. own, own_change: of the rows; x,
 * across: of the columns. */
INLINE void symmetric_eight(double *y, full sums[BAND][PARTS], double *a, size_t stride, const double *own,
                            const double *x, change own_change, change across, const size_t rows, size_t count,
                            const int whole, const int changed)
{
    UNROLL for (size_t p = 0; p < PARTS; p++)
    {
        size_t at = p * LANES, last = whole || count > at + LANES ? LANES : count > at ? count - at : 0;
        full right = full_load_end(x + at, last, whole), sum = full_load_end(y + at, last, whole);
        full lefts = full_spread(0), rights = full_spread(0);
        if (changed) {
            lefts = full_load_end(across.left + at, last, whole);
            rights = full_load_end(across.right + at, last, whole);
        }
        UNROLL for (size_t r = 0; r < rows; r++)
        {
            full numbers = full_load_end(a + r * stride + at, last, whole);
            if (changed) {
                numbers = full_fma(full_spread(-own_change.left[r]), rights, numbers);
                numbers = full_fma(full_spread(-own_change.right[r]), lefts, numbers);
                full_finish(a + r * stride + at, numbers, last, whole);
            }
            sums[r][p] = full_fma(numbers, right, sums[r][p]);
            sum = full_fma(numbers, full_spread(own[r]), sum);
        }
        full_finish(y + at, sum, last, whole);
    }
}

/* `rows` rows from the diagonal on, n columns. */
INLINE void symmetric_band(double *y, double *a, size_t stride, const double *v, change c, const size_t rows, size_t n,
                           const int changed)
{
    full sums[BAND][PARTS];
    UNROLL for (size_t r = 0; r < rows; r++)
    {
        UNROLL for (size_t p = 0; p < PARTS; p++) sums[r][p] = full_spread(0);
        for (size_t j = r; j < rows; j++) {
            if (changed) a[r * stride + j] -= c.left[r] * c.right[j] + c.right[r] * c.left[j];
            y[r] += a[r * stride + j] * v[j];
            if (j > r) y[j] += a[r * stride + j] * v[r];
        }
    }
    size_t j = rows;
    change across = {changed ? c.left + j : NULL, changed ? c.right + j : NULL};
    for (; j + EIGHT <= n; j += EIGHT) {
        symmetric_eight(y + j, sums, a + j, stride, v, v + j, c, across, rows, EIGHT, 1, changed);
        if (changed) across = (change){across.left + EIGHT, across.right + EIGHT};
    }
    if (j < n) symmetric_eight(y + j, sums, a + j, stride, v, v + j, c, across, rows, n - j, 0, changed);
    UNROLL for (size_t r = 0; r < rows; r++) y[r] += sum_eight(sums[r]);
}

INLINE void symmetric_all(double *y, double *a, size_t stride, const double *v, change c, size_t n, const int changed)
{
    size_t i = 0;
    for (; i + BAND <= n; i += BAND) {
        change here = {changed ? c.left + i : NULL, changed ? c.right + i : NULL};
        symmetric_band(y + i, a + i * stride + i, stride, v + i, here, BAND, n - i, changed);
    }
    for (; i < n; i++) {
        change here = {changed ? c.left + i : NULL, changed ? c.right + i : NULL};
        symmetric_band(y + i, a + i * stride + i, stride, v + i, here, 1, n - i, changed);
    }
}

OUTLINE void kernel_symmetric(double *y, const double *a, size_t stride, const double *v, size_t n)
{
    symmetric_all(y, (double *)a, stride, v, (change){NULL, NULL}, n, 0); /* which is not changed */
}

OUTLINE void kernel_symmetric_changed(double *y, double *a, size_t stride, const double *v, const double *left,
                                      const double *right, size_t n)
{
    symmetric_all(y, a, stride, v, (change){left, right}, n, 1);
}

#endif
