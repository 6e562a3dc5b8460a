#include "feature/sample.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* Random numbers of a sparse node; those of a dense one are numbered as broad__draw_nodes() does it. */
enum { SPARSE_NUMBERS = 8, SPARSE_INPUTS = 2 };

static const double EVEN_SHARE = 0.1; /* of the probability, so that no column is lost for good */
static const double SPARSE_FACTOR = 2;

static double relevance_of(const broad__sample_task *task, size_t column)
{
    return task->relevance ? task->relevance[column] : 1;
}

static double probability(const broad__sample_task *task, size_t column, double total)
{
    double s = relevance_of(task, column);
    return (1 - EVEN_SHARE) * s * s / total + EVEN_SHARE / (double)task->scaling.columns;
}

/* The column that u falls on, with `taken` left out. */
static size_t pick(const broad__sample_task *task, double total, double u, size_t taken)
{
    size_t columns = task->scaling.columns, last = taken == 0 ? 1 : 0;
    double rest = taken < columns ? 1 - probability(task, taken, total) : 1, sum = 0;
    for (size_t j = 0; j < columns; j++) {
        if (j == taken) continue;
        sum += probability(task, j, total) / rest;
        last = j;
        if (u < sum) break;
    }
    return last;
}

static void draw_sparse(double *weight, const broad__sample_task *task, double total, size_t node)
{
    size_t columns = task->scaling.columns, taken = columns;
    double u[SPARSE_NUMBERS];
    broad__random_fill(u, &task->stream, (uint64_t)node * SPARSE_NUMBERS, SPARSE_NUMBERS);
    size_t inputs = columns < SPARSE_INPUTS ? columns : SPARSE_INPUTS;
    for (size_t i = 0; i < inputs; i++) {
        size_t j = pick(task, total, u[i], taken);
        weight[j * task->nodes + node] =
            (2 * u[SPARSE_INPUTS + i] - 1) * SPARSE_FACTOR * task->range * sqrt(3.0 / (double)inputs);
        taken = j;
    }
}

static void draw_dense(double *weight, const broad__sample_task *task, size_t node)
{
    size_t columns = task->scaling.columns;
    double scale = task->range * sqrt(3.0 / (double)columns);
    for (size_t j = 0; j < columns; j++) {
        double u = broad__random_at(&task->stream, (uint64_t)node * (columns + 1) + j);
        weight[j * task->nodes + node] = (2 * u - 1) * scale * relevance_of(task, j);
    }
}

static size_t anchor_of(const broad__sample_task *task, size_t node)
{
    size_t columns = task->scaling.columns;
    uint64_t element =
        task->sparse ? (uint64_t)node * SPARSE_NUMBERS + 2 * SPARSE_INPUTS : (uint64_t)node * (columns + 1) + columns;
    return (size_t)(broad__random_at(&task->stream, element) * (double)task->rows);
}

int broad__sample_nodes(double *weight, double *bias, const broad__sample_task *task)
{
    size_t columns = task->scaling.columns;
    double total = 0, *row = broad__alloc_doubles(columns, 1);
    if (!row) return BROAD_NO_MEMORY;
    memset(weight, 0, columns * task->nodes * sizeof(double));
    for (size_t j = 0; j < columns; j++) total += relevance_of(task, j) * relevance_of(task, j);
    for (size_t node = 0; node < task->nodes; node++) {
        if (task->sparse) draw_sparse(weight, task, total, node);
        else draw_dense(weight, task, node);
        broad__scaling_apply(row, &task->scaling, task->x + anchor_of(task, node) * task->scaling.inputs, 1,
                             task->scaling.inputs);
        bias[node] = 0;
        for (size_t j = 0; j < columns; j++) bias[node] -= weight[j * task->nodes + node] * row[j];
    }
    broad__free(row);
    return BROAD_OK;
}
