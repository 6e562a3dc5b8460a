/* The scaling of the inputs, checked: each column from the rows as they were read, and its statistics. */
#include "model/verify/verify_scale.h"

#include <math.h>
#include <string.h>

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
        if (value < knots[k])
            return ranks[k - 1] + (value - knots[k - 1]) / (knots[k] - knots[k - 1]) * (ranks[k] - ranks[k - 1]);
    return ranks[BROAD__KNOTS - 1];
}

double broad__verify_scaled(const broad_model *model, const double *x, size_t column)
{
    size_t input = column % model->inputs;
    double value = isnan(x[input]) ? model->input_fill[input] : x[input];
    if (by_rank(model, column)) value = plain_rank(knots_of(model, input), value);
    return (value - model->input_shift[column]) * model->input_factor[column];
}

/* ---- over the rows of the first fit ---------------------------------------------------------------------------- */

typedef struct moments {
    double min, max, mean, deviation;
} moments;

/* Of a scaled column. A missing value is left out; among ranks it has that of what fills it. */
static moments column_moments(const broad__verification *v, size_t column)
{
    const broad_model *model = v->model;
    moments m = {INFINITY, -INFINITY, 0, 0};
    size_t count = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        count = 0;
        for (size_t i = 0; i < model->segments[0].rows; i++) {
            const double *row = v->data->x + i * model->inputs;
            if (isnan(row[column % model->inputs]) && !by_rank(model, column)) continue;
            double x = broad__verify_scaled(model, row, column);
            count++;
            if (x < m.min) m.min = x;
            if (x > m.max) m.max = x;
            if (pass == 0) m.mean += x;
            else m.deviation += (x - m.mean) * (x - m.mean);
        }
        if (pass == 0 && count) m.mean /= (double)count;
    }
    m.deviation = count ? sqrt(m.deviation / (double)count) : 0;
    return m;
}

static int check_column(const broad__verification *v, size_t column)
{
    const broad_model *model = v->model;
    moments m = column_moments(v, column);
    int constant = !(m.max > m.min);
    if (!isfinite(m.min)) return 1;
    if (model->settings.scale == BROAD_SCALE_NONE)
        return model->input_shift[column] == 0 && model->input_factor[column] == 1;
    if (model->settings.scale == BROAD_SCALE_MINMAX)
        return fabs(m.min) <= BROAD__TOLERANCE && (constant || fabs(m.max - 1) <= BROAD__TOLERANCE);
    return fabs(m.mean) <= BROAD__TOLERANCE && (constant || fabs(m.deviation - 1) <= BROAD__TOLERANCE);
}

/* Every knot is a value whose rank is the middle of those that equal values have. */
static int check_knots(const broad__verification *v, size_t input)
{
    const double *knots = knots_of(v->model, input), *ranks = knots + BROAD__KNOTS;
    size_t below[BROAD__KNOTS + 1] = {0}, equal[BROAD__KNOTS + 1] = {0}, count = 0;
    for (size_t i = 0; i < v->model->segments[0].rows; i++) {
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
        count++;
    }
    size_t less = 0;
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
    double min = INFINITY, max = -INFINITY;
    for (size_t j = 0; j < model->inputs; j++) {
        moments m = column_moments(v, j);
        min = fmin(min, m.min);
        max = fmax(max, m.max);
        if (model->input_shift[j] != model->input_shift[0] || model->input_factor[j] != model->input_factor[0])
            return 0;
    }
    /* Without a difference that can be divided by, values stay as they are. */
    double inverse = 1 / (max - min);
    if (model->input_shift[0] == 0 && model->input_factor[0] == 1 && !(isfinite(inverse) && inverse > 0)) return 1;
    return fabs(min) <= BROAD__TOLERANCE && fabs(max - 1) <= BROAD__TOLERANCE;
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
