#include "metric/metric.h"

#include <math.h>

#include "base/memory.h"
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

static size_t best_of(const double *scores, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (scores[i] > scores[best]) best = i;
    return best;
}

static int measure_classes(broad_metrics *out, const broad_data *truth, const double *scores, size_t positive)
{
    size_t classes = truth->outputs, cells, right = 0;
    if (broad__multiply(&cells, classes, classes) < 0) return broad__fail_memory(SIZE_MAX);
    out->confusion = broad__alloc_array(cells, sizeof *out->confusion);
    if (!out->confusion) return BROAD_NO_MEMORY;
    out->classes = classes;
    for (size_t i = 0; i < truth->rows; i++) {
        size_t verdict = best_of(scores + i * classes, classes);
        out->confusion[truth->classes[i] * classes + verdict]++;
        right += verdict == truth->classes[i];
    }
    out->accuracy = rate(right, truth->rows);
    if (classes == 2) add_class(out, positive < 2 ? positive : 1, 1);
    for (size_t c = 0; classes != 2 && c < classes; c++) add_class(out, c, 1 / (double)classes);
    return BROAD_OK;
}

/* Sums in long double: squares of large values neither overflow nor lose the small ones. */
static void measure_values(broad_metrics *out, const broad_data *truth, const double *scores)
{
    size_t rows = truth->rows, outputs = truth->outputs;
    long double squares = 0, distances = 0, spread = 0, count = (long double)rows * (long double)outputs;
    for (size_t i = 0; i < rows * outputs; i++) {
        long double miss = (long double)truth->values[i] - scores[i];
        squares += miss * miss;
        distances += fabsl(miss);
    }
    for (size_t j = 0; j < outputs; j++) {
        long double mean = 0;
        for (size_t i = 0; i < rows; i++) mean += truth->values[i * outputs + j];
        mean /= (long double)rows;
        for (size_t i = 0; i < rows; i++) {
            long double away = truth->values[i * outputs + j] - mean;
            spread += away * away;
        }
    }
    out->rmse = (double)sqrtl(squares / count);
    out->mae = (double)(distances / count);
    out->r2 = spread > 0 ? (double)(1 - squares / spread) : 0;
}

int broad__metrics(broad_metrics *out, const broad_data *truth, const double *scores, size_t positive)
{
    *out = (broad_metrics){.task = truth->task, .rows = truth->rows};
    if (truth->task == BROAD_TASK_AUTO || !truth->rows)
        return broad__fail(BROAD_BAD_DATA,
                           "the data have no targets to compare with; name them with --target or --labels");
    if (truth->task == BROAD_TASK_CLASSIFY) return measure_classes(out, truth, scores, positive);
    measure_values(out, truth, scores);
    return BROAD_OK;
}
