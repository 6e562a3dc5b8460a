#include "feature/sample.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"

/* Random numbers of a node that does not need one for each column. The last is for the row where it turns. */
enum { NUMBERS = 9, COUNT = 6, STEEPNESS = 7, ANCHOR = 8, SPARSE_INPUTS = 3, SPREAD_ROWS = 256, GRID_LEAST = 8 };

static const double EVEN_SHARE = 0.1; /* of the probability, so that no column is lost by chance */
static const double SPARSE_FACTOR = 1.5;
static const double SPARSE_ONE = 0.2, SPARSE_TWO = 0.6; /* nodes with one input; with one or two */
static const double STEEPNESS_SPREAD = 0.6;             /* of its logarithm, to both sides */
/* Of the squared size of what w.x is made of: a variance below it has lost its digits to the mean, and is summed up again
 * without it. Of the size: rows that deviate by less do not differ; were that made larger, nodes would be rounding. */
static const double CANCELLED = 1e-10, SAME = 1e-9;

typedef struct sampling {
    const broad__sample_task *task;
    double *weight;  /* columns x nodes */
    double total;    /* of the squared relevances */
    size_t relevant; /* columns with any */
    double turned;   /* by how much the root of the metric makes directions longer, on the whole */
    double *spread;  /* scaled rows that the spread of a direction is measured on: columns x spread_rows */
    size_t spread_rows;
    double *largest; /* of each column, among them, without its sign */
    double *scaled;  /* rows x columns: all rows, where there are no more of them than nodes; else NULL */
    double *row, *other, *direction; /* columns each, as is `largest` */
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

static size_t choice(const broad__sample_task *task) { return task->order ? task->order_count : task->rows; }

/* u: uniform in [0, 1) */
static size_t row_at(const broad__sample_task *task, double u)
{
    size_t at = (size_t)(u * (double)choice(task));
    return task->order ? task->order[at] : at;
}

/* ---- directions ------------------------------------------------------------------------------------------------- */

/* Standard deviation of w.x over some rows, 0 where it is lost in rounding. All of them at once, so that each sum takes its columns in order without
 * waiting for the one before; columns of no weight, which are most of them outside a rectangle, add nothing. */
static double spread_of(const sampling *s)
{
    size_t rows = s->spread_rows;
    double values[SPREAD_ROWS] = {0}, sum = 0, squares = 0, count = (double)rows, size = 0;
    for (size_t j = 0; j < s->task->scaling.columns; j++) {
        const double *column = s->spread + j * rows, weight = s->direction[j];
        if (weight == 0) continue;
        for (size_t i = 0; i < rows; i++) values[i] += column[i] * weight;
        size += fabs(weight) * s->largest[j];
    }
    for (size_t i = 0; i < rows; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    double mean = sum / count, variance = squares / count - mean * mean;
    if (variance < CANCELLED * size * size) {
        variance = 0;
        for (size_t i = 0; i < rows; i++) variance += (values[i] - mean) * (values[i] - mean) / count;
        if (variance < SAME * size * (SAME * size)) return 0;
    }
    return variance > 0 ? sqrt(variance) : 0;
}

/* Makes w.x deviate by `range` over the rows. A direction in which they do not differ stays as it is. */
static void stretch(sampling *s, double range)
{
    double spread = spread_of(s);
    if (!(spread > 0) || !isfinite(range / spread)) return;
    for (size_t j = 0; j < s->task->scaling.columns; j++) s->direction[j] *= range / spread;
}

static double probability(const sampling *s, size_t column)
{
    double relevance = relevance_of(s->task, column);
    if (!(relevance > 0)) return 0;
    return (1 - EVEN_SHARE) * relevance * relevance / s->total + EVEN_SHARE / (double)s->relevant;
}

static int is_taken(const size_t *taken, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++)
        if (taken[i] == column) return 1;
    return 0;
}

/* The column that u falls on, with those taken left out. There is another one. */
static size_t pick(const sampling *s, double u, const size_t *taken, size_t count)
{
    size_t last = 0;
    double rest = 1, sum = 0;
    for (size_t i = 0; i < count; i++) rest -= probability(s, taken[i]);
    for (size_t j = 0; j < s->task->scaling.columns; j++) {
        double share = probability(s, j);
        if (share == 0 || is_taken(taken, count, j)) continue;
        sum += share / rest;
        last = j;
        if (u < sum) break;
    }
    return last;
}

static double steepness(double u) { return exp(STEEPNESS_SPREAD * (2 * u - 1)); }

static void draw_sparse(sampling *s, const double *u)
{
    size_t taken[SPARSE_INPUTS], inputs = u[COUNT] < SPARSE_ONE ? 1 : u[COUNT] < SPARSE_TWO ? 2 : SPARSE_INPUTS;
    if (inputs > s->relevant) inputs = s->relevant;
    memset(s->direction, 0, s->task->scaling.columns * sizeof(double));
    for (size_t i = 0; i < inputs; i++) {
        taken[i] = pick(s, u[i], taken, i);
        s->direction[taken[i]] = 2 * u[SPARSE_INPUTS + i] - 1;
    }
    stretch(s, SPARSE_FACTOR * s->task->range * steepness(u[STEEPNESS]));
}

/* direction <- root * direction */
static void turn(sampling *s)
{
    size_t columns = s->task->scaling.columns;
    memset(s->other, 0, columns * sizeof(double));
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < columns; j++) s->other[j] += s->direction[i] * s->task->root[i * columns + j];
    memcpy(s->direction, s->other, columns * sizeof(double));
}

static void draw_dense(sampling *s, size_t node)
{
    size_t columns = s->task->scaling.columns;
    double scale = s->task->range * sqrt(3.0 / (double)columns) / s->turned;
    for (size_t j = 0; j < columns; j++)
        s->direction[j] = (2 * broad__random_at(&s->task->stream, (uint64_t)node * (columns + 1) + j) - 1) * scale;
    if (s->task->root) turn(s);
    for (size_t j = 0; !s->task->root && j < columns; j++) s->direction[j] *= relevance_of(s->task, j);
}

/* What the root makes of the spread of all directions together: the root of tr(root cov root) / columns. */
static double turned_spread(sampling *s)
{
    size_t columns = s->task->scaling.columns;
    double sum = 0;
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < columns; i++) s->direction[i] = s->task->root[j * columns + i];
        double spread = spread_of(s);
        sum += spread * spread;
    }
    double spread = sqrt(sum / (double)columns);
    return spread > 0 && isfinite(spread) ? spread : 1;
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

/* The rows that the spread is measured on, column by column. */
static void take_spread_rows(sampling *s)
{
    for (size_t i = 0; i < s->spread_rows; i++) {
        scaled_row(s->row, s->task, row_at(s->task, ((double)i + 0.5) / (double)s->spread_rows));
        for (size_t j = 0; j < s->task->scaling.columns; j++) {
            s->spread[j * s->spread_rows + i] = s->row[j];
            s->largest[j] = fmax(s->largest[j], fabs(s->row[j]));
        }
    }
}

/* Two rows that do not differ where it matters give no direction: the node then gets a dense one. */
static void draw_difference(sampling *s, const double *u, size_t node)
{
    const broad__sample_task *task = s->task;
    size_t columns = task->scaling.columns;
    double length = 0;
    const double *row = get_row(s, s->row, row_at(task, u[4])), *other = get_row(s, s->other, row_at(task, u[5]));
    for (size_t j = 0; j < columns; j++) s->direction[j] = row[j] - other[j];
    /* Where the metric is the distance, differences are turned by it as the rows are: twice the root. */
    if (task->root) turn(s), turn(s);
    for (size_t j = 0; !task->root && j < columns; j++) s->direction[j] *= relevance_of(task, j);
    keep_rectangle(s, u);
    for (size_t j = 0; j < columns; j++) length += s->direction[j] * s->direction[j];
    if (spread_of(s) > 1e-2 * sqrt(length)) stretch(s, task->range);
    else draw_dense(s, node);
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
    int measured = task->direction != BROAD__DENSE || task->root;
    s.spread_rows = !measured ? 0 : broad__min(choice(task), SPREAD_ROWS);
    int few = task->rows <= task->nodes;
    s.spread = broad__alloc_doubles(s.spread_rows, columns);
    s.row = broad__alloc_doubles(4, columns);
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
    s.largest = s.direction + columns;
    for (size_t j = 0; j < columns; j++) {
        s.total += relevance_of(task, j) * relevance_of(task, j);
        s.relevant += relevance_of(task, j) > 0;
    }
    take_spread_rows(&s);
    s.turned = task->direction == BROAD__DENSE && task->root ? turned_spread(&s) : 1;
    for (size_t node = 0; node < task->nodes; node++) draw_node(&s, bias, node);
    broad__free(s.spread);
    broad__free(s.row);
    broad__free(s.scaled);
    return BROAD_OK;
}
