/* Scaling by rank, and that of a network's inputs as a whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/scale.h"

static int ranked(broad_scale how) { return how == BROAD_SCALE_RANK || how == BROAD_SCALE_BOTH; }

size_t broad__scaling_columns(broad_scale how, size_t inputs) { return how == BROAD_SCALE_BOTH ? 2 * inputs : inputs; }

size_t broad__scaling_knots(broad_scale how, size_t inputs) { return ranked(how) ? 2 * BROAD__KNOTS * inputs : 0; }

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of `count` sorted values the distinct ones, each with the middle of its ranks; returns how many. */
static size_t distinct(double *values, double *ranks, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && values[end] == values[i]) end++;
        values[kept] = values[i];
        ranks[kept++] = ((double)i + (double)end) / (2 * (double)count);
        i = end;
    }
    return kept;
}

/* At most BROAD__KNOTS of them, at equal distances of rank, the first and the last among them; the rest repeats the last. */
static void choose_knots(double *knots, const double *values, const double *ranks, size_t count)
{
    double *of_values = knots, *of_ranks = knots + BROAD__KNOTS;
    size_t used = 0, next = 0;
    for (size_t k = 0; k < BROAD__KNOTS && count; k++) {
        size_t at = k;
        if (count > BROAD__KNOTS) {
            double wanted = ranks[0] + (ranks[count - 1] - ranks[0]) * (double)k / (BROAD__KNOTS - 1);
            while (next + 1 < count && ranks[next] < wanted) next++;
            at = k + 1 == BROAD__KNOTS ? count - 1 : next;
        }
        if (at >= count) break;
        if (used && !(values[at] > of_values[used - 1])) continue;
        of_values[used] = values[at];
        of_ranks[used++] = ranks[at];
    }
    for (size_t k = used; k < BROAD__KNOTS; k++) {
        of_values[k] = used ? of_values[used - 1] : 0;
        of_ranks[k] = used ? of_ranks[used - 1] : 0;
    }
}

static double rank_of(const double *knots, double value)
{
    const double *values = knots, *ranks = knots + BROAD__KNOTS;
    if (!(value > values[0])) return ranks[0];
    if (value >= values[BROAD__KNOTS - 1]) return ranks[BROAD__KNOTS - 1];
    size_t low = 0, high = BROAD__KNOTS - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (value >= values[middle]) low = middle;
        else high = middle;
    }
    double part = (value - values[low]) / (values[high] - values[low]);
    return ranks[low] + part * (ranks[high] - ranks[low]);
}

static int fit_knots(double *knots, const double *x, size_t rows, size_t inputs)
{
    double *values = broad__alloc_doubles(rows, 1), *ranks = broad__alloc_doubles(rows, 1);
    int status = values && ranks ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t j = 0; status == BROAD_OK && j < inputs; j++) {
        size_t count = 0;
        for (size_t i = 0; i < rows; i++)
            if (!isnan(x[i * inputs + j])) values[count++] = x[i * inputs + j];
        qsort(values, count, sizeof *values, compare);
        choose_knots(knots + j * 2 * BROAD__KNOTS, values, ranks, distinct(values, ranks, count));
    }
    broad__free(values);
    broad__free(ranks);
    return status;
}

/* Ranks of every row, standardised like any column. */
static int fit_ranks(double *shift, double *factor, const double *fill, const double *knots, const double *x,
                     size_t rows, size_t inputs)
{
    double *column = broad__alloc_doubles(rows, 1);
    if (!column) return BROAD_NO_MEMORY;
    for (size_t j = 0; j < inputs; j++) {
        for (size_t i = 0; i < rows; i++) {
            double value = x[i * inputs + j];
            column[i] = rank_of(knots + j * 2 * BROAD__KNOTS, isnan(value) ? fill[j] : value);
        }
        broad__scale_fit(&shift[j], &factor[j], NULL, BROAD_SCALE_STANDARD, column, rows, 1);
    }
    broad__free(column);
    return BROAD_OK;
}

int broad__scaling_fit(double *shift, double *factor, double *fill, double *knots, broad_scale how, const double *x,
                       size_t rows, size_t inputs)
{
    if (!ranked(how)) {
        broad__scale_fit(shift, factor, fill, how, x, rows, inputs);
        return BROAD_OK;
    }
    size_t first = how == BROAD_SCALE_BOTH ? inputs : 0;
    broad__scale_fit(shift, factor, fill, BROAD_SCALE_STANDARD, x, rows, inputs);
    int status = fit_knots(knots, x, rows, inputs);
    return status == BROAD_OK ? fit_ranks(shift + first, factor + first, fill, knots, x, rows, inputs) : status;
}

void broad__scaling_apply(double *out, const broad__scaling *s, const double *x, size_t rows, size_t stride)
{
    if (!ranked(s->how)) {
        broad__scale_apply(out, x, rows, s->inputs, stride, s->shift, s->factor, s->fill);
        return;
    }
    size_t first = s->columns - s->inputs;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < s->inputs; j++) {
            double value = isnan(x[i * stride + j]) ? s->fill[j] : x[i * stride + j], *to = out + i * s->columns;
            double rank = rank_of(s->knots + j * 2 * BROAD__KNOTS, value);
            if (first) to[j] = (value - s->shift[j]) * s->factor[j];
            to[first + j] = (rank - s->shift[first + j]) * s->factor[first + j];
        }
}
