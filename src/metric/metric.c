#include "metric/metric.h"

#include <float.h>
#include <math.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/status.h"
#include "metric/calibration.h"

#define USUAL_DEVIATIONS 1.959963984540054 /* of a normal distribution, on both sides of 95 % */

static double rate(size_t part, size_t whole) { return whole ? (double)part / (double)whole : (double)NAN; }

typedef struct counts {
    size_t true_positive, false_positive, false_negative, true_negative;
} counts;

/* One class against all others. */
static counts count_class(const broad_metrics *m, size_t class)
{
    counts c = {0};
    for (size_t i = 0; i < m->classes; i++) {
        c.false_negative += m->confusion[class * m->classes + i];
        c.false_positive += m->confusion[i * m->classes + class];
    }
    c.true_positive = m->confusion[class * m->classes + class];
    c.false_negative -= c.true_positive;
    c.false_positive -= c.true_positive;
    c.true_negative = m->rows - c.true_positive - c.false_positive - c.false_negative;
    return c;
}

/* ---- classes --------------------------------------------------------------------------------------------------- */

/* As details have it. */
static double or_undefined(double value) { return isnan(value) ? -1 : value; }

static double or_zero(double value) { return isnan(value) ? 0 : value; }

/* The numbers of one class that follow from the confusion matrix. */
static void detail_class(double *detail, const broad_metrics *m, size_t class)
{
    counts c = count_class(m, class);
    size_t rows = c.true_positive + c.false_negative, verdicts = c.true_positive + c.false_positive;
    detail[BROAD__DETAIL_ROWS] = (double)rows;
    detail[BROAD__DETAIL_PRECISION] = or_undefined(rows && !verdicts ? 0 : rate(c.true_positive, verdicts));
    detail[BROAD__DETAIL_RECALL] = or_undefined(rate(c.true_positive, rows));
    detail[BROAD__DETAIL_F1] = or_undefined(rate(2 * c.true_positive, rows + verdicts));
}

double broad__detail(const double *details, size_t output, size_t which)
{
    double value = details[output * BROAD__DETAILS + which];
    return value < 0 ? (double)NAN : value;
}

static size_t count_defined(const double *details, size_t classes, size_t which)
{
    size_t defined = 0;
    for (size_t c = 0; c < classes; c++) defined += (size_t)!isnan(broad__detail(details, c, which));
    return defined;
}

/* Mean over the classes for which it is defined; NaN: none. */
static double mean_detail(const double *details, size_t classes, size_t which)
{
    size_t defined = count_defined(details, classes, which);
    double sum = 0;
    for (size_t c = 0; c < classes; c++) {
        double value = broad__detail(details, c, which);
        if (!isnan(value)) sum += value;
    }
    return defined ? sum / (double)defined : (double)NAN;
}

/* The same; each class adds its part, which differs in the last bits, and is what stored models were told. */
static double mean_of_parts(const double *details, size_t classes, size_t which)
{
    size_t defined = count_defined(details, classes, which);
    double part = 1 / (double)defined, sum = 0;
    for (size_t c = 0; c < classes; c++) {
        double value = broad__detail(details, c, which);
        if (!isnan(value)) sum += part * value;
    }
    return defined ? sum : (double)NAN;
}

/* Of false verdicts among the rows that are, and are not, of a class. */
static void measure_rates(broad_metrics *out, size_t positive)
{
    size_t present = 0, absent = 0;
    for (size_t k = 0; k < out->classes; k++) {
        counts c = count_class(out, k);
        if (out->classes == 2 && k != positive) continue;
        present += c.false_negative + c.true_positive > 0;
        absent += c.false_positive + c.true_negative > 0;
    }
    out->false_positive = out->false_negative = 0;
    for (size_t k = 0; k < out->classes; k++) {
        counts c = count_class(out, k);
        if (out->classes == 2 && k != positive) continue;
        if (absent)
            out->false_positive +=
                1 / (double)absent * or_zero(rate(c.false_positive, c.false_positive + c.true_negative));
        if (present)
            out->false_negative +=
                1 / (double)present * or_zero(rate(c.false_negative, c.false_negative + c.true_positive));
    }
}

/* Two classes: of the positive one; more: the mean. */
static double pool(const double *details, size_t classes, size_t positive, size_t which)
{
    int area = which == BROAD__DETAIL_ROC || which == BROAD__DETAIL_PR;
    if (classes == 2) return broad__detail(details, positive, which);
    return area ? mean_detail(details, classes, which) : mean_of_parts(details, classes, which);
}

void broad__metrics_pool(broad_metrics *out, const double *details, size_t classes, size_t positive)
{
    double rows = 0, most = 0;
    if (positive >= classes) positive = classes - 1;
    for (size_t c = 0; c < classes; c++) {
        rows += details[c * BROAD__DETAILS + BROAD__DETAIL_ROWS];
        most = fmax(most, details[c * BROAD__DETAILS + BROAD__DETAIL_ROWS]);
    }
    out->baseline = rows > 0 ? most / rows : 0;
    out->balanced_accuracy = or_zero(mean_detail(details, classes, BROAD__DETAIL_RECALL));
    out->precision = or_zero(pool(details, classes, positive, BROAD__DETAIL_PRECISION));
    out->recall = or_zero(pool(details, classes, positive, BROAD__DETAIL_RECALL));
    out->f1 = or_zero(pool(details, classes, positive, BROAD__DETAIL_F1));
    out->roc_auc = pool(details, classes, positive, BROAD__DETAIL_ROC);
    out->pr_auc = pool(details, classes, positive, BROAD__DETAIL_PR);
}

/* (c n - sum_k p_k t_k) / sqrt((n^2 - sum p_k^2) (n^2 - sum t_k^2)); p_k predicted as k, t_k truly k, c correct ones. */
static double correlation(const broad_metrics *m)
{
    double rows = (double)m->rows, right = 0, both = 0, predicted = 0, true_ones = 0;
    for (size_t k = 0; k < m->classes; k++) {
        counts c = count_class(m, k);
        double p = (double)(c.true_positive + c.false_positive), t = (double)(c.true_positive + c.false_negative);
        right += (double)c.true_positive;
        both += p * t;
        predicted += p * p;
        true_ones += t * t;
    }
    double spread = sqrt(rows * rows - predicted) * sqrt(rows * rows - true_ones);
    return spread > 0 ? fmax(fmin((right * rows - both) / spread, 1), -1) : 0;
}

void broad__wilson(double *low, double *high, double part, double rows)
{
    double square = USUAL_DEVIATIONS * USUAL_DEVIATIONS;
    double middle = (part + square / (2 * rows)) / (1 + square / rows);
    double reach = USUAL_DEVIATIONS / (1 + square / rows) * sqrt(part * (1 - part) / rows + square / (4 * rows * rows));
    /* The part itself is within, also where rounding says otherwise: all of the rows, or none. */
    *low = fmax(fmin(middle - reach, part), 0);
    *high = fmin(fmax(middle + reach, part), 1);
}

static int rank_classes(double *details, const broad__ranking *ranking)
{
    size_t classes = ranking->classes;
    double *areas = broad__alloc_doubles(classes, 2);
    int status = areas ? broad__ranking_measure(areas, areas + classes, ranking) : BROAD_NO_MEMORY;
    for (size_t c = 0; !status && c < classes; c++) {
        double *detail = details + c * BROAD__DETAILS;
        detail[BROAD__DETAIL_ROC] = or_undefined(areas[c]);
        detail[BROAD__DETAIL_PR] = or_undefined(areas[classes + c]);
    }
    broad__free(areas);
    return status;
}

static int measure_classes(broad_metrics *out, const broad__tally *tally)
{
    size_t classes = out->classes, right = 0,
           positive = tally->verdicts.positive < classes ? tally->verdicts.positive : classes - 1;
    for (size_t c = 0; c < classes; c++) {
        right += out->confusion[c * classes + c];
        detail_class(out->details + c * BROAD__DETAILS, out, c);
        out->details[c * BROAD__DETAILS + BROAD__DETAIL_ROC] = out->details[c * BROAD__DETAILS + BROAD__DETAIL_PR] = -1;
    }
    measure_rates(out, positive);
    int status = classes > 1 ? rank_classes(out->details, &tally->ranking) : BROAD_OK;
    out->accuracy = rate(right, out->rows);
    broad__metrics_pool(out, out->details, classes, positive);
    out->mcc = correlation(out);
    broad__wilson(&out->low, &out->high, out->accuracy, (double)out->rows);
    return status;
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* The sum of the squared distances of one output from its mean. */
static long double spread_of(const broad_data *truth, size_t output)
{
    size_t rows = truth->rows, outputs = truth->outputs;
    long double mean = 0, spread = 0;
    broad__page_cursor summed = {0}, squared = {0};
    for (size_t i = 0; i < rows; i++) {
        const double *row = truth->values + i * outputs;
        mean += row[output];
        broad__page_cursor_step(&summed, truth->spill, row, outputs * sizeof *row);
    }
    mean /= (long double)rows;
    for (size_t i = 0; i < rows; i++) {
        const double *row = truth->values + i * outputs;
        long double away = row[output] - mean;
        spread += away * away;
        broad__page_cursor_step(&squared, truth->spill, row, outputs * sizeof *row);
    }
    return spread;
}

/* On a logarithmic scale, so that no end is below 0: the mean m of the rows' squares has the relative deviation
 * sd / (m sqrt(n)), its root half of that. */
static void root_interval(double *low, double *high, double root, long double mean, long double squares, size_t rows)
{
    long double variance = squares / (long double)rows - mean * mean;
    double relative = mean > 0 ? (double)(sqrtl(variance > 0 ? variance : 0) / mean) : 0;
    double factor = exp(USUAL_DEVIATIONS * relative / sqrt((double)rows) / 2);
    *low = root / factor;
    *high = fmin(root * factor, DBL_MAX);
}

double broad__baseline_of(const double *details, size_t targets)
{
    long double sum = 0;
    for (size_t j = 0; j < targets; j++) {
        long double each = details[j * BROAD__DETAILS + BROAD__DETAIL_BASELINE];
        sum += each * each;
    }
    return targets ? (double)sqrtl(sum / (long double)targets) : 0;
}

static void measure_values(broad_metrics *out, const broad__tally *tally)
{
    const broad_data *truth = tally->truth;
    size_t outputs = truth->outputs;
    long double all_spread = 0, squares = 0, distances = 0, rows = (long double)truth->rows,
                each = (long double)outputs;
    for (size_t j = 0; j < outputs; j++) {
        double *detail = out->details + j * BROAD__DETAILS;
        long double spread = spread_of(truth, j), square = tally->sums[2 * j];
        detail[BROAD__DETAIL_RMSE] = (double)sqrtl(square / rows);
        detail[BROAD__DETAIL_MAE] = (double)(tally->sums[2 * j + 1] / rows);
        detail[BROAD__DETAIL_R2] = spread > 0 ? (double)(1 - square / spread) : 0;
        detail[BROAD__DETAIL_BASELINE] = (double)sqrtl(spread / rows);
        detail[BROAD__DETAIL_COVERAGE] = detail[BROAD__DETAIL_WIDTH] = -1;
        all_spread += spread;
        squares += square;
        distances += tally->sums[2 * j + 1];
    }
    out->rmse = (double)sqrtl(squares / (rows * each));
    out->mae = (double)(distances / (rows * each));
    out->r2 = all_spread > 0 ? (double)(1 - squares / all_spread) : 0;
    out->baseline = (double)sqrtl(all_spread / (rows * each));
    root_interval(&out->low, &out->high, out->rmse, squares / rows, tally->fourth, truth->rows);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static int open_classes(broad__tally *out, const broad_data *truth)
{
    size_t cells;
    if (broad__multiply(&cells, truth->outputs, truth->outputs) < 0) return broad__fail_memory(SIZE_MAX);
    out->confusion = broad__alloc_array(cells, sizeof *out->confusion);
    if (!out->confusion) return BROAD_NO_MEMORY;
    return truth->outputs > 1 ? broad__ranking_open(&out->ranking, truth->rows, truth->outputs, truth->spill)
                              : BROAD_OK;
}

int broad__tally_open(broad__tally *out, const broad_data *truth, const broad__verdicts *verdicts)
{
    *out = (broad__tally){.truth = truth, .verdicts = *verdicts};
    if (truth->task == BROAD_TASK_AUTO || !truth->rows)
        return broad__fail(BROAD_BAD_DATA,
                           "the data have no targets to compare with; give option target or option labels");
    int status = BROAD_OK;
    if (truth->task == BROAD_TASK_CLASSIFY) status = open_classes(out, truth);
    else out->sums = broad__alloc_array(truth->outputs, 2 * sizeof *out->sums);
    if (status == BROAD_OK && !out->confusion && !out->sums) status = BROAD_NO_MEMORY;
    if (status < 0) broad__tally_close(out);
    return status;
}

void broad__tally_close(broad__tally *tally)
{
    broad__free(tally->confusion);
    broad__free(tally->sums);
    broad__ranking_close(&tally->ranking);
    *tally = (broad__tally){0};
}

static size_t verdict_of(const broad__tally *tally, const double *scores)
{
    const broad__verdicts *v = &tally->verdicts;
    double p[2];
    if (!(v->threshold > 0 && v->calibration && tally->truth->outputs == 2))
        return broad__largest(scores, tally->truth->outputs);
    broad__calibrated(p, scores, 1, 2, v->calibration);
    return p[v->positive] >= v->threshold ? v->positive : 1 - v->positive;
}

static void add_values(broad__tally *tally, const double *values, const double *scores, size_t count)
{
    size_t outputs = tally->truth->outputs;
    /* Sums in long double: squares of large values neither overflow nor lose the small ones. */
    for (size_t i = 0; i < count; i++) {
        long double row = 0;
        for (size_t j = 0; j < outputs; j++) {
            long double miss = (long double)values[i * outputs + j] - scores[i * outputs + j];
            row += miss * miss;
            tally->sums[2 * j] += miss * miss;
            tally->sums[2 * j + 1] += fabsl(miss);
        }
        tally->fourth += row * row;
    }
}

void broad__tally_add(broad__tally *tally, const double *scores, size_t first, size_t count)
{
    const broad_data *truth = tally->truth;
    size_t outputs = truth->outputs;
    if (truth->task == BROAD_TASK_CLASSIFY) {
        for (size_t i = 0; i < count; i++) {
            const double *row = scores + i * outputs;
            size_t class = truth->classes[first + i];
            tally->confusion[class * outputs + verdict_of(tally, row)]++;
            if (outputs > 1) broad__ranking_add(&tally->ranking, first + i, row, class, tally->verdicts.calibration);
        }
        broad__spill_done(truth->spill, truth->classes + first, count * sizeof *truth->classes);
        return;
    }
    const double *values = truth->values + first * outputs;
    add_values(tally, values, scores, count);
    broad__spill_done(truth->spill, values, count * outputs * sizeof *values);
}

void broad__metrics_clear(broad_metrics *metrics)
{
    broad__free(metrics->confusion);
    broad__free(metrics->details);
    metrics->confusion = NULL;
    metrics->details = NULL;
}

int broad__tally_measure(broad_metrics *out, broad__tally *tally)
{
    const broad_data *truth = tally->truth;
    broad_metrics m = {.size = sizeof m, .task = truth->task, .rows = truth->rows, .confusion = tally->confusion};
    tally->confusion = NULL;
    m.details = broad__alloc_doubles(truth->outputs, BROAD__DETAILS);
    m.classes = m.confusion ? truth->outputs : 0;
    m.targets = m.confusion ? 0 : truth->outputs;
    int status = m.details ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK && m.classes) status = measure_classes(&m, tally);
    else if (status == BROAD_OK) measure_values(&m, tally);
    if (status < 0) broad__metrics_clear(&m);
    else *out = m;
    return status;
}

int broad__metrics(broad_metrics *out, const broad_data *truth, const double *scores, const broad__verdicts *verdicts)
{
    broad__tally tally;
    *out = (broad_metrics){.size = sizeof *out, .task = truth->task, .rows = truth->rows};
    int status = broad__tally_open(&tally, truth, verdicts);
    if (status < 0) return status;
    broad__tally_add(&tally, scores, 0, truth->rows);
    status = broad__tally_measure(out, &tally);
    broad__tally_close(&tally);
    return status;
}
