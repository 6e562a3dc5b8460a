/* The scaling of the inputs, checked: each column from the rows as they were read, and its statistics. */
#include "model/verify/verify_scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "comm/comm.h"
#include "model/verify/verify_records.h"

/* ---- one value ------------------------------------------------------------------------------------------------- */

static int by_rank(const broad_model *model, size_t column)
{
    broad_scale scale = model->settings.scale;
    return scale == BROAD_SCALE_RANK || (scale == BROAD_SCALE_BOTH && column >= model->inputs);
}

static const double *knots_of(const broad_model *model, size_t input)
{
    return model->input_knots + input * 2 * BROAD__KNOTS;
}

/* Along straight lines between the knots, and flat outside of them. */
static double plain_rank(const double *knots, double value)
{
    const double *ranks = knots + BROAD__KNOTS;
    if (!(value > knots[0])) return ranks[0];
    for (size_t k = 1; k < BROAD__KNOTS; k++)
        if (value < knots[k]) {
            long double low = knots[k - 1], part = (value - low) / (knots[k] - low);
            return (double)(ranks[k - 1] + part * (ranks[k] - ranks[k - 1]));
        }
    return ranks[BROAD__KNOTS - 1];
}

/* What is shifted: the value, or what replaces a missing one, or its rank. */
static double plain_value(const broad_model *model, const double *x, size_t column)
{
    size_t input = column % model->inputs;
    double value = isnan(x[input]) ? model->input_fill[input] : x[input];
    return by_rank(model, column) ? plain_rank(knots_of(model, input), value) : value;
}

double broad__verify_scaled(const broad_model *model, const double *x, size_t column)
{
    double distance = plain_value(model, x, column) - model->input_shift[column];
    return fmax(-BROAD__SCALED_MOST, fmin(distance * model->input_factor[column], BROAD__SCALED_MOST));
}

/* ---- over the rows of the first fit ---------------------------------------------------------------------------- */

/* Of a column as it is before it is shifted. */
typedef struct moments {
    double min, max;
    long double mean, deviation;
    size_t count;
} moments;

/* A column on its way over the rows, of which each rank has some. */
typedef struct walk {
    const broad__verification *v;
    size_t column, pass;
    struct {
        moments m;
        long double sum, squares, rest;
    } s;
} walk;

static void add_column(void *context)
{
    walk *w = context;
    const broad_model *model = w->v->model;
    size_t first, end;
    moments *m = &w->s.m;
    broad__owned_rows(&first, &end, w->v->data->owned, 0, model->segments[0].rows);
    for (size_t i = first; i < end; i++) {
        const double *row = w->v->data->x + i * model->inputs;
        if (isnan(row[w->column % model->inputs]) && !by_rank(model, w->column)) continue;
        double x = plain_value(model, row, w->column);
        long double distance = x - m->mean;
        if (x < m->min) m->min = x;
        if (x > m->max) m->max = x;
        if (w->pass == 0) m->count++, w->s.sum += x;
        else w->s.rest += distance, w->s.squares += distance * distance;
    }
}

/* From rank to rank, where the rows are divided. */
static int go_over(walk *w)
{
    if (broad__table_divided(w->v->data)) {
        int status = broad__comm_pass(&w->s, sizeof w->s, add_column, w);
        return status == BROAD_OK ? broad__comm_broadcast_last(&w->s, sizeof w->s) : status;
    }
    add_column(w);
    return BROAD_OK;
}

/* A missing value is left out; among ranks it has that of what fills it. The mean is mended by the mean of the distances from
 * it, so that its error is that of its last digit, whatever the offset is. What cannot be told for a lost message has no rows: the
 * call fails at its end. */
static moments column_moments(const broad__verification *v, size_t column)
{
    walk w = {.v = v, .column = column, .s = {.m = {.min = INFINITY, .max = -INFINITY}}};
    moments *m = &w.s.m;
    for (w.pass = 0; w.pass < 2; w.pass++) {
        if (go_over(&w) < 0) return (moments){0};
        if (w.pass == 0 && m->count) m->mean = w.s.sum / (long double)m->count;
    }
    if (!m->count) return *m;
    long double rest = w.s.rest / (long double)m->count;
    m->mean += rest;
    m->deviation = sqrtl(fmaxl(0, w.s.squares / (long double)m->count - rest * rest));
    return *m;
}

/* How far the mean, as a double, can be from the true one: its own rounding, and that of a plain sum over the rows. */
static long double mean_slack(const moments *m)
{
    long double largest = fmax(fabs(m->min), fabs(m->max)), sum = (long double)m->count * LDBL_EPSILON;
    return (DBL_EPSILON + sum) * largest + DBL_TRUE_MIN;
}

static int near(long double value, long double truth, long double slack) { return fabsl(value - truth) <= slack; }

/* 1 / spread, or 1 where that is no number. */
static int check_factor(double factor, long double spread)
{
    if (!(spread > 0) || !isfinite((double)(1 / spread))) return factor == 1;
    return near(factor * spread, 1, BROAD__TOLERANCE);
}

/* shift and factor as the statistics ask for. Ranks are near 1/2: only their spread can be lost in rounding. */
static int check_moments(const moments *m, double shift, double factor, broad_scale how)
{
    if (how == BROAD_SCALE_NONE || !m->count) return shift == 0 && factor == 1;
    if (!isfinite(m->max - m->min)) return shift == 0 && near(factor * fmax(-m->min, m->max), 1, BROAD__TOLERANCE);
    if (how == BROAD_SCALE_MINMAX) return shift == m->min && check_factor(factor, (long double)m->max - m->min);
    long double spread = m->max > m->min ? m->deviation : 0;
    return near(shift, m->mean, mean_slack(m) + BROAD__TOLERANCE * spread) && check_factor(factor, spread);
}

static int check_column(const broad__verification *v, size_t column)
{
    const broad_model *model = v->model;
    moments m = column_moments(v, column);
    broad_scale scale = model->settings.scale;
    int plain = scale == BROAD_SCALE_NONE || scale == BROAD_SCALE_MINMAX;
    return check_moments(&m, model->input_shift[column], model->input_factor[column],
                         plain ? scale : BROAD_SCALE_STANDARD);
}

/* Every knot is a value whose rank is the middle of those that equal values have. */
static int check_knots(const broad__verification *v, size_t input)
{
    const double *knots = knots_of(v->model, input), *ranks = knots + BROAD__KNOTS;
    enum { PLACES = BROAD__KNOTS + 1 };
    size_t counts[2 * PLACES + 1] = {0}, *below = counts, *equal = counts + PLACES, *all = counts + 2 * PLACES;
    size_t first, end;
    broad__owned_rows(&first, &end, v->data->owned, 0, v->model->segments[0].rows);
    for (size_t i = first; i < end; i++) {
        double x = v->data->x[i * v->model->inputs + input];
        if (isnan(x)) continue;
        size_t low = 0, high = BROAD__KNOTS; /* the first knot that is not below x is in [low, high] */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (knots[middle] < x) low = middle + 1;
            else high = middle;
        }
        if (low < BROAD__KNOTS && knots[low] == x) equal[low]++;
        else below[low]++;
        ++*all;
    }
    if (broad__table_divided(v->data) && broad__comm_add_counts(counts, 2 * PLACES + 1) < 0) return 0;
    size_t less = 0, count = *all;
    for (size_t k = 0; k < BROAD__KNOTS && count; k++) {
        if (k && !(knots[k] > knots[k - 1])) return knots[k] == knots[k - 1] && ranks[k] == ranks[k - 1];
        less += below[k];
        double rank = ((double)less + (double)equal[k] / 2) / (double)count;
        if (!equal[k] || !(fabs(ranks[k] - rank) <= BROAD__TOLERANCE)) return 0;
        less += equal[k];
    }
    return 1;
}

/* All columns alike: the smallest value becomes 0, the largest 1. */
static int check_whole(const broad__verification *v)
{
    const broad_model *model = v->model;
    moments whole = {.min = INFINITY, .max = -INFINITY};
    for (size_t j = 0; j < model->inputs; j++) {
        moments m = column_moments(v, j);
        whole.min = fmin(whole.min, m.min);
        whole.max = fmax(whole.max, m.max);
        whole.count += m.count;
        if (model->input_shift[j] != model->input_shift[0] || model->input_factor[j] != model->input_factor[0])
            return 0;
    }
    /* Without a difference that can be divided by, values stay as they are. */
    int untouched = !(whole.max > whole.min) || !isfinite(1 / (whole.max - whole.min));
    return check_moments(&whole, model->input_shift[0], model->input_factor[0],
                         untouched ? BROAD_SCALE_NONE : BROAD_SCALE_MINMAX);
}

int broad__verify_scaling(broad__verification *v)
{
    const broad_model *model = v->model;
    if (model->settings.scale == BROAD_SCALE_WHOLE)
        return check_whole(v) ||
               broad__refuse(v->verdict, 0, "the scaling of input '%s' and all others does not fit the data",
                             model->input_names[0]);
    for (size_t j = 0; j < broad__model_columns(model); j++) {
        size_t input = j % model->inputs;
        if ((by_rank(model, j) && !check_knots(v, input)) || !check_column(v, j))
            return broad__refuse(v->verdict, 0, "the scaling of input '%s' does not fit the data",
                                 model->input_names[input]);
    }
    return 1;
}
