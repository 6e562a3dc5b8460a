#include "data/transform/scale.h"

#include <math.h>

#include "base/memory.h"

static int ranked(broad_scale how) { return how == BROAD_SCALE_RANK || how == BROAD_SCALE_BOTH; }

size_t broad__scaling_columns(broad_scale how, size_t inputs) { return how == BROAD_SCALE_BOTH ? 2 * inputs : inputs; }

size_t broad__scaling_knots(broad_scale how, size_t inputs) { return ranked(how) ? 2 * BROAD__KNOTS * inputs : 0; }

/* All columns alike, to [0, 1]; untouched where all values are one. */
static void fit_whole(const broad__scaling_arrays *out, const broad__column_sums *sums, size_t inputs)
{
    broad__column_sums whole = {.min = INFINITY, .max = -INFINITY};
    for (size_t j = 0; j < inputs; j++) {
        whole.count += sums[j].count;
        whole.min = sums[j].min < whole.min ? sums[j].min : whole.min;
        whole.max = sums[j].max > whole.max ? sums[j].max : whole.max;
    }
    if (!broad__column_spread(BROAD_SCALE_MINMAX, &whole)) return;
    for (size_t j = 0; j < inputs; j++)
        broad__column_scale(&out->shift[j], &out->factor[j], BROAD_SCALE_MINMAX, &whole);
}

int broad__scaling_fit(const broad__scaling_arrays *out, broad_scale how, const broad__column_rows *rows)
{
    size_t inputs = rows->columns;
    if (!inputs) return BROAD_OK;
    broad_scale plain = ranked(how) ? BROAD_SCALE_STANDARD : how == BROAD_SCALE_WHOLE ? BROAD_SCALE_NONE : how;
    broad__column_sums *sums = broad__alloc_array(inputs, sizeof *sums);
    if (!sums) return BROAD_NO_MEMORY;
    broad__column_sums_of(sums, rows, plain == BROAD_SCALE_STANDARD);
    for (size_t j = 0; j < inputs; j++) {
        broad__column_scale(&out->shift[j], &out->factor[j], plain, &sums[j]);
        if (out->fill) out->fill[j] = broad__column_mean(&sums[j]);
    }
    if (how == BROAD_SCALE_WHOLE) fit_whole(out, sums, inputs);
    int status = BROAD_OK;
    if (ranked(how)) {
        size_t first = how == BROAD_SCALE_BOTH ? inputs : 0;
        broad__rank_task task = {.rows = *rows, .sums = sums, .knots = out->knots, .fill = out->fill};
        status = broad__rank_fit(out->shift + first, out->factor + first, &task);
    }
    broad__free(sums);
    return status;
}

/* Finite for every value, so that what is computed from it is. */
static inline double scaled(double value, double shift, double factor)
{
    double at = (value - shift) * factor;
    at = at < BROAD__SCALED_MOST ? at : BROAD__SCALED_MOST; /* and where infinity met a factor of 0 */
    return at > -BROAD__SCALED_MOST ? at : -BROAD__SCALED_MOST;
}

static void apply_plain(double *out, const broad__scaling *s, const double *x, size_t rows, size_t stride)
{
    for (size_t i = 0; i < rows; i++) {
        const double *from = x + i * stride;
        double *to = out + i * s->inputs;
        for (size_t j = 0; j < s->inputs; j++) {
            double value = s->fill && isnan(from[j]) ? s->fill[j] : from[j];
            to[j] = scaled(value, s->shift[j], s->factor[j]);
        }
    }
}

static void apply_ranks(double *out, const broad__scaling *s, const double *x, size_t rows, size_t stride)
{
    size_t first = s->columns - s->inputs;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < s->inputs; j++) {
            double value = isnan(x[i * stride + j]) ? s->fill[j] : x[i * stride + j], *to = out + i * s->columns;
            double rank = broad__rank_of(s->knots + j * 2 * BROAD__KNOTS, value);
            if (first) to[j] = scaled(value, s->shift[j], s->factor[j]);
            to[first + j] = scaled(rank, s->shift[first + j], s->factor[first + j]);
        }
}

void broad__scaling_apply(double *out, const broad__scaling *scaling, const double *x, size_t rows, size_t stride)
{
    if (ranked(scaling->how)) apply_ranks(out, scaling, x, rows, stride);
    else apply_plain(out, scaling, x, rows, stride);
}
