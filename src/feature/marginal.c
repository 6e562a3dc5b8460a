#include "feature/marginal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { BINS = 10, PAIR_BINS = 5, CELLS_MOST = (PAIR_BINS + 1) * (PAIR_BINS + 1) };
/* Standard deviations of what chance gives to a pair, of which there are many; and what all of them may cost. */
static const double BY_CHANCE = 6, WORK_MOST = 3e8;
enum { PAIRED_MOST = 256 }; /* inputs */

typedef struct value {
    double x;
    size_t row;
} value;

typedef struct marginal {
    const double *x, *y;
    size_t inputs, outputs, rows, bins;
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
    size_t each = (m->rows + m->bins - 1) / m->bins, end = first + each < m->rows ? first + each : m->rows;
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
    marginal m = {.x = x, .y = y, .inputs = inputs, .outputs = outputs, .rows = rows, .bins = BINS};
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

/* ---- pairs -------------------------------------------------------------------------------------------------------- */

typedef struct pairs {
    marginal m;
    unsigned char *bin;       /* inputs x rows */
    double *sums;             /* CELLS_MOST x outputs: of each cell */
    size_t count[CELLS_MOST]; /* its rows */
    double *alone;            /* inputs: what each tells by itself */
    double *gain;             /* inputs x inputs: what two tell beyond that; upper triangle */
    double *rest;             /* rows x outputs: the targets less the means of the cells so far */
    double spread;            /* sum of their squares */
} pairs;

/* Missing values have a bin of their own, the last. */
static void fill_bins(pairs *p, size_t input)
{
    marginal *m = &p->m;
    unsigned char *bin = p->bin + input * m->rows, at = 0;
    for (size_t i = 0; i < m->rows; i++) m->order[i] = (value){m->x[i * m->inputs + input], i};
    qsort(m->order, m->rows, sizeof *m->order, compare);
    for (size_t i = 0; i < m->rows; at++) {
        size_t end = bin_end(m, i);
        for (; i < end; i++) bin[m->order[i].row] = at < PAIR_BINS ? at : PAIR_BINS;
    }
}

static size_t cell_of(const pairs *p, size_t a, size_t b, size_t row)
{
    return (size_t)p->bin[a * p->m.rows + row] * (PAIR_BINS + 1) + p->bin[b * p->m.rows + row];
}

/* What the cells of two inputs, or the bins of one with itself, tell of the rest; *out_noise: its deviation by chance. */
static double cells_explained(double *out_noise, pairs *p, size_t a, size_t b)
{
    size_t rows = p->m.rows, outputs = p->m.outputs, cells = 0;
    double between = 0;
    memset(p->sums, 0, CELLS_MOST * outputs * sizeof(double));
    memset(p->count, 0, sizeof p->count);
    for (size_t i = 0; i < rows; i++) {
        size_t cell = cell_of(p, a, b, i);
        p->count[cell]++;
        for (size_t q = 0; q < outputs; q++) p->sums[cell * outputs + q] += p->rest[i * outputs + q];
    }
    for (size_t c = 0; c < CELLS_MOST; c++) {
        cells += p->count[c] > 0;
        for (size_t q = c * outputs; p->count[c] && q < (c + 1) * outputs; q++)
            between += p->sums[q] * p->sums[q] / (double)p->count[c];
    }
    *out_noise = INFINITY;
    if (cells < 2 || rows <= cells || !(p->spread > 0)) return 0;
    *out_noise = sqrt(2.0 * (double)(cells - 1)) / (double)(rows - cells);
    return 1 - (1 - between / p->spread) * (double)(rows - 1) / (double)(rows - cells);
}

static void measure_spread(pairs *p)
{
    p->spread = 0;
    for (size_t i = 0; i < p->m.rows * p->m.outputs; i++) p->spread += p->rest[i] * p->rest[i];
}

/* The targets less their means. */
static void center(pairs *p)
{
    const marginal *m = &p->m;
    for (size_t q = 0; q < m->outputs; q++) {
        double mean = 0;
        for (size_t i = 0; i < m->rows; i++) mean += m->y[i * m->outputs + q] / (double)m->rows;
        for (size_t i = 0; i < m->rows; i++) p->rest[i * m->outputs + q] = m->y[i * m->outputs + q] - mean;
    }
    measure_spread(p);
}

/* Takes the means of the cells of two inputs from the rest. Returns what they told of it. */
static double explain(pairs *p, size_t a, size_t b)
{
    size_t outputs = p->m.outputs;
    double noise, told = fmax(cells_explained(&noise, p, a, b), 0) * p->spread;
    for (size_t i = 0; i < p->m.rows; i++) {
        size_t cell = cell_of(p, a, b, i);
        for (size_t q = 0; q < outputs; q++)
            p->rest[i * outputs + q] -= p->sums[cell * outputs + q] / (double)p->count[cell];
    }
    measure_spread(p);
    return told;
}

static void find_gains(pairs *p)
{
    size_t inputs = p->m.inputs;
    double noise;
    for (size_t a = 0; a < inputs; a++) p->alone[a] = fmax(cells_explained(&noise, p, a, a), 0);
    for (size_t a = 0; a < inputs; a++)
        for (size_t b = a + 1; b < inputs; b++) {
            double gain = cells_explained(&noise, p, a, b) - p->alone[a] - p->alone[b];
            p->gain[a * inputs + b] = gain > BY_CHANCE * noise ? gain : 0;
        }
}

/* The strongest pair whose inputs have none yet. 0: there is none left. */
static int match_strongest(size_t *out_a, size_t *out_b, const pairs *p, unsigned char *taken)
{
    size_t inputs = p->m.inputs;
    double most = 0;
    for (size_t a = 0; a < inputs; a++)
        for (size_t b = a + 1; !taken[a] && b < inputs; b++)
            if (!taken[b] && p->gain[a * inputs + b] > most) most = p->gain[a * inputs + b], *out_a = a, *out_b = b;
    if (most > 0) taken[*out_a] = taken[*out_b] = 1;
    return most > 0;
}

static void tell(double *out, double *out_sum, pairs *p, unsigned char *taken)
{
    size_t inputs = p->m.inputs, a = 0, b = 0;
    double all = p->spread;
    for (a = 0; a < inputs; a++)
        for (b = a + 1; b < inputs; b++) {
            double gain = p->gain[a * inputs + b];
            out[a] = fmax(out[a], gain);
            out[b] = fmax(out[b], gain);
        }
    while (match_strongest(&a, &b, p, taken)) *out_sum += explain(p, a, b) / all;
}

static int pairs_open(pairs *p)
{
    const marginal *m = &p->m;
    p->m.order = broad__alloc_array(m->rows, sizeof *m->order);
    p->bin = broad__alloc_array(m->inputs * m->rows, sizeof *p->bin);
    p->sums = broad__alloc_doubles(CELLS_MOST, m->outputs);
    p->rest = broad__alloc_doubles(m->rows, m->outputs);
    p->alone = broad__alloc_doubles(m->inputs, 1);
    p->gain = broad__alloc_doubles(m->inputs, m->inputs);
    return m->order && p->bin && p->sums && p->rest && p->alone && p->gain ? BROAD_OK : BROAD_NO_MEMORY;
}

int broad__marginal_pairs(double *out, double *out_sum, const double *x, size_t inputs, const double *y, size_t outputs,
                          size_t rows)
{
    pairs p = {.m = {.x = x, .y = y, .inputs = inputs, .outputs = outputs, .rows = rows, .bins = PAIR_BINS}};
    double work = (double)inputs * (double)inputs * (double)rows * (double)(outputs + 1);
    unsigned char taken[PAIRED_MOST] = {0};
    for (size_t j = 0; j < inputs; j++) out[j] = 0;
    *out_sum = 0;
    if (inputs < 2 || inputs > PAIRED_MOST || work > WORK_MOST) return BROAD_OK;
    int status = pairs_open(&p);
    if (status == BROAD_OK) {
        center(&p);
        for (size_t j = 0; j < inputs; j++) fill_bins(&p, j);
        find_gains(&p);
        tell(out, out_sum, &p, taken);
    }
    void *all[] = {p.m.order, p.bin, p.sums, p.rest, p.alone, p.gain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) broad__free(all[i]);
    return status;
}
