#include "data/transform/rank.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"

/* Bits that rise as the numbers do, and the number again. */
static uint64_t rising_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double number_of(uint64_t bits)
{
    double value;
    bits = bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Ascending, digit by digit of 8 bits from the lowest. Returns where the sorted keys are: one of the two. */
static const uint64_t *sort_keys(uint64_t *keys, uint64_t *scratch, size_t count)
{
    enum { DIGITS = 8, BUCKETS = 256 };
    size_t counts[DIGITS][BUCKETS] = {{0}};
    for (size_t i = 0; i < count; i++)
        for (unsigned d = 0; d < DIGITS; d++) counts[d][keys[i] >> 8 * d & 0xFF]++;
    for (unsigned d = 0; d < DIGITS && count; d++) {
        size_t *offset = counts[d], before = 0;
        if (offset[keys[0] >> 8 * d & 0xFF] == count) continue; /* all alike */
        for (size_t k = 0; k < BUCKETS; k++) {
            size_t here = offset[k];
            offset[k] = before;
            before += here;
        }
        for (size_t i = 0; i < count; i++) scratch[offset[keys[i] >> 8 * d & 0xFF]++] = keys[i];
        uint64_t *swapped = keys;
        keys = scratch;
        scratch = swapped;
    }
    return keys;
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

/* At most BROAD__KNOTS of them, evenly spaced by rank, including the first and the last; the rest repeat the last. */
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

/* Of one number of a row, and of a column that is sorted: what that takes in the time of as many operations. */
static const double NUMBER_FLOPS = 50, SORT_FLOPS = 200;

/* What is fitted. */
typedef struct ranking {
    const double *x;
    size_t rows, inputs;
    broad__spill *spill;
    const broad__owned *owned; /* which of the rows are here; NULL: all */
    const broad__column_sums *sums;
    double *knots;
    const double *fill;
    size_t sample; /* rows that knots are chosen among */
    size_t *taken; /* of rows that ranks have divided: which they are */
} ranking;

/* Calls visit(context, row) for every row that is here; memory is released on the way. */
static void each_row(const ranking *r, void (*visit)(void *context, const double *row), void *context)
{
    if (!r->inputs) return;
    const size_t step = (size_t)BROAD__SPILL_STEP / (r->inputs * sizeof *r->x) + 1;
    size_t begin, end;
    broad__owned_rows(&begin, &end, r->owned, 0, r->rows);
    for (size_t first = begin; first < end && !broad__watch_look(NUMBER_FLOPS * (double)(step * r->inputs));
         first += step) {
        size_t count = end - first < step ? end - first : step;
        for (size_t i = first; i < first + count; i++) visit(context, r->x + i * r->inputs);
        broad__spill_done(r->spill, r->x + first * r->inputs, count * r->inputs * sizeof *r->x);
    }
}

static size_t sampled_row(const ranking *r, size_t i)
{
    return r->sample == r->rows ? i : (size_t)((double)i * (double)r->rows / (double)r->sample);
}

/* Of rows that ranks have divided: one column of those that are here, then of the others. */
static int share_column(double *out, const ranking *r, size_t column)
{
    for (size_t i = 0; i < r->sample; i++)
        if (r->taken[i] >= r->owned->first && r->taken[i] < r->owned->end)
            out[i] = r->x[r->taken[i] * r->inputs + column];
    return broad__comm_collect(out, r->taken, r->sample, 1, r->rows);
}

/* Columns [first, first + width) of the sampled rows, one after the other. */
static void sample_columns(double *out, const ranking *r, size_t first, size_t width)
{
    size_t released = 0, step = (size_t)BROAD__SPILL_STEP / (r->inputs * sizeof *r->x) + 1;
    for (size_t i = 0; i < r->sample; i++) {
        size_t row = sampled_row(r, i);
        for (size_t j = 0; j < width; j++) out[j * r->sample + i] = r->x[row * r->inputs + first + j];
        if (i + 1 < r->sample && row - released < step) continue;
        broad__spill_done(r->spill, r->x + released * r->inputs, (row - released + 1) * r->inputs * sizeof *r->x);
        released = row;
    }
}

/* Scratch for a column: its sampled values, these in order, and their ranks. */
typedef struct ordering {
    double *columns; /* of the sampled rows; some at once */
    uint64_t *keys, *scratch;
    double *values, *ranks;
} ordering;

static void ordering_free(ordering *o, broad__spill *spill)
{
    broad__spill_free(spill, o->columns);
    broad__free(o->keys);
    broad__free(o->scratch);
    broad__free(o->values);
    broad__free(o->ranks);
}

static int ordering_make(ordering *out, const ranking *r, size_t width)
{
    size_t max = r->sample + 2;
    out->columns = broad__spill_alloc(r->spill, r->sample * width, sizeof *out->columns);
    out->keys = broad__alloc_array(max, sizeof *out->keys);
    out->scratch = broad__alloc_array(max, sizeof *out->scratch);
    out->values = broad__alloc_doubles(max, 1);
    out->ranks = broad__alloc_doubles(max, 1);
    return out->columns && out->keys && out->scratch && out->values && out->ranks ? BROAD_OK : BROAD_NO_MEMORY;
}

/* The values of a column that are not missing, sorted; if it was sampled, with the ends of the whole column. Returns how many. */
static size_t order_column(ordering *o, const ranking *r, const double *column, const broad__column_sums *sums)
{
    size_t count = 0;
    for (size_t i = 0; i < r->sample; i++)
        if (!isnan(column[i])) o->keys[count++] = rising_bits(column[i] + 0.0); /* zeros of either sign are one value */
    if (r->sample < r->rows && sums->count) {
        o->keys[count++] = rising_bits(sums->min + 0.0);
        o->keys[count++] = rising_bits(sums->max + 0.0);
    }
    const uint64_t *sorted = sort_keys(o->keys, o->scratch, count);
    for (size_t i = 0; i < count; i++) o->values[i] = number_of(sorted[i]);
    return count;
}

/* A spilled table is read for several columns at once. */
static int fit_knots(const ranking *r)
{
    size_t width = r->spill ? 16 : 1;
    if (width > r->inputs) width = r->inputs;
    ordering o = {0};
    int status = ordering_make(&o, r, width);
    for (size_t first = 0; status == BROAD_OK && first < r->inputs; first += width) {
        size_t now = r->inputs - first < width ? r->inputs - first : width;
        if (r->taken) status = share_column(o.columns, r, first);
        else sample_columns(o.columns, r, first, now);
        if (status < 0) break;
        for (size_t j = 0; j < now && !broad__watch_look(SORT_FLOPS * (double)r->sample); j++) {
            size_t count = order_column(&o, r, o.columns + j * r->sample, &r->sums[first + j]);
            choose_knots(r->knots + (first + j) * 2 * BROAD__KNOTS, o.values, o.ranks,
                         distinct(o.values, o.ranks, count));
        }
    }
    ordering_free(&o, r->spill);
    return status;
}

/* For each input: values below the k-th knot and not below the one before, and those equal to it. */
typedef struct knot_counts {
    size_t between[BROAD__KNOTS], equal[BROAD__KNOTS];
} knot_counts;

typedef struct counting {
    const ranking *ranking;
    knot_counts *counts;
} counting;

static void count_row(void *context, const double *row)
{
    const counting *c = context;
    for (size_t j = 0; j < c->ranking->inputs; j++) {
        if (isnan(row[j])) continue;
        const double *values = c->ranking->knots + j * 2 * BROAD__KNOTS;
        size_t at = broad__rank_knot(values, row[j]);
        c->counts[j].equal[at] += values[at] == row[j];
        c->counts[j].between[at] += values[at] != row[j];
    }
}

/* The ranks among all rows of knots that were chosen among some. The last of equal knots gets all counts. */
static int count_ranks(const ranking *r)
{
    counting c = {r, broad__alloc_array(r->inputs, sizeof *c.counts)};
    if (!c.counts) return BROAD_NO_MEMORY;
    each_row(r, count_row, &c);
    int status = r->taken ? broad__comm_add_counts(&c.counts->between[0], r->inputs * sizeof *c.counts / sizeof(size_t))
                          : BROAD_OK;
    for (size_t j = 0; j < r->inputs; j++) {
        double *values = r->knots + j * 2 * BROAD__KNOTS, *ranks = values + BROAD__KNOTS;
        const knot_counts *counts = &c.counts[j];
        size_t less = 0;
        for (size_t k = 0; k < BROAD__KNOTS; k++) {
            ranks[k] = ((double)less + (double)(less + counts->equal[k])) / (2 * (double)r->sums[j].count);
            less += counts->equal[k] + counts->between[k];
        }
        for (size_t k = BROAD__KNOTS - 1; k-- > 0;)
            if (values[k] == values[k + 1]) ranks[k] = ranks[k + 1];
        if (!r->sums[j].count) memset(ranks, 0, BROAD__KNOTS * sizeof *ranks);
    }
    broad__free(c.counts);
    return status;
}

typedef struct rank_sums {
    const ranking *ranking;
    broad__column_sums *sums;
} rank_sums;

/* Ranks lie around 1/2: squares of the distances from there lose nothing that matters. */
static void add_ranks(void *context, const double *row)
{
    const rank_sums *s = context;
    for (size_t j = 0; j < s->ranking->inputs; j++) {
        double value = isnan(row[j]) ? s->ranking->fill[j] : row[j];
        double rank = broad__rank_of(s->ranking->knots + j * 2 * BROAD__KNOTS, value);
        broad__column_sums *sums = &s->sums[j];
        long double distance = (long double)rank - 0.5L;
        sums->sum += distance;
        sums->squares += distance * distance;
        sums->min = rank < sums->min ? rank : sums->min;
        sums->max = rank > sums->max ? rank : sums->max;
    }
}

static void add_own_ranks(void *context)
{
    const rank_sums *s = context;
    each_row(s->ranking, add_ranks, context);
}

/* Over rows that ranks have divided the sums go from one to the next. */
static int sum_ranks(rank_sums *s)
{
    size_t bytes = s->ranking->inputs * sizeof *s->sums;
    if (s->ranking->taken) {
        int status = broad__comm_pass(s->sums, bytes, add_own_ranks, s);
        return status == BROAD_OK ? broad__comm_broadcast_last(s->sums, bytes) : status;
    }
    add_own_ranks(s);
    return BROAD_OK;
}

/* Ranks of every row, standardised like any column. */
static int fit_ranks(double *shift, double *factor, const ranking *r)
{
    rank_sums s = {r, broad__alloc_array(r->inputs, sizeof *s.sums)};
    if (!s.sums) return BROAD_NO_MEMORY;
    for (size_t j = 0; j < r->inputs; j++) s.sums[j] = (broad__column_sums){.min = INFINITY, .max = -INFINITY};
    int status = sum_ranks(&s);
    for (size_t j = 0; j < r->inputs; j++) {
        broad__column_sums *sums = &s.sums[j];
        sums->count = r->rows;
        sums->squares -= sums->sum * sums->sum / (long double)r->rows;
        sums->sum += 0.5L * (long double)r->rows;
        broad__column_scale(&shift[j], &factor[j], BROAD_SCALE_STANDARD, sums);
    }
    broad__free(s.sums);
    return status;
}

int broad__rank_fit(double *shift, double *factor, const broad__rank_task *task)
{
    enum { SAMPLE = 1 << 18 };
    const broad__column_rows *rows = &task->rows;
    ranking r = {.x = rows->x, .rows = rows->rows, .inputs = rows->columns, .spill = rows->spill, .sums = task->sums};
    r.knots = task->knots;
    r.fill = task->fill;
    r.sample = r.rows < SAMPLE ? r.rows : SAMPLE;
    int status = BROAD_OK;
    if (broad__owned_divided(rows->owned)) {
        r.owned = rows->owned;
        r.taken = broad__alloc_array(r.sample, sizeof *r.taken);
        if (!r.taken) return BROAD_NO_MEMORY;
        for (size_t i = 0; i < r.sample; i++) r.taken[i] = sampled_row(&r, i);
    }
    status = fit_knots(&r);
    if (status == BROAD_OK && r.sample < r.rows) status = count_ranks(&r);
    if (status == BROAD_OK) status = fit_ranks(shift, factor, &r);
    broad__free(r.taken);
    return broad__watch_check(status);
}
