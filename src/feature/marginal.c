#include "feature/marginal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { BINS = 10 };

typedef struct value {
    double x;
    size_t row;
} value;

typedef struct marginal {
    const double *x, *y;
    size_t inputs, outputs, rows;
    value *order;
    double *sum; /* outputs: of a bin's targets */
} marginal;

/* Missing values come last. Rows with equal values in their order, so that sums have the same bits everywhere. */
static int compare(const void *left, const void *right)
{
    const value *a = left, *b = right;
    if (isnan(a->x) != isnan(b->x)) return isnan(a->x) ? 1 : -1;
    if (a->x < b->x || a->x > b->x) return a->x < b->x ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int same(const value *a, const value *b) { return a->x == b->x || (isnan(a->x) && isnan(b->x)); }

/* The end of the bin that begins there. */
static size_t bin_end(const marginal *m, size_t first)
{
    size_t each = (m->rows + BINS - 1) / BINS, end = first + each < m->rows ? first + each : m->rows;
    while (end < m->rows && same(&m->order[end - 1], &m->order[end])) end++;
    size_t known = first;
    while (known < end && !isnan(m->order[known].x)) known++;
    return known > first && known < end ? known : end;
}

/* The bin's sum, squared, over its rows. */
static double between(const marginal *m, size_t first, size_t end)
{
    double square = 0;
    memset(m->sum, 0, m->outputs * sizeof(double));
    for (size_t i = first; i < end; i++)
        for (size_t q = 0; q < m->outputs; q++) m->sum[q] += m->y[m->order[i].row * m->outputs + q];
    for (size_t q = 0; q < m->outputs; q++) square += m->sum[q] * m->sum[q];
    return square / (double)(end - first);
}

/* mean: of all rows, as between() has it; total: the sum of the targets' squares. */
static double explained(const marginal *m, size_t input, double mean, double total)
{
    double sum = 0;
    size_t bins = 0;
    for (size_t i = 0; i < m->rows; i++) m->order[i] = (value){m->x[i * m->inputs + input], i};
    qsort(m->order, m->rows, sizeof *m->order, compare);
    for (size_t i = 0; i < m->rows; bins++) {
        size_t end = bin_end(m, i);
        sum += between(m, i, end);
        i = end;
    }
    if (bins < 2 || m->rows <= bins || !(total > mean)) return 0;
    double left = (total - sum) / (total - mean) * (double)(m->rows - 1) / (double)(m->rows - bins);
    return left < 1 ? fmin(1 - left, 1) : 0;
}

int broad__marginal(double *out, const double *x, size_t inputs, const double *y, size_t outputs, size_t rows)
{
    marginal m = {.x = x, .y = y, .inputs = inputs, .outputs = outputs, .rows = rows};
    m.order = broad__alloc_array(rows, sizeof *m.order);
    m.sum = broad__alloc_doubles(outputs, 1);
    int status = m.order && m.sum ? BROAD_OK : BROAD_NO_MEMORY;
    double total = 0, mean = 0;
    for (size_t i = 0; i < rows * outputs; i++) total += y[i] * y[i];
    for (size_t i = 0; status == BROAD_OK && i < rows; i++) m.order[i].row = i;
    if (status == BROAD_OK && rows) mean = between(&m, 0, rows);
    for (size_t j = 0; status == BROAD_OK && j < inputs; j++) out[j] = explained(&m, j, mean, total);
    broad__free(m.order);
    broad__free(m.sum);
    return status;
}
