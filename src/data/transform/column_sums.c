#include "data/transform/column_sums.h"

#include <math.h>

#include "base/watch.h"

/* Rows that stay in the cache while their columns are summed, a block of columns at a time. */
enum { BLOCK = 32, ROWS = 128 };

static const size_t STEP = BROAD__SPILL_STEP;

/* Column by column, so that a sum stays in a register for all these rows. */
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

/* Sums (pass 0) or squares (pass 1) of `count` rows, some columns at a time. */
static void gather_rows(broad__column_sums *out, const double *x, size_t count, size_t columns, int pass)
{
    for (size_t j = 0; j < columns; j += BLOCK) {
        size_t width = columns - j < BLOCK ? columns - j : BLOCK;
        if (pass == 0) gather(out + j, x + j, count, columns, width);
        else gather_squares(out + j, x + j, count, columns, width);
    }
}

void broad__column_sums_of(broad__column_sums *out, const broad__column_rows *r, int squares)
{
    const double *x = r->x;
    size_t rows = r->rows, columns = r->columns;
    if (!columns) return;
    const size_t step = STEP / (columns * sizeof *x) + 1;
    for (size_t j = 0; j < columns; j++) out[j] = (broad__column_sums){.min = INFINITY, .max = -INFINITY};
    for (int pass = 0; pass < (squares ? 2 : 1); pass++)
        for (size_t first = 0, released = 0; first < rows && !broad__watch_look(10.0 * ROWS * (double)columns);
             first += ROWS) {
            size_t count = rows - first < ROWS ? rows - first : ROWS, end = first + count;
            gather_rows(out, x + first * columns, count, columns, pass);
            if (end < rows && end - released < step) continue;
            broad__spill_done(r->spill, x + released * columns, (end - released) * columns * sizeof *x);
            released = end;
        }
}

double broad__column_mean(const broad__column_sums *sums)
{
    return sums->count ? (double)(sums->sum / (long double)sums->count) : 0;
}

long double broad__column_spread(broad_scale how, const broad__column_sums *sums)
{
    if (!sums->count || sums->min == sums->max) return 0;
    long double spread = how == BROAD_SCALE_STANDARD ? sqrtl(sums->squares / (long double)sums->count)
                                                     : (long double)sums->max - sums->min;
    return isfinite((double)(1 / spread)) ? spread : 0;
}

void broad__column_scale(double *shift, double *factor, broad_scale how, const broad__column_sums *sums)
{
    *shift = 0;
    *factor = 1;
    if (how == BROAD_SCALE_NONE || !sums->count) return;
    if (!isfinite(sums->max - sums->min)) { /* a difference of two values would overflow */
        *factor = 1 / fmax(fabs(sums->min), fabs(sums->max));
        return;
    }
    long double spread = broad__column_spread(how, sums);
    *shift = how == BROAD_SCALE_STANDARD ? broad__column_mean(sums) : sums->min;
    if (spread > 0) *factor = (double)(1 / spread);
}
