#include "layer/probes.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/residual.h"
#include "layer/shard_sums.h"
#include "rng/philox.h"

/* The standard error of df / N is sqrt(2 df / columns) / N, at most sqrt(2 / (columns N)): 0.005 where the product is this.
 */
enum { COLUMNS_TIMES_UNITS = 80000, LEAST_COLUMNS = 2, LAYERS_MAX = 1000000 };

size_t broad__probes_columns(int *out_exact, size_t units)
{
    size_t signs = units ? (COLUMNS_TIMES_UNITS + units - 1) / units : 1;
    *out_exact = signs >= units;
    return !units ? 1 : *out_exact ? units : signs < LEAST_COLUMNS ? LEAST_COLUMNS : signs;
}

/* ---- units: rows, or groups of them ---------------------------------------------------------------------------- */

typedef struct units {
    size_t count;
    size_t *of_row; /* NULL: each row is one; SIZE_MAX: it counts nothing */
    uint64_t *key;  /* of each: the sum of its rows'; NULL likewise */
    const uint64_t *row_key;
} units;

static void units_clear(units *u)
{
    broad__free(u->of_row);
    broad__free(u->key);
}

/* Numbered in the order in which they appear. */
static int units_open(units *out, const broad__probed_rows *rows)
{
    size_t all = rows->before + rows->count, most = 0;
    *out = (units){.count = all, .row_key = rows->key};
    if (!rows->group && !rows->root) return BROAD_OK;
    for (size_t i = 0; rows->group && i < all; i++) most = rows->group[i] > most ? rows->group[i] : most;
    size_t *number = broad__alloc_array(most + 1, sizeof *number);
    out->of_row = broad__alloc_array(all, sizeof *out->of_row);
    out->key = broad__alloc_array(all, sizeof *out->key);
    int status = number && out->of_row && out->key ? BROAD_OK : BROAD_NO_MEMORY;
    out->count = 0;
    for (size_t i = 0; status == BROAD_OK && i < all; i++) {
        out->of_row[i] = SIZE_MAX;
        if (rows->root && !(rows->root[i] > 0)) continue;
        size_t alone = 0, *known = rows->group ? &number[rows->group[i]] : &alone;
        if (!*known) *known = ++out->count;
        out->of_row[i] = *known - 1;
        out->key[*known - 1] += rows->key[i];
    }
    broad__free(number);
    if (status < 0) units_clear(out);
    return status;
}

static size_t unit_of(const units *u, size_t row) { return u->of_row ? u->of_row[row] : row; }

static double sign_of(const broad__probes *probes, const units *u, size_t unit, size_t column)
{
    broad__stream stream = {.seed = probes->seed, .purpose = BROAD__FOR_PROBES, .layer = (uint32_t)column};
    return broad__random_at(&stream, u->key ? u->key[unit] : u->row_key[unit]) < 0.5 ? -1 : 1;
}

/* Of U_0, before the root of the row. */
static double probe_at(const broad__probes *probes, const units *u, size_t unit, size_t column)
{
    if (probes->exact) return unit == column;
    return sign_of(probes, u, unit, column);
}

/* ---- another number of columns ----------------------------------------------------------------------------------- */

/* a (rows x `count` of every `stride`) S, for S of old->count x new->count: unit vectors stay, or become signs. */
static double *turned(const double *a, size_t rows, size_t stride, const double *s, size_t from, size_t to)
{
    double *out = broad__alloc_doubles(rows, to);
    for (size_t i = 0; out && i < rows; i++)
        for (size_t j = 0; j < from; j++)
            for (size_t k = 0; k < to; k++) out[i * to + k] += a[i * stride + j] * s[j * to + k];
    return out;
}

static int turn_rows(broad__probes *probes, size_t rows, const double *s, size_t to, broad__spill *spill)
{
    size_t from = probes->count;
    double *now = turned(probes->u, rows, 2 * from, s, from, to);
    double *first = turned(probes->u + from, rows, 2 * from, s, from, to);
    double *u = broad__spill_alloc(spill, rows * 2 * to, sizeof *u),
           *next = broad__spill_alloc(spill, rows * to, sizeof *next);
    int status = now && first && u && next ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < rows; i++) {
        memcpy(u + i * 2 * to, now + i * to, to * sizeof *u);
        memcpy(u + i * 2 * to + to, first + i * to, to * sizeof *u);
    }
    broad__free(now);
    broad__free(first);
    broad__spill_free(spill, status == BROAD_OK ? probes->u : u);
    broad__spill_free(spill, status == BROAD_OK ? probes->next : next);
    if (status == BROAD_OK) probes->u = u, probes->next = next;
    return status;
}

static int turn_weights(broad__probes *probes, const double *s, size_t to)
{
    for (size_t j = 0; j < probes->layers; j++) {
        if (!probes->weights[j]) continue;
        double *w = turned(probes->weights[j], probes->widths[j], probes->count, s, probes->count, to);
        if (!w) return BROAD_NO_MEMORY;
        broad__free(probes->weights[j]);
        probes->weights[j] = w;
    }
    return BROAD_OK;
}

/* Unit vectors: more of them, or signs instead. Signs stay as many as they are. */
static int turn(broad__probes *probes, const units *u, size_t rows, broad__spill *spill)
{
    int exact = 0;
    size_t to = broad__probes_columns(&exact, u->count), from = probes->count;
    if (!probes->exact || (exact && to == from)) return BROAD_OK;
    double *s = broad__alloc_doubles(from, to);
    if (!s) return BROAD_NO_MEMORY;
    for (size_t j = 0; j < from; j++)
        for (size_t k = 0; k < to; k++) s[j * to + k] = exact ? j == k : sign_of(probes, u, j, k);
    int status = turn_weights(probes, s, to);
    if (status == BROAD_OK) status = turn_rows(probes, rows, s, to, spill);
    broad__free(s);
    if (status < 0) return status;
    probes->count = to;
    probes->exact = exact;
    probes->inner = 0;
    for (size_t i = 0; i < rows; i++) probes->inner += broad__probes_inner(probes, i, 1);
    return BROAD_OK;
}

/* ---- rows that come ---------------------------------------------------------------------------------------------- */

static int fill(broad__probes *out, const units *u, const broad__probed_rows *rows, broad__spill *spill)
{
    size_t count = out->count;
    out->u = broad__spill_alloc(spill, rows->count * 2 * count, sizeof *out->u);
    out->next = broad__spill_alloc(spill, rows->count * count, sizeof *out->next);
    if (!out->u || !out->next) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < rows->count; i++) {
        size_t row = rows->before + i, unit = unit_of(u, row);
        double *to = out->u + i * 2 * count, root = rows->root ? rows->root[row] : 1;
        if (unit == SIZE_MAX) continue;
        out->rows++;
        out->weight += root * root;
        for (size_t j = 0; j < count; j++) to[j] = to[count + j] = root * probe_at(out, u, unit, j);
        out->inner += broad__probes_inner(out, i, 1);
    }
    return BROAD_OK;
}

int broad__probes_arrive(broad__probes *out, broad__probes *probes, const broad__probed_rows *rows, size_t old_rows,
                         broad__spill *spill)
{
    units u;
    int status = units_open(&u, rows);
    if (status < 0) return status;
    if (!probes->count) probes->count = broad__probes_columns(&probes->exact, u.count);
    else status = turn(probes, &u, old_rows, spill);
    *out = (broad__probes){.wanted = 1,
                           .seed = probes->seed,
                           .first_row = probes->first_row,
                           .count = probes->count,
                           .exact = probes->exact};
    if (status == BROAD_OK) status = fill(out, &u, rows, spill);
    units_clear(&u);
    return status;
}

static int append(double **values, size_t rows, const double *more, size_t more_rows, size_t columns,
                  broad__spill *spill)
{
    double *joined = broad__spill_alloc(spill, (rows + more_rows) * columns, sizeof *joined);
    if (!joined) return BROAD_NO_MEMORY;
    memcpy(joined, *values, rows * columns * sizeof *joined);
    memcpy(joined + rows * columns, more, more_rows * columns * sizeof *joined);
    broad__spill_free(spill, *values);
    *values = joined;
    return BROAD_OK;
}

int broad__probes_join(broad__probes *probes, size_t rows, broad__probes *more, size_t more_rows, broad__spill *spill)
{
    int status = BROAD_OK;
    if (!rows) {
        broad__spill_free(spill, probes->u);
        broad__spill_free(spill, probes->next);
        probes->u = more->u, probes->next = more->next;
        more->u = more->next = NULL;
    } else {
        status = append(&probes->u, rows, more->u, more_rows, 2 * probes->count, spill);
        if (status == BROAD_OK) status = append(&probes->next, rows, more->next, more_rows, probes->count, spill);
    }
    if (status < 0) return status;
    probes->rows += more->rows;
    probes->weight += more->weight;
    probes->inner = rows ? probes->inner + more->inner : more->inner;
    return BROAD_OK;
}

void broad__probes_close(broad__probes *probes, broad__spill *spill)
{
    broad__spill_free(spill, probes->u);
    broad__spill_free(spill, probes->next);
    for (size_t j = 0; j < probes->layers; j++) broad__free(probes->weights[j]);
    broad__free(probes->weights);
    broad__free(probes->widths);
    memset(probes, 0, sizeof *probes);
}

/* ---- degrees of freedom ------------------------------------------------------------------------------------------ */

double broad__probes_inner(const broad__probes *probes, size_t first, size_t n)
{
    size_t count = probes->count;
    double sum = 0;
    for (size_t i = first; i < first + n; i++) {
        const double *u = probes->u + i * 2 * count;
        double of_row = 0;
        for (size_t j = 0; j < count; j++) of_row += u[j] * u[count + j];
        sum += of_row;
    }
    return sum;
}

double broad__probes_df_of(const broad__probes *probes, double inner)
{
    double trace = probes->exact || !probes->count ? inner : inner / (double)probes->count;
    double mean = probes->weight > 0 ? probes->weight / (double)probes->rows : 1;
    return fmax((double)probes->rows - trace / mean, 0);
}

double broad__probes_df(const broad__probes *probes) { return broad__probes_df_of(probes, probes->inner); }

typedef struct shift {
    broad__residual *residual;
    const double *w;
} shift;

static void next_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    const shift *s = context;
    broad__residual *residual = s->residual;
    broad__probes *probes = &residual->probes;
    const broad__device *at = residual->at;
    size_t count = probes->count, p = residual->candidate.width, step = broad__residual_step(residual, p);
    for (size_t i = first; i < end && !broad__watch_look(2.0 * (double)step * (double)(p * count)); i += step) {
        size_t n = broad__min(end - i, step);
        const double *k = broad__candidate_k(residual, i, n, worker), *u = probes->u + i * 2 * count;
        double *next = probes->next + i * count;
        at->copy(next, count, u, 2 * count, n, count);
        at->apply(next, count, -1.0, k, p, n, s->w, count, p, count);
        at->inner(sums, next, count, u + count, 2 * count, n, count);
    }
}

int broad__probes_next(double *out_inner, broad__residual *residual, const double *w)
{
    shift s = {residual, w};
    double *sums = NULL;
    int status = broad__shard_sums(&sums, residual, 1, next_shard, &s);
    if (status == BROAD_OK) *out_inner = sums[0];
    return status;
}

void broad__probes_commit(broad__residual *residual, double inner)
{
    broad__probes *probes = &residual->probes;
    residual->at->copy(probes->u, 2 * probes->count, probes->next, probes->count, residual->rows, probes->count);
    probes->inner = inner;
}

void broad__probes_restart(broad__probes *probes, size_t rows)
{
    size_t count = probes->count;
    probes->inner = 0;
    for (size_t i = 0; i < rows; i++) {
        double *u = probes->u + i * 2 * count;
        memcpy(u, u + count, count * sizeof *u);
        probes->inner += broad__probes_inner(probes, i, 1);
    }
}

int broad__probes_keep(const double **out, broad__probes *probes, const double *w, size_t width)
{
    int status = broad__grow(&probes->weights, &probes->weights_capacity, probes->layers + 1, sizeof *probes->weights,
                             LAYERS_MAX);
    if (status == BROAD_OK)
        status = broad__grow(&probes->widths, &probes->widths_capacity, probes->layers + 1, sizeof *probes->widths,
                             LAYERS_MAX);
    double *copy = status == BROAD_OK && w ? broad__alloc_doubles(width, probes->count) : NULL;
    if (status == BROAD_OK && w && !copy) status = BROAD_NO_MEMORY;
    if (status < 0) return status;
    if (copy) memcpy(copy, w, width * probes->count * sizeof *copy);
    probes->weights[probes->layers] = copy;
    probes->widths[probes->layers++] = width;
    *out = copy;
    return BROAD_OK;
}
