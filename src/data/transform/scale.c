#include "data/transform/scale.h"

#include <math.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/vector.h"
#include "data/transform/scale_avx512.h"
#include "data/transform/scale_body.h"

/* Rows that are read ahead of the one that is scaled; numbers of a line of the cache. */
enum { AHEAD = 4, LINE = 8 };

int broad__scaling_is_ranked(broad_scale how) { return how == BROAD_SCALE_RANK || how == BROAD_SCALE_BOTH; }

size_t broad__scaling_columns(broad_scale how, size_t inputs) { return how == BROAD_SCALE_BOTH ? 2 * inputs : inputs; }

size_t broad__scaling_knots(broad_scale how, size_t inputs)
{
    return broad__scaling_is_ranked(how) ? 2 * BROAD__KNOTS * inputs : 0;
}

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

static broad_scale plain_part(broad_scale how)
{
    return broad__scaling_is_ranked(how) ? BROAD_SCALE_STANDARD : how == BROAD_SCALE_WHOLE ? BROAD_SCALE_NONE : how;
}

int broad__scaling_needs_squares(broad_scale how) { return plain_part(how) == BROAD_SCALE_STANDARD; }

int broad__scaling_fit_sums(const broad__scaling_arrays *out, broad_scale how, const broad__column_rows *rows,
                            const broad__column_sums *sums)
{
    size_t inputs = rows->columns;
    for (size_t j = 0; j < inputs; j++) {
        broad__column_scale(&out->shift[j], &out->factor[j], plain_part(how), &sums[j]);
        if (out->fill) out->fill[j] = broad__column_mean(&sums[j]);
    }
    if (how == BROAD_SCALE_WHOLE) fit_whole(out, sums, inputs);
    if (!broad__scaling_is_ranked(how)) return BROAD_OK;
    size_t first = how == BROAD_SCALE_BOTH ? inputs : 0;
    broad__rank_task task = {.rows = *rows, .sums = sums, .knots = out->knots, .fill = out->fill};
    return broad__rank_fit(out->shift + first, out->factor + first, &task);
}

int broad__scaling_fit(const broad__scaling_arrays *out, broad_scale how, const broad__column_rows *rows)
{
    if (!rows->columns) return BROAD_OK;
    broad__column_sums *sums = broad__alloc_array(rows->columns, sizeof *sums);
    if (!sums) return BROAD_NO_MEMORY;
    broad__column_sums_part(sums, rows, broad__scaling_needs_squares(how), 0, rows->columns);
    int status = broad__scaling_fit_sums(out, how, rows, sums);
    broad__free(sums);
    return status;
}

int broad__scaling_is_plain(const broad__scaling *s)
{
    if (broad__scaling_is_ranked(s->how)) return 0;
    for (size_t j = 0; j < s->inputs; j++)
        if (s->shift[j] != 0 || s->factor[j] != 1) return 0;
    return 1;
}

static void apply_filled(double *to, const broad__scaling *s, const double *from)
{
    for (size_t j = 0; j < s->inputs; j++)
        to[j] = broad__scaled(isnan(from[j]) ? s->fill[j] : from[j], s->shift[j], s->factor[j]);
}

static int apply_known(double *to, const broad__scaling *s, const double *from)
{
#if defined(__x86_64__)
    if (broad__vector_best() == BROAD__VECTOR_AVX512)
        return broad__scale_numbers_avx512(to, from, s->shift, s->factor, s->inputs);
#endif
    return broad__scale_numbers(to, from, s->shift, s->factor, s->inputs);
}

/* Parts of rows lie far apart, so the processor does not see by itself which one comes next. */
static void bring_near(const double *x, size_t count)
{
    for (size_t j = 0; j < count; j += LINE) __builtin_prefetch(x + j, 0, 2);
}

static void apply_plain(double *out, const broad__scaling *s, const double *x, size_t rows, size_t stride)
{
    for (size_t i = 0; i < rows; i++) {
        double *to = out + i * s->inputs;
        const double *from = x + i * stride;
        if (i + AHEAD < rows) bring_near(from + AHEAD * stride, s->inputs);
        int told =
            s->fill && to == from && !broad__all_within(from, s->inputs, INFINITY); /* in place there is one try */
        if (told || (!apply_known(to, s, from) && s->fill)) apply_filled(to, s, from);
    }
}

static void apply_ranks(double *out, const broad__scaling *s, const double *x, size_t rows, size_t stride)
{
    size_t first = s->columns - s->inputs;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < s->inputs; j++) {
            double value = isnan(x[i * stride + j]) ? s->fill[j] : x[i * stride + j], *to = out + i * s->columns;
            double rank = broad__rank_of(s->knots + j * 2 * BROAD__KNOTS, value);
            if (first) to[j] = broad__scaled(value, s->shift[j], s->factor[j]);
            to[first + j] = broad__scaled(rank, s->shift[first + j], s->factor[first + j]);
        }
}

void broad__scaling_apply(double *out, const broad__scaling *scaling, const double *x, size_t rows, size_t stride)
{
    if (broad__scaling_is_ranked(scaling->how)) apply_ranks(out, scaling, x, rows, stride);
    else apply_plain(out, scaling, x, rows, stride);
}
