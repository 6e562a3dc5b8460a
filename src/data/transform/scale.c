#include "data/transform/scale.h"

#include <math.h>

#include "base/memory.h"

/* Rows whose columns are added up before the next are looked at: they stay in the cache for the blocks of columns. */
enum { BLOCK = 32, ROWS = 128 };

static const size_t STEP = BROAD__SPILL_STEP;

/* Column by column, so that a sum stays in a register for all rows at hand. */
static void gather(broad__column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        broad__column_sums s = sums[j];
        for (size_t i = 0; i < rows; i++) {
            double value = x[i * stride + j];
            if (isnan(value)) continue;
            s.sum += value;
            s.count++;
            s.min = value < s.min ? value : s.min;
            s.max = value > s.max ? value : s.max;
        }
        sums[j] = s;
    }
}

static void gather_squares(broad__column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        long double squares = sums[j].squares, mean = sums[j].count ? sums[j].sum / (long double)sums[j].count : 0;
        for (size_t i = 0; i < rows; i++) {
            double value = x[i * stride + j];
            if (isnan(value)) continue;
            long double distance = value - mean;
            squares += distance * distance;
        }
        sums[j].squares = squares;
    }
}

void broad__scale_sums(broad__column_sums *out, int squares, const double *x, size_t rows, size_t columns,
                       broad__spill *spill)
{
    if (!columns) return;
    const size_t step = STEP / (columns * sizeof *x) + 1;
    for (size_t j = 0; j < columns; j++) out[j] = (broad__column_sums){.min = INFINITY, .max = -INFINITY};
    for (int pass = 0; pass < (squares ? 2 : 1); pass++)
        for (size_t first = 0, given_back = 0; first < rows; first += ROWS) {
            size_t count = rows - first < ROWS ? rows - first : ROWS, end = first + count;
            for (size_t j = 0; j < columns; j += BLOCK) {
                size_t width = columns - j < BLOCK ? columns - j : BLOCK;
                if (pass == 0) gather(out + j, x + first * columns + j, count, columns, width);
                else gather_squares(out + j, x + first * columns + j, count, columns, width);
            }
            if (end < rows && end - given_back < step) continue;
            broad__spill_done(spill, x + given_back * columns, (end - given_back) * columns * sizeof *x);
            given_back = end;
        }
}

void broad__scale_column(double *shift, double *factor, double *fill, broad_scale scale, const broad__column_sums *sums)
{
    double mean = sums->count ? (double)(sums->sum / (long double)sums->count) : 0;
    if (fill) *fill = mean;
    *shift = 0;
    *factor = 1;
    if (scale == BROAD_SCALE_NONE || !sums->count) return;
    *shift = scale == BROAD_SCALE_STANDARD ? mean : sums->min;
    if (sums->min == sums->max) return;
    if (!isfinite(sums->max - sums->min)) { /* a difference of two values would overflow */
        *shift = 0;
        *factor = 1 / fmax(fabs(sums->min), fabs(sums->max));
        return;
    }
    long double spread = scale == BROAD_SCALE_STANDARD ? sqrtl(sums->squares / (long double)sums->count)
                                                       : (long double)sums->max - sums->min;
    double inverse = (double)(1 / spread);
    if (isfinite(inverse) && inverse > 0) *factor = inverse;
}

int broad__scale_fit(double *shift, double *factor, double *fill, broad_scale scale, const double *x, size_t rows,
                     size_t columns, broad__spill *spill)
{
    broad__column_sums *sums = broad__alloc_array(columns, sizeof *sums);
    if (!sums) return BROAD_NO_MEMORY;
    broad__scale_sums(sums, scale == BROAD_SCALE_STANDARD, x, rows, columns, spill);
    for (size_t j = 0; j < columns; j++)
        broad__scale_column(&shift[j], &factor[j], fill ? &fill[j] : NULL, scale, &sums[j]);
    broad__free(sums);
    return BROAD_OK;
}

void broad__scale_apply(double *out, const double *x, size_t rows, size_t columns, size_t stride, const double *shift,
                        const double *factor, const double *fill)
{
    for (size_t i = 0; i < rows; i++) {
        const double *from = x + i * stride;
        double *to = out + i * columns;
        for (size_t j = 0; j < columns; j++) {
            double value = fill && isnan(from[j]) ? fill[j] : from[j];
            to[j] = (value - shift[j]) * factor[j];
        }
    }
}
