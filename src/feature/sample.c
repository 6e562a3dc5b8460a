#include "feature/sample.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* Random numbers of a node that does not need one for each column; those of a dense one are numbered as
 * broad__draw_nodes() numbers them. The last is for the row where it turns. */
enum { NUMBERS = 8, ANCHOR = 7, SPARSE_INPUTS = 2, SPREAD_ROWS = 256, GRID_LEAST = 8 };

static const double EVEN_SHARE = 0.1; /* of the probability, so that no column is lost for good */
static const double SPARSE_FACTOR = 2;

typedef struct sampling {
    const broad__sample_task *task;
    double *weight; /* columns x nodes */
    double total;   /* of the squared relevances */
    double *spread; /* scaled rows that the spread of a direction is measured on: columns x spread_rows */
    size_t spread_rows;
    double *scaled; /* rows x columns: all rows, where there are no more of them than nodes; else NULL */
    double *row, *other, *direction; /* columns each */
} sampling;

static double relevance_of(const broad__sample_task *task, size_t column)
{
    return task->relevance ? task->relevance[column] : 1;
}

static void scaled_row(double *out, const broad__sample_task *task, size_t row)
{
    size_t inputs = task->scaling.inputs;
    broad__scaling_apply(out, &task->scaling, task->x + row * inputs, 1, inputs);
}

/* A row from those that are scaled already, or scaled into `scratch`. */
static const double *get_row(const sampling *s, double *scratch, size_t row)
{
    if (s->scaled) return s->scaled + row * s->task->scaling.columns;
    scaled_row(scratch, s->task, row);
    return scratch;
}

static size_t row_at(const broad__sample_task *task, double u) { return (size_t)(u * (double)task->rows); }

/* ---- directions ------------------------------------------------------------------------------------------------- */

static double probability(const sampling *s, size_t column)
{
    double relevance = relevance_of(s->task, column);
    return (1 - EVEN_SHARE) * relevance * relevance / s->total + EVEN_SHARE / (double)s->task->scaling.columns;
}

/* The column that u falls on, with `taken` left out. */
static size_t pick(const sampling *s, double u, size_t taken)
{
    size_t columns = s->task->scaling.columns, last = taken == 0 ? 1 : 0;
    double rest = taken < columns ? 1 - probability(s, taken) : 1, sum = 0;
    for (size_t j = 0; j < columns; j++) {
        if (j == taken) continue;
        sum += probability(s, j) / rest;
        last = j;
        if (u < sum) break;
    }
    return last;
}

static void draw_sparse(sampling *s, const double *u)
{
    size_t columns = s->task->scaling.columns, taken = columns;
    size_t inputs = columns < SPARSE_INPUTS ? columns : SPARSE_INPUTS;
    memset(s->direction, 0, columns * sizeof(double));
    for (size_t i = 0; i < inputs; i++) {
        size_t j = pick(s, u[i], taken);
        s->direction[j] = (2 * u[SPARSE_INPUTS + i] - 1) * SPARSE_FACTOR * s->task->range * sqrt(3.0 / (double)inputs);
        taken = j;
    }
}

static void draw_dense(sampling *s, size_t node)
{
    size_t columns = s->task->scaling.columns;
    double scale = s->task->range * sqrt(3.0 / (double)columns);
    for (size_t j = 0; j < columns; j++) {
        double u = broad__random_at(&s->task->stream, (uint64_t)node * (columns + 1) + j);
        s->direction[j] = (2 * u - 1) * scale * relevance_of(s->task, j);
    }
}

/* From a quarter to a half of a side, and where it begins. */
static void window(size_t *out_first, size_t *out_end, size_t side, double u_size, double u_place)
{
    size_t least = side / 4, size = least + (size_t)(u_size * (double)(least + 1));
    *out_first = (size_t)(u_place * (double)(side - size + 1));
    *out_end = *out_first + size;
}

/* Points of an image outside a rectangle do not count. */
static void keep_rectangle(sampling *s, const double *u)
{
    const broad__sample_task *task = s->task;
    size_t height = task->grid_height, width = task->grid_width, top, bottom, left, right;
    if (height < GRID_LEAST || width < GRID_LEAST || height * width != task->scaling.inputs) return;
    window(&top, &bottom, height, u[0], u[1]);
    window(&left, &right, width, u[2], u[3]);
    for (size_t j = 0; j < task->scaling.columns; j++) {
        size_t point = j % task->scaling.inputs, y = point / width, x = point % width;
        if (y < top || y >= bottom || x < left || x >= right) s->direction[j] = 0;
    }
}

/* Standard deviation of w.x over some rows. All of them at once, so that each sum takes its columns in order without
 * waiting for the one before; columns of no weight, which are most of them outside a rectangle, add nothing. */
static double spread_of(const sampling *s)
{
    size_t rows = s->spread_rows;
    double values[SPREAD_ROWS] = {0}, sum = 0, squares = 0, count = (double)rows;
    for (size_t j = 0; j < s->task->scaling.columns; j++) {
        const double *column = s->spread + j * rows, weight = s->direction[j];
        if (weight == 0) continue;
        for (size_t i = 0; i < rows; i++) values[i] += column[i] * weight;
    }
    for (size_t i = 0; i < rows; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    double variance = squares / count - sum / count * (sum / count);
    return variance > 0 ? sqrt(variance) : 0;
}

/* The rows that the spread is measured on, column by column. */
static void take_spread_rows(sampling *s)
{
    for (size_t i = 0; i < s->spread_rows; i++) {
        scaled_row(s->row, s->task, i * s->task->rows / s->spread_rows);
        for (size_t j = 0; j < s->task->scaling.columns; j++) s->spread[j * s->spread_rows + i] = s->row[j];
    }
}

/* Two rows that do not differ where it matters give no direction: the node then gets a dense one. */
static void draw_difference(sampling *s, const double *u, size_t node)
{
    const broad__sample_task *task = s->task;
    size_t columns = task->scaling.columns;
    double length = 0;
    const double *row = get_row(s, s->row, row_at(task, u[4])), *other = get_row(s, s->other, row_at(task, u[5]));
    for (size_t j = 0; j < columns; j++) s->direction[j] = (row[j] - other[j]) * relevance_of(task, j);
    keep_rectangle(s, u);
    for (size_t j = 0; j < columns; j++) length += s->direction[j] * s->direction[j];
    double spread = spread_of(s);
    if (!(spread > 1e-2 * sqrt(length))) {
        draw_dense(s, node);
        return;
    }
    for (size_t j = 0; j < columns; j++) s->direction[j] *= task->range / spread;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static void draw_node(sampling *s, double *bias, size_t node)
{
    const broad__sample_task *task = s->task;
    size_t columns = task->scaling.columns;
    double u[NUMBERS], anchor;
    if (task->direction == BROAD__DENSE) {
        draw_dense(s, node);
        anchor = broad__random_at(&task->stream, (uint64_t)node * (columns + 1) + columns);
    } else {
        broad__random_fill(u, &task->stream, (uint64_t)node * NUMBERS, NUMBERS);
        if (task->direction == BROAD__SPARSE) draw_sparse(s, u);
        else draw_difference(s, u, node);
        anchor = u[ANCHOR];
    }
    const double *row = get_row(s, s->row, row_at(task, anchor));
    bias[node] = 0;
    for (size_t j = 0; j < columns; j++) {
        s->weight[j * task->nodes + node] = s->direction[j];
        bias[node] -= s->direction[j] * row[j];
    }
}

int broad__sample_nodes(double *weight, double *bias, const broad__sample_task *task)
{
    size_t columns = task->scaling.columns;
    sampling s = {.task = task, .weight = weight};
    s.spread_rows = task->direction != BROAD__DIFFERENCE ? 0 : task->rows < SPREAD_ROWS ? task->rows : SPREAD_ROWS;
    int few = task->rows <= task->nodes;
    s.spread = broad__alloc_doubles(s.spread_rows, columns);
    s.row = broad__alloc_doubles(3, columns);
    if (few) s.scaled = broad__alloc_doubles(task->rows, columns);
    if (!s.spread || !s.row || (few && !s.scaled)) {
        broad__free(s.spread);
        broad__free(s.row);
        broad__free(s.scaled);
        return BROAD_NO_MEMORY;
    }
    if (few) broad__scaling_apply(s.scaled, &task->scaling, task->x, task->rows, task->scaling.inputs);
    s.other = s.row + columns;
    s.direction = s.other + columns;
    for (size_t j = 0; j < columns; j++) s.total += relevance_of(task, j) * relevance_of(task, j);
    take_spread_rows(&s);
    for (size_t node = 0; node < task->nodes; node++) draw_node(&s, bias, node);
    broad__free(s.spread);
    broad__free(s.row);
    broad__free(s.scaled);
    return BROAD_OK;
}
