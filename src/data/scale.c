#include "data/scale.h"

#include <math.h>

/* Columns at a time: their sums stay on the stack and a row's stretch of them is a few cache lines. */
enum { BLOCK = 32 };

/* Sums are kept in long double: they neither overflow for the largest doubles nor lose the digits that matter. */
typedef struct column_sums {
    long double sum, squares; /* squares: of the distances from the mean */
    double least, most;
    size_t count;
} column_sums;

static void gather(column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns)
{
    for (size_t j = 0; j < columns; j++) sums[j] = (column_sums){.least = INFINITY, .most = -INFINITY};
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            double value = x[i * stride + j];
            if (isnan(value)) continue;
            sums[j].sum += value;
            sums[j].count++;
            if (value < sums[j].least) sums[j].least = value;
            if (value > sums[j].most) sums[j].most = value;
        }
    }
}

static void gather_squares(column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns)
{
    long double mean[BLOCK];
    for (size_t j = 0; j < columns; j++) mean[j] = sums[j].count ? sums[j].sum / (long double)sums[j].count : 0;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            double value = x[i * stride + j];
            if (isnan(value)) continue;
            long double distance = value - mean[j];
            sums[j].squares += distance * distance;
        }
    }
}

static void scale_column(double *shift, double *factor, double *fill, broad_scale scale, const column_sums *sums)
{
    double mean = sums->count ? (double)(sums->sum / (long double)sums->count) : 0;
    if (fill) *fill = mean;
    *shift = 0;
    *factor = 1;
    if (scale == BROAD_SCALE_NONE || !sums->count) return;
    *shift = scale == BROAD_SCALE_STANDARD ? mean : sums->least;
    if (sums->least == sums->most) return;
    if (!isfinite(sums->most - sums->least)) { /* a difference of two values would overflow */
        *shift = 0;
        *factor = 1 / fmax(fabs(sums->least), fabs(sums->most));
        return;
    }
    long double spread = scale == BROAD_SCALE_STANDARD ? sqrtl(sums->squares / (long double)sums->count)
                                                       : (long double)sums->most - sums->least;
    double inverse = (double)(1 / spread);
    if (isfinite(inverse) && inverse > 0) *factor = inverse;
}

void broad__scale_fit(double *shift, double *factor, double *fill, broad_scale scale, const double *x, size_t rows,
                      size_t columns)
{
    column_sums sums[BLOCK];
    for (size_t first = 0; first < columns; first += BLOCK) {
        size_t width = columns - first < BLOCK ? columns - first : BLOCK;
        gather(sums, x + first, rows, columns, width);
        if (scale == BROAD_SCALE_STANDARD) gather_squares(sums, x + first, rows, columns, width);
        for (size_t j = 0; j < width; j++)
            scale_column(&shift[first + j], &factor[first + j], fill ? &fill[first + j] : NULL, scale, &sums[j]);
    }
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
