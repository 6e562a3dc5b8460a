#include "metric/ranking.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"

#define LOWEST (-1e300)

int broad__ranking_open(broad__ranking *out, size_t rows, size_t classes)
{
    size_t most = BROAD__RANKED_MOST / classes ? BROAD__RANKED_MOST / classes : 1;
    size_t step = rows / most + (rows % most != 0), kept = step ? (rows - 1) / step + 1 : 0;
    *out = (broad__ranking){.classes = classes, .step = step ? step : 1};
    out->odds = broad__alloc_doubles(kept, classes);
    out->truth = broad__alloc_array(kept, sizeof *out->truth);
    if (out->odds && out->truth) return BROAD_OK;
    broad__ranking_close(out);
    return BROAD_NO_MEMORY;
}

void broad__ranking_close(broad__ranking *ranking)
{
    broad__free(ranking->odds);
    broad__free(ranking->truth);
    *ranking = (broad__ranking){0};
}

/* log of the sum of exp(z_k - z_top) over all k other than c. */
static double log_others(const double *z, size_t classes, size_t c)
{
    size_t top = c ? 0 : 1;
    double sum = 1; /* that of the top */
    for (size_t k = 0; k < classes; k++)
        if (k != c && z[k] > z[top]) top = k;
    for (size_t k = 0; k < classes; k++)
        if (k != c && k != top) sum += exp(z[k] - z[top]);
    return z[top] + log(sum);
}

/* z_c - log sum_{k != c} exp z_k. Of all but the highest, the sum without c is that of all less its own part, which is
 * never all of it. */
static void log_odds(double *out, const double *scores, size_t classes, const double *calibration)
{
    double slope = calibration && calibration[0] > 0 ? calibration[0] : 1, sum = 0;
    double top = scores[broad__largest(scores, classes)];
    for (size_t c = 0; c < classes; c++)
        out[c] = fmax(slope * fmax(scores[c] - top, LOWEST), LOWEST) + (calibration ? calibration[c + 1] : 0);
    size_t first = broad__largest(out, classes);
    double high = out[first], lead = high - log_others(out, classes, first);
    for (size_t c = 0; c < classes; c++) sum += exp(out[c] - high);
    for (size_t c = 0; c < classes; c++) out[c] = c == first ? lead : out[c] - high - log(sum - exp(out[c] - high));
}

void broad__ranking_add(broad__ranking *ranking, size_t row, const double *scores, size_t truth,
                        const double *calibration)
{
    if (row % ranking->step) return;
    log_odds(ranking->odds + ranking->count * ranking->classes, scores, ranking->classes, calibration);
    ranking->truth[ranking->count++] = truth;
}

/* ---- areas ----------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    double odds;
    int member;
} ranked;

static int compare_falling(const void *a, const void *b)
{
    double x = ((const ranked *)a)->odds, y = ((const ranked *)b)->odds;
    return (x < y) - (x > y);
}

/* Many rows are sorted by the digits of their odds, taken as whole numbers of the same order, the last digit first. */
enum { DIGIT = 11, DIGITS = 6, VALUES = 1 << DIGIT, FEW = 1000 };

/* Falls as the odds rise. */
static uint64_t key_of(const ranked *row)
{
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t bits;
    memcpy(&bits, &row->odds, sizeof bits);
    return bits & sign ? bits : ~bits & ~sign;
}

static size_t digit_of(const ranked *row, size_t digit)
{
    return (size_t)(key_of(row) >> (digit * DIGIT)) & (VALUES - 1);
}

/* One digit; 0 if all rows have the same. */
static int sort_digit(ranked *out, const ranked *rows, size_t count, size_t digit)
{
    size_t starts[VALUES] = {0}, at = 0;
    for (size_t i = 0; i < count; i++) starts[digit_of(&rows[i], digit)]++;
    if (starts[digit_of(&rows[0], digit)] == count) return 0;
    for (size_t v = 0; v < VALUES; v++) {
        size_t here = starts[v];
        starts[v] = at;
        at += here;
    }
    for (size_t i = 0; i < count; i++) out[starts[digit_of(&rows[i], digit)]++] = rows[i];
    return 1;
}

/* Where they are in falling order: `rows`, or `other`, which has room for as many. */
static const ranked *sort_falling(ranked *rows, ranked *other, size_t count)
{
    if (count < FEW) {
        qsort(rows, count, sizeof *rows, compare_falling);
        return rows;
    }
    for (size_t digit = 0; digit < DIGITS; digit++) {
        if (!sort_digit(other, rows, count, digit)) continue;
        ranked *sorted = other;
        other = rows;
        rows = sorted;
    }
    return rows;
}

/* Of rows in falling order; equal ones come at once, so that their order does not matter. */
static void areas(double *roc, double *pr, const ranked *rows, size_t count, size_t members)
{
    double others = (double)(count - members), all = (double)members, seen = 0, wrong = 0, area = 0, precision = 0;
    for (size_t i = 0; i < count;) {
        double right_here = 0, wrong_here = 0;
        for (double odds = rows[i].odds; i < count && rows[i].odds == odds; i++) {
            right_here += rows[i].member;
            wrong_here += !rows[i].member;
        }
        area += wrong_here * (seen + right_here / 2);
        seen += right_here;
        wrong += wrong_here;
        precision += right_here * seen / (seen + wrong);
    }
    *roc = area / (all * others);
    *pr = fmin(precision / all, 1);
}

int broad__ranking_measure(double *roc, double *pr, const broad__ranking *ranking)
{
    size_t classes = ranking->classes, count = ranking->count;
    ranked *rows = broad__alloc_array(count ? count : 1, 2 * sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    for (size_t c = 0; c < classes; c++) {
        size_t members = 0;
        for (size_t i = 0; i < count; i++) {
            rows[i] = (ranked){ranking->odds[i * classes + c], ranking->truth[i] == c};
            members += ranking->truth[i] == c;
        }
        roc[c] = pr[c] = (double)NAN;
        if (members == 0 || members == count) continue;
        areas(&roc[c], &pr[c], sort_falling(rows, rows + count, count), count, members);
    }
    broad__free(rows);
    return BROAD_OK;
}
