#include "metric/metric.h"

#include <math.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/status.h"

static double rate(size_t part, size_t whole) { return whole ? (double)part / (double)whole : 0; }

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

static void add_class(broad_metrics *out, size_t class, double weight)
{
    counts c = count_class(out, class);
    out->precision += weight * rate(c.true_positive, c.true_positive + c.false_positive);
    out->recall += weight * rate(c.true_positive, c.true_positive + c.false_negative);
    out->f1 += weight * rate(2 * c.true_positive, 2 * c.true_positive + c.false_positive + c.false_negative);
    out->false_positive += weight * rate(c.false_positive, c.false_positive + c.true_negative);
    out->false_negative += weight * rate(c.false_negative, c.false_negative + c.true_positive);
}

int broad__tally_open(broad__tally *out, const broad_data *truth)
{
    *out = (broad__tally){.truth = truth};
    if (truth->task == BROAD_TASK_AUTO || !truth->rows)
        return broad__fail(BROAD_BAD_DATA,
                           "the data have no targets to compare with; give option target or option labels");
    if (truth->task != BROAD_TASK_CLASSIFY) return BROAD_OK;
    size_t cells;
    if (broad__multiply(&cells, truth->outputs, truth->outputs) < 0) return broad__fail_memory(SIZE_MAX);
    out->confusion = broad__alloc_array(cells, sizeof *out->confusion);
    return out->confusion ? BROAD_OK : BROAD_NO_MEMORY;
}

void broad__tally_close(broad__tally *tally)
{
    broad__free(tally->confusion);
    *tally = (broad__tally){0};
}

void broad__tally_add(broad__tally *tally, const double *scores, size_t first, size_t count)
{
    const broad_data *truth = tally->truth;
    size_t outputs = truth->outputs;
    if (truth->task == BROAD_TASK_CLASSIFY) {
        for (size_t i = 0; i < count; i++)
            tally->confusion[truth->classes[first + i] * outputs + broad__largest(scores + i * outputs, outputs)]++;
        broad__spill_done(truth->spill, truth->classes + first, count * sizeof *truth->classes);
        return;
    }
    /* Sums in long double: squares of large values neither overflow nor lose the small ones. */
    const double *values = truth->values + first * outputs;
    for (size_t i = 0; i < count * outputs; i++) {
        long double miss = (long double)values[i] - scores[i];
        tally->squares += miss * miss;
        tally->distances += fabsl(miss);
    }
    broad__spill_done(truth->spill, values, count * outputs * sizeof *values);
}

static void measure_classes(broad_metrics *out, size_t positive)
{
    size_t classes = out->classes, right = 0;
    for (size_t c = 0; c < classes; c++) right += out->confusion[c * classes + c];
    out->accuracy = rate(right, out->rows);
    if (classes == 2) add_class(out, positive < 2 ? positive : 1, 1);
    for (size_t c = 0; classes != 2 && c < classes; c++) add_class(out, c, 1 / (double)classes);
}

/* Squared distances of one output from its mean. */
static void add_spread(long double *spread, const broad_data *truth, size_t output)
{
    size_t rows = truth->rows, outputs = truth->outputs;
    long double mean = 0;
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
        *spread += away * away;
        broad__page_cursor_step(&squared, truth->spill, row, outputs * sizeof *row);
    }
}

static void measure_values(broad_metrics *out, const broad__tally *tally)
{
    const broad_data *truth = tally->truth;
    long double spread = 0, count = (long double)truth->rows * (long double)truth->outputs;
    for (size_t j = 0; j < truth->outputs; j++) add_spread(&spread, truth, j);
    out->rmse = (double)sqrtl(tally->squares / count);
    out->mae = (double)(tally->distances / count);
    out->r2 = spread > 0 ? (double)(1 - tally->squares / spread) : 0;
}

void broad__tally_measure(broad_metrics *out, broad__tally *tally, size_t positive)
{
    const broad_data *truth = tally->truth;
    *out =
        (broad_metrics){.size = sizeof *out, .task = truth->task, .rows = truth->rows, .confusion = tally->confusion};
    tally->confusion = NULL;
    out->classes = out->confusion ? truth->outputs : 0;
    if (out->confusion) measure_classes(out, positive);
    else measure_values(out, tally);
}

int broad__metrics(broad_metrics *out, const broad_data *truth, const double *scores, size_t positive)
{
    broad__tally tally;
    *out = (broad_metrics){.size = sizeof *out, .task = truth->task, .rows = truth->rows};
    int status = broad__tally_open(&tally, truth);
    if (status < 0) return status;
    broad__tally_add(&tally, scores, 0, truth->rows);
    broad__tally_measure(out, &tally, positive);
    return BROAD_OK;
}
