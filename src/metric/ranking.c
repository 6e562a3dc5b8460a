#include "metric/ranking.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"

#define LOWEST (-1e300)

int broad__ranking_open(broad__ranking *out, size_t rows, size_t classes, broad__spill *spill)
{
    size_t most = BROAD__RANKED_MOST / classes ? BROAD__RANKED_MOST / classes : 1;
    size_t step = rows / most + (rows % most != 0), kept = step ? (rows - 1) / step + 1 : 0;
    *out = (broad__ranking){.classes = classes, .step = step ? step : 1, .most = kept, .spill = spill};
    if (classes > UINT32_MAX) return broad__fail_memory(SIZE_MAX);
    out->odds = broad__spill_alloc(spill, kept * classes, sizeof *out->odds);
    out->truth = broad__spill_alloc(spill, kept, sizeof *out->truth);
    out->scratch = broad__alloc_doubles(classes, 1);
    if (out->odds && out->truth && out->scratch) return BROAD_OK;
    broad__ranking_close(out);
    return BROAD_NO_MEMORY;
}

void broad__ranking_close(broad__ranking *ranking)
{
    broad__spill_free(ranking->spill, ranking->odds);
    broad__spill_free(ranking->spill, ranking->truth);
    broad__free(ranking->scratch);
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

/* z_c - log sum_{k != c} exp z_k, `stride` apart. Of all but the highest, the sum without c is that of all less its own part,
 * which is never all of it. z: classes numbers of scratch */
static void log_odds(double *out, size_t stride, double *z, const double *scores, size_t classes,
                     const double *calibration)
{
    double slope = calibration && calibration[0] > 0 ? calibration[0] : 1, sum = 0;
    double top = scores[broad__largest(scores, classes)];
    for (size_t c = 0; c < classes; c++)
        z[c] = fmax(slope * fmax(scores[c] - top, LOWEST), LOWEST) + (calibration ? calibration[c + 1] : 0);
    size_t first = broad__largest(z, classes);
    double high = z[first], lead = high - log_others(z, classes, first);
    for (size_t c = 0; c < classes; c++) sum += exp(z[c] - high);
    for (size_t c = 0; c < classes; c++)
        out[c * stride] = c == first ? lead : z[c] - high - log(sum - exp(z[c] - high));
}

/* Memory of the rows that were kept since the last time, where it is limited. */
static void release(broad__ranking *ranking)
{
    enum { LEAST = 1 << 16 };
    size_t n = ranking->count - ranking->released;
    if (!ranking->spill || n < LEAST) return;
    for (size_t c = 0; c < ranking->classes; c++)
        broad__spill_done(ranking->spill, ranking->odds + c * ranking->most + ranking->released,
                          n * sizeof *ranking->odds);
    broad__spill_done(ranking->spill, ranking->truth + ranking->released, n * sizeof *ranking->truth);
    ranking->released = ranking->count;
}

void broad__ranking_add(broad__ranking *ranking, size_t row, const double *scores, size_t truth,
                        const double *calibration)
{
    if (row % ranking->step) return;
    log_odds(ranking->odds + ranking->count, ranking->most, ranking->scratch, scores, ranking->classes, calibration);
    ranking->truth[ranking->count++] = (uint32_t)truth;
    release(ranking);
}

/* ---- areas ----------------------------------------------------------------------------------------------------- */

/* Many rows are sorted by the digits of their odds, taken as whole numbers of the same order, the last digit first. */
enum { DIGIT = 11, DIGITS = 6, VALUES = 1 << DIGIT, FEW = 1000 };

/* Falls as the odds rise; the same for zeros of both signs. */
static uint64_t key_of(double odds)
{
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t bits;
    odds += 0.0;
    memcpy(&bits, &odds, sizeof bits);
    return bits & sign ? bits : ~bits & ~sign;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t digit_of(uint64_t key, size_t digit) { return (size_t)(key >> (digit * DIGIT)) & (VALUES - 1); }

/* One digit; 0 if all keys have the same. */
static int sort_digit(uint64_t *out, const uint64_t *keys, size_t count, size_t digit)
{
    size_t starts[VALUES] = {0}, at = 0;
    for (size_t i = 0; i < count; i++) starts[digit_of(keys[i], digit)]++;
    if (starts[digit_of(keys[0], digit)] == count) return 0;
    for (size_t v = 0; v < VALUES; v++) {
        size_t here = starts[v];
        starts[v] = at;
        at += here;
    }
    for (size_t i = 0; i < count; i++) out[starts[digit_of(keys[i], digit)]++] = keys[i];
    return 1;
}

/* Where they are in rising order, that of falling odds: `keys`, or `other`, which has room for as many. */
static const uint64_t *sort_keys(uint64_t *keys, uint64_t *other, size_t count)
{
    if (count < FEW) {
        qsort(keys, count, sizeof *keys, compare_keys);
        return keys;
    }
    for (size_t digit = 0; digit < DIGITS; digit++) {
        if (!sort_digit(other, keys, count, digit)) continue;
        uint64_t *sorted = other;
        other = keys;
        keys = sorted;
    }
    return keys;
}

/* Of how many keys are equal from `at` on. */
static size_t equal_keys(const uint64_t *keys, size_t at, size_t count, uint64_t key)
{
    size_t end = at;
    while (end < count && keys[end] == key) end++;
    return end - at;
}

/* Of the members of a class and of the others, both sorted; equal ones come at once, so that their order does not matter. */
static void areas(double *roc, double *pr, const uint64_t *members, size_t all, const uint64_t *others, size_t rest)
{
    double seen = 0, wrong = 0, area = 0, precision = 0;
    for (size_t i = 0, k = 0; i < all || k < rest;) {
        uint64_t key = k == rest || (i < all && members[i] < others[k]) ? members[i] : others[k];
        size_t right_here = equal_keys(members, i, all, key), wrong_here = equal_keys(others, k, rest, key);
        i += right_here;
        k += wrong_here;
        area += (double)wrong_here * (seen + (double)right_here / 2);
        seen += (double)right_here;
        wrong += (double)wrong_here;
        precision += (double)right_here * seen / (seen + wrong);
    }
    *roc = area / ((double)all * (double)rest);
    *pr = fmin(precision / (double)all, 1);
}

/* The keys of class c: its members, then the others. Returns how many members there are. */
static size_t take_keys(uint64_t *keys, const broad__ranking *ranking, size_t c)
{
    enum { STRETCH = 1 << 16 };
    const double *odds = ranking->odds + c * ranking->most;
    size_t members = 0, others = ranking->count;
    for (size_t first = 0; first < ranking->count; first += STRETCH) {
        size_t n = broad__min(STRETCH, ranking->count - first);
        for (size_t i = first; i < first + n; i++) {
            uint64_t key = key_of(odds[i]);
            if (ranking->truth[i] == c) keys[members++] = key;
            else keys[--others] = key;
        }
        broad__spill_done(ranking->spill, odds + first, n * sizeof *odds);
        broad__spill_done(ranking->spill, ranking->truth + first, n * sizeof *ranking->truth);
    }
    return members;
}

int broad__ranking_measure(double *roc, double *pr, const broad__ranking *ranking)
{
    size_t count = ranking->count;
    uint64_t *keys = broad__alloc_array(count ? count : 1, 2 * sizeof *keys);
    if (!keys) return BROAD_NO_MEMORY;
    uint64_t *other = keys + count;
    for (size_t c = 0; c < ranking->classes; c++) {
        size_t members = take_keys(keys, ranking, c), rest = count - members;
        roc[c] = pr[c] = (double)NAN;
        if (members == 0 || rest == 0) continue;
        areas(&roc[c], &pr[c], sort_keys(keys, other, members), members,
              sort_keys(keys + members, other + members, rest), rest);
    }
    broad__free(keys);
    return BROAD_OK;
}
