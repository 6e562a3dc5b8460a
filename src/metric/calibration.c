#include "metric/calibration.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"

enum { NEWTON_STEPS = 100 };

#define MIN_PROBABILITY 1e-15
#define WIDEST_GAP 1e6     /* between scores of one row, for the fit of the slope: no derivative overflows */
#define NEGLIGIBLE (-50.0) /* exp of this beside 1 is lost in rounding, whatever the number of classes */

/* ---- the slope ------------------------------------------------------------------------------------------------- */

typedef struct slope_problem {
    const double *scores, *weights, *bias;
    const size_t *truth;
    size_t rows, classes;
    double doubt; /* part of a row's mass that its target gives to the other classes */
} slope_problem;

/* How far a score lies below the highest of its row. */
static double gap(double score, double top) { return score - top > -WIDEST_GAP ? score - top : -WIDEST_GAP; }

/* Adds the derivatives of a row's loss by the slope: E_p[d] - E_t[d] and Var_p[d], d_c = s_c - max s, t its target. */
static void add_row(double *first, double *second, const slope_problem *p, size_t row, double slope)
{
    const double *s = p->scores + row * p->classes;
    double top = s[broad__largest(s, p->classes)], highest = -INFINITY, sum = 0, mean = 0, square = 0, all = 0;
    for (size_t c = 0; c < p->classes; c++) {
        double d = gap(s[c], top), z = slope * d + p->bias[c];
        if (z > highest) highest = z;
        all += d;
    }
    for (size_t c = 0; c < p->classes; c++) {
        double d = gap(s[c], top), z = slope * d + p->bias[c] - highest;
        if (z < NEGLIGIBLE) continue;
        double e = exp(z);
        sum += e;
        mean += e * d;
        square += e * d * d;
    }
    mean /= sum;
    double own = gap(s[p->truth[row]], top);
    double target = (1 - p->doubt) * own + p->doubt * (all - own) / (double)(p->classes - 1);
    double weight = p->weights ? p->weights[row] : 1;
    *first += weight * (mean - target);
    *second += weight * fmax(square / sum - mean * mean, 0);
}

static double derivatives(double *out_second, const slope_problem *p, double slope)
{
    double first = 0;
    *out_second = 0;
    for (size_t i = 0; i < p->rows; i++) add_row(&first, out_second, p, i, slope);
    return first;
}

/* The loss is convex in the slope: its derivative is bracketed, then Newton's steps are taken inside the bracket. */
double broad__calibrate(const double *scores, const size_t *truth, const double *weights, size_t rows, size_t classes,
                        const double *bias)
{
    /* Without some doubt the slope for rows that are all told apart would be infinite. As in Platt's scaling, targets
     * are as sure as rows + 2 observations with one error would be. */
    slope_problem p = {scores, weights, bias, truth, rows, classes, 1 / ((double)rows + 2)};
    double low = 0, high = 1, second = 0;
    if (rows == 0 || classes < 2 || derivatives(&second, &p, 0) >= 0) return 0;
    while (derivatives(&second, &p, high) < 0) {
        if (high >= BROAD__SLOPE_MOST) return BROAD__SLOPE_MOST;
        low = high;
        high = fmin(4 * high, BROAD__SLOPE_MOST);
    }
    double slope = (low + high) / 2;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double first = derivatives(&second, &p, slope), next = second > 0 ? slope - first / second : low;
        if (first < 0) low = slope;
        else high = slope;
        if (!(next > low && next < high)) next = (low + high) / 2;
        double change = fabs(next - slope);
        slope = next;
        if (change <= 1e-9 * slope) break; /* the error is that of the step after, about its square */
    }
    return slope;
}

/* ---- probabilities --------------------------------------------------------------------------------------------- */

void broad__calibrated(double *out, const double *scores, size_t rows, size_t classes, const double *calibration)
{
    double slope = calibration[0];
    const double *bias = calibration + 1;
    for (size_t i = 0; i < rows; i++, scores += classes, out += classes) {
        double top = scores[broad__largest(scores, classes)], highest = -INFINITY, sum = 0;
        for (size_t c = 0; c < classes; c++) {
            out[c] = slope * fmax(scores[c] - top, -DBL_MAX) + bias[c];
            highest = fmax(highest, out[c]);
        }
        for (size_t c = 0; c < classes; c++) sum += out[c] = exp(out[c] - highest);
        for (size_t c = 0; c < classes; c++) out[c] /= sum;
    }
}

void broad__reliability_add(broad__reliability_sums *sums, const broad__scored *scored, const double *calibration,
                            double *p)
{
    size_t classes = scored->classes;
    for (size_t i = 0; i < scored->rows; i++) {
        broad__calibrated(p, scored->scores + i * classes, 1, classes, calibration);
        size_t verdict = broad__largest(p, classes), truth = scored->truth[i];
        size_t bin = broad__whole(p[verdict] * BROAD__BINS, BROAD__BINS - 1);
        sums->bins[bin].probability += p[verdict];
        sums->bins[bin].right += verdict == truth;
        for (size_t c = 0; c < classes; c++) {
            double miss = p[c] - (c == truth);
            sums->brier += miss * miss;
        }
        sums->loss -= log(fmax(p[truth], MIN_PROBABILITY));
    }
    sums->rows += scored->rows;
}

broad__reliability broad__reliability_of(const broad__reliability_sums *sums)
{
    double error = 0, rows = (double)sums->rows;
    if (!sums->rows) return (broad__reliability){0};
    for (size_t b = 0; b < BROAD__BINS; b++) error += fabs((double)sums->bins[b].right - sums->bins[b].probability);
    return (broad__reliability){sums->brier / rows, sums->loss / rows, error / rows};
}

int broad__reliability_measure(broad__reliability *out, const broad__scored *scored, const double *calibration)
{
    broad__reliability_sums sums = {0};
    double *p = broad__alloc_doubles(scored->classes, 1);
    if (!p) return BROAD_NO_MEMORY;
    broad__reliability_add(&sums, scored, calibration, p);
    broad__free(p);
    *out = broad__reliability_of(&sums);
    return BROAD_OK;
}

/* ---- quantiles ------------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void broad__order_statistics(double *sizes, size_t rows, size_t kept)
{
    qsort(sizes, rows, sizeof *sizes, compare_numbers);
    for (size_t k = 1; k <= kept; k++) sizes[k - 1] = sizes[(k * rows + kept - 1) / kept - 1];
}

int broad__jackknife(double *out, const double *sizes, size_t kept, size_t rows, double level)
{
    if (!(level > 0 && level < 1))
        return broad__fail(BROAD_USAGE, "the level of an interval is %g; it must lie between 0 and 1, for example 0.9",
                           level);
    /* A level such as 0.07 is a little more than it says: that must not cost a rank. */
    double rank = ceil(((double)rows + 1) * level * (1 - 4 * DBL_EPSILON));
    if (rank > (double)rows)
        return broad__fail(BROAD_USAGE,
                           "an interval of level %g cannot be computed from the leave-one-out residuals of %zu rows; "
                           "the highest level they allow is %.6g",
                           level, rows, floor(1e6 * (double)rows / ((double)rows + 1)) / 1e6);
    *out = sizes[broad__whole(rank - 1, rows - 1) * kept / rows];
    return BROAD_OK;
}
