#include "feature/metric.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

int broad__metric_open(broad__metric *out, size_t columns)
{
    *out = (broad__metric){.columns = columns, .full = columns <= BROAD__METRIC_COLUMNS};
    out->values = broad__alloc_doubles(columns, out->full ? columns : 1);
    return out->values ? BROAD_OK : BROAD_NO_MEMORY;
}

void broad__metric_close(broad__metric *metric)
{
    broad__free(metric->values);
    metric->values = NULL;
}

static size_t value_count(const broad__metric *metric)
{
    return metric->full ? metric->columns * metric->columns : metric->columns;
}

void broad__metric_copy(broad__metric *to, const broad__metric *from)
{
    memcpy(to->values, from->values, value_count(from) * sizeof(double));
}

static double *diagonal_at(const broad__metric *metric, size_t column)
{
    return metric->values + (metric->full ? column * (metric->columns + 1) : column);
}

double broad__metric_diagonal(const broad__metric *metric, size_t column) { return *diagonal_at(metric, column); }

void broad__metric_set_diagonal(broad__metric *metric, size_t column, double value)
{
    *diagonal_at(metric, column) = value;
}

void broad__metric_add(broad__metric *metric, const broad__device *device, const double *gradient, size_t rows)
{
    size_t columns = metric->columns;
    if (metric->full) {
        device->gram(metric->values, columns, gradient, columns, rows, columns);
        return;
    }
    for (size_t i = 0; i < rows * columns; i++) metric->values[i % columns] += gradient[i] * gradient[i];
}

/* Sums are in the upper triangle only. */
int broad__metric_settle(broad__metric *metric)
{
    size_t columns = metric->columns;
    double sum = 0;
    for (size_t j = 0; j < columns; j++) sum += *diagonal_at(metric, j);
    if (!(sum > 0) || !isfinite(sum)) return 0;
    double factor = (double)columns / sum;
    for (size_t i = 0; i < value_count(metric); i++) metric->values[i] *= factor;
    for (size_t i = 0; metric->full && i < columns; i++)
        for (size_t j = 0; j < i; j++) metric->values[i * columns + j] = metric->values[j * columns + i];
    return isfinite(factor);
}

void broad__metric_mean(broad__metric *to, const broad__metric *with)
{
    for (size_t i = 0; i < value_count(to); i++) to->values[i] = (to->values[i] + with->values[i]) / 2;
}

void broad__metric_soften(broad__metric *metric, double share)
{
    for (size_t i = 0; i < value_count(metric); i++) metric->values[i] *= share;
    for (size_t j = 0; j < metric->columns; j++) *diagonal_at(metric, j) += 1 - share;
}

/* ---- fewer inputs ---------------------------------------------------------------------------------------------- */

static double input_sum(const broad__metric *metric, size_t inputs, size_t input)
{
    double sum = 0;
    for (size_t j = input; j < metric->columns; j += inputs) sum += *diagonal_at(metric, j);
    return sum;
}

void broad__metric_drop(broad__metric *metric, size_t inputs, size_t input)
{
    size_t columns = metric->columns;
    for (size_t j = input; j < columns; j += inputs) {
        if (!metric->full) metric->values[j] = 0;
        for (size_t i = 0; metric->full && i < columns; i++)
            metric->values[i * columns + j] = metric->values[j * columns + i] = 0;
    }
}

static size_t unit_of(const size_t *unit, size_t input) { return unit ? unit[input] : input; }

/* Of the unit that begins with `first`; its inputs lie one after the other. */
static double unit_sum(const broad__metric *metric, size_t inputs, const size_t *unit, size_t first)
{
    double sum = 0;
    for (size_t j = first; j < inputs && unit_of(unit, j) == first; j++) sum += input_sum(metric, inputs, j);
    return sum;
}

/* The unit with the least relevance that is still there; the last of equals. */
static size_t least_unit(const broad__metric *metric, size_t inputs, const size_t *unit)
{
    size_t least = inputs;
    double sum = INFINITY;
    for (size_t j = 0; j < inputs; j++) {
        if (unit_of(unit, j) != j) continue;
        double here = unit_sum(metric, inputs, unit, j);
        if (here <= 0 || here > sum) continue;
        sum = here;
        least = j;
    }
    return least;
}

int broad__metric_prune(broad__metric *metric, size_t inputs, const size_t *unit, double share)
{
    double sum = 0, dropped = 0;
    for (size_t j = 0; j < metric->columns; j++) sum += *diagonal_at(metric, j);
    for (;;) {
        size_t least = least_unit(metric, inputs, unit);
        if (least == inputs) return 0;
        dropped += unit_sum(metric, inputs, unit, least);
        if (dropped > (1 - share) * sum) break;
        for (size_t j = least; j < inputs && unit_of(unit, j) == least; j++) broad__metric_drop(metric, inputs, j);
    }
    return broad__metric_settle(metric);
}

/* ---- inputs that count alike -------------------------------------------------------------------------------------- */

/* Places of the matrix that any order of the inputs of the units brings together have one sum. */
typedef struct pooling {
    const size_t *unit; /* of each input */
    size_t inputs, columns, side;
    double *same, *other; /* of an input with itself, and with another one: at the first columns of both units */
    size_t *size;         /* inputs of each unit */
} pooling;

static double *pooled_at(const pooling *p, size_t i, size_t j, double *out_count)
{
    size_t a = i % p->inputs, b = j % p->inputs, first = p->unit[a], second = p->unit[b];
    size_t at = (i - a + first) * p->side + (p->side > 1 ? j - b + second : 0);
    double of_a = (double)p->size[first], of_b = (double)p->size[second];
    *out_count = a == b ? of_a : first == second ? of_a * (of_a - 1) : of_a * of_b;
    return (a == b ? p->same : p->other) + at;
}

static void pool(broad__metric *metric, const pooling *p)
{
    size_t n = p->columns, inner = metric->full ? n : 1;
    double count;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < inner; k++)
            *pooled_at(p, i, metric->full ? k : i, &count) += metric->values[i * inner + k];
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < inner; k++) {
            double sum = *pooled_at(p, i, metric->full ? k : i, &count);
            metric->values[i * inner + k] = sum / count;
        }
}

int broad__metric_pool(broad__metric *metric, size_t inputs, const size_t *unit)
{
    if (inputs == 0) return BROAD_OK;
    pooling p = {
        .unit = unit, .inputs = inputs, .columns = metric->columns, .side = metric->full ? metric->columns : 1};
    p.same = broad__alloc_doubles(p.columns, p.side);
    p.other = broad__alloc_doubles(p.columns, p.side);
    p.size = broad__alloc_array(inputs, sizeof *p.size);
    int status = p.same && p.other && p.size ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t j = 0; status == BROAD_OK && j < inputs; j++) p.size[unit[j]]++;
    if (status == BROAD_OK) pool(metric, &p);
    broad__free(p.same);
    broad__free(p.other);
    broad__free(p.size);
    return status;
}

/* ---- what directions are drawn with ------------------------------------------------------------------------------ */

void broad__metric_relevance(double *out, const broad__metric *metric)
{
    for (size_t j = 0; j < metric->columns; j++) out[j] = sqrt(fmax(*diagonal_at(metric, j), 0));
}

int broad__metric_root(double *out, const broad__metric *metric, const broad__device *device)
{
    size_t n = metric->columns;
    double *vectors = broad__alloc_doubles(n, n), *values = broad__alloc_doubles(n, 1);
    int status = vectors && values ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        memcpy(vectors, metric->values, n * n * sizeof(double));
        status = device->eigen(vectors, values, n);
    }
    memset(out, 0, n * n * sizeof(double));
    if (status == BROAD_OK) {
        /* V' sqrt(values) V, as the product of its fourth roots. */
        for (size_t i = 0; i < n; i++) {
            double root = sqrt(sqrt(fmax(values[i], 0)));
            for (size_t j = 0; j < n; j++) vectors[i * n + j] *= root;
        }
        device->gram(out, n, vectors, n, n, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) out[i * n + j] = out[j * n + i];
    }
    broad__free(vectors);
    broad__free(values);
    return status;
}
