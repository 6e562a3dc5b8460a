#include "metric/spread.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "metric/calibration.h"

#define ROWS_PER_KNOT 50
#define KNOTS_LEAST 3
#define SCALE_LEAST 0.05 /* of the mean size */
#define JUDGED_LEVEL 0.9
#define GAIN_LEAST 0.02
#define LIMIT_ROWS 20
#define NEAR_LIMIT 0.99

size_t broad__spread_knots(size_t rows)
{
    size_t knots = rows / ROWS_PER_KNOT;
    if (knots < KNOTS_LEAST) return 0;
    return knots < BROAD__SPREAD_MOST ? knots : BROAD__SPREAD_MOST;
}

double broad__spread_at(const double *spread, size_t count, double value)
{
    const double *scales = spread + count;
    size_t k = 0;
    if (!count) return 1;
    while (k < count && !(value < spread[k])) k++;
    if (k == 0) return scales[0];
    if (k == count) return scales[count - 1];
    /* Halves: the difference of two finite numbers may be none. */
    double part = (value / 2 - spread[k - 1] / 2) / (spread[k] / 2 - spread[k - 1] / 2);
    return scales[k - 1] + part * (scales[k] - scales[k - 1]);
}

/* ---- fitting --------------------------------------------------------------------------------------------------- */

typedef struct point {
    double score, size;
} point;

typedef struct bins {
    point *points; /* by score */
    size_t rows, count;
    double floor;                    /* no scale is smaller */
    double sums[BROAD__SPREAD_MOST]; /* of the sizes of each bin */
    size_t rows_of[BROAD__SPREAD_MOST];
} bins;

static int compare_points(const void *a, const void *b)
{
    const point *one = a, *other = b;
    if (one->score != other->score) return one->score < other->score ? -1 : 1;
    return (one->size > other->size) - (one->size < other->size);
}

static size_t bin_of(const bins *b, size_t i) { return i * b->count / b->rows; }

/* Points, knots and the scales before they are divided by their mean. */
static void fill_bins(bins *b, double *spread, const double *sizes, const double *scores, size_t stride)
{
    double all = 0;
    for (size_t i = 0; i < b->rows; i++) b->points[i] = (point){scores[i * stride], sizes[i]};
    qsort(b->points, b->rows, sizeof *b->points, compare_points);
    for (size_t k = 0; k < 2 * b->count; k++) spread[k] = 0;
    for (size_t i = 0; i < b->rows; i++) b->rows_of[bin_of(b, i)]++;
    for (size_t i = 0; i < b->rows; i++) {
        size_t k = bin_of(b, i);
        spread[k] += b->points[i].score / (double)b->rows_of[k];
        b->sums[k] += b->points[i].size;
        all += b->points[i].size / (double)b->rows;
    }
    b->floor = SCALE_LEAST * all;
    for (size_t k = 0; k < b->count; k++) spread[b->count + k] = fmax(b->sums[k] / (double)b->rows_of[k], b->floor);
}

/* For each point its size over the scale that the other points give it. */
static void divide(double *out, const bins *b, double *spread)
{
    double mean = 0, *scales = spread + b->count;
    for (size_t i = 0; i < b->rows; i++)
        mean += broad__spread_at(spread, b->count, b->points[i].score) / (double)b->rows;
    for (size_t k = 0; k < b->count; k++) scales[k] /= mean;
    for (size_t i = 0; i < b->rows; i++) {
        size_t k = bin_of(b, i);
        const point *p = &b->points[i];
        double with = scales[k], others = (b->sums[k] - p->size) / (double)(b->rows_of[k] - 1);
        scales[k] = fmax(others, b->floor) / mean;
        out[i] = p->size / broad__spread_at(spread, b->count, p->score);
        scales[k] = with;
    }
}

/* Half of the width that holds the judged part of them, in the mean; sorts. */
static double reach_of(double *sizes, size_t rows)
{
    double reach = 0;
    broad__order_statistics(sizes, rows, rows);
    (void)broad__jackknife(&reach, sizes, rows, rows, JUDGED_LEVEL); /* there are rows enough */
    return reach;
}

int broad__spread_fit(int *taken, double *out, double *sizes, const double *scores, size_t stride, size_t rows)
{
    bins b = {.rows = rows, .count = broad__spread_knots(rows)};
    *taken = 0;
    if (!b.count) return BROAD_OK;
    double *quotients = broad__alloc_doubles(rows, 1);
    b.points = broad__alloc_array(rows, sizeof *b.points);
    int status = quotients && b.points ? BROAD_OK : BROAD_NO_MEMORY;
    if (!status) {
        fill_bins(&b, out, sizes, scores, stride);
        if (b.floor > 0 && isfinite(b.floor)) {
            divide(quotients, &b, out);
            double least = fmax(GAIN_LEAST, 1 / sqrt((double)rows));
            *taken = reach_of(quotients, rows) < (1 - least) * reach_of(sizes, rows);
        }
        for (size_t i = 0; *taken && i < rows; i++) sizes[i] = quotients[i];
        for (size_t k = 0; !*taken && k < b.count; k++) out[b.count + k] = 1;
    }
    broad__free(quotients);
    broad__free(b.points);
    return status;
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

void broad__limits_of(double *out, double least, double most, size_t rows)
{
    out[0] = -DBL_MAX;
    out[1] = DBL_MAX;
    if (rows < LIMIT_ROWS || least != 0) return;
    out[0] = 0;
    static const double known[] = {1, 100};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (most >= NEAR_LIMIT * known[i] && most <= known[i]) out[1] = known[i];
}
