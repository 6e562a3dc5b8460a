#include "feature/autoencoder.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "data/transform/scale.h"
#include "rng/draw.h"

/* Columns of X that are solved for together: their part of V, W and U stays in the cache through all steps. */
enum { CHUNK = 64 };
/* Numbers of shard sums in memory at once: beyond it, the shards run in several waves. */
static const size_t SUMS_MAX = (size_t)1 << 24;
/* A column whose spread is this part of its size or less is constant but for rounding. */
static const double CONSTANT = 1e-12;

typedef struct fitting {
    const broad__autoencoder_task *task;
    double *weight, *bias; /* of the current nodes: inputs x nodes, nodes */
    double *scratch;       /* per worker: a block of X and one of nodes */
    double *low, *high;    /* per shard: of each node */
    double *parts;         /* shard sums of one wave */
    size_t first_shard;    /* of that wave */
    double *gram, *cross;  /* A'A, then its factor; A'X. Together the sums */
    double *w;             /* nodes x inputs */
    double *chunks;        /* per worker: right side, W and U of a chunk */
} fitting;

/* ---- blocks of rows -------------------------------------------------------------------------------------------- */

/* The nodes of rows [first, first + n), and their scaled inputs. */
static double *block_nodes(double **out_x, const fitting *f, size_t first, size_t n, size_t worker)
{
    const broad__autoencoder_task *task = f->task;
    double *x = f->scratch + worker * BROAD__BLOCK_ROWS * (task->scaling.columns + task->nodes);
    double *a = x + BROAD__BLOCK_ROWS * task->scaling.columns;
    broad__nodes nodes = {
        task->scaling.columns, task->nodes, f->weight, f->bias, BROAD_ACTIVATION_IDENTITY, 0, NULL, NULL, {0}};
    broad__scaling_apply(x, &task->scaling, task->x + first * task->scaling.inputs, n, task->scaling.inputs);
    task->device->nodes(a, task->nodes, &nodes, x, task->scaling.columns, n);
    *out_x = x;
    return a;
}

/* Of the nodes of a block. */
static double block_flops(const fitting *f)
{
    return 2.0 * BROAD__BLOCK_ROWS * (double)f->task->nodes * (double)f->task->scaling.columns;
}

static size_t block_rows(size_t first, size_t end)
{
    return end - first < BROAD__BLOCK_ROWS ? end - first : BROAD__BLOCK_ROWS;
}

/* ---- scaling of the nodes over the rows ------------------------------------------------------------------------ */

static void spread_shard(void *context, size_t shard, size_t worker)
{
    fitting *f = context;
    size_t k = f->task->nodes, first, end;
    double *low = f->low + shard * k, *high = f->high + shard * k, *x;
    for (size_t j = 0; j < k; j++) low[j] = INFINITY, high[j] = -INFINITY;
    broad__shard_rows(&first, &end, shard, f->task->rows);
    for (; first < end && !broad__watch_look(block_flops(f)); first += BROAD__BLOCK_ROWS) {
        size_t n = block_rows(first, end);
        const double *a = block_nodes(&x, f, first, n, worker);
        for (size_t i = 0; i < n * k; i++) {
            double value = isfinite(a[i]) ? a[i] : -INFINITY; /* so that NaN shows as well */
            if (value < low[i % k]) low[i % k] = value;
            if (value > high[i % k]) high[i % k] = value;
        }
    }
}

static int fail_large(void)
{
    return broad__fail(BROAD_BAD_DATA,
                       "the inputs are too large for an autoencoder: scale them (option scale standard)");
}

/* The largest of a node's weights and of the terms of its bias. */
static double largest(const fitting *f, size_t j, double low)
{
    size_t k = f->task->nodes;
    double size = fabs(f->bias[j]) + fabs(low);
    for (size_t i = 0; i < f->task->scaling.columns; i++) size = fmax(size, fabs(f->weight[i * k + j]));
    return size;
}

/* Changes weight and bias so that every node goes from `from` to `to` over the rows; one that is constant becomes zero.
 * */
static int scale_nodes(fitting *f, double from, double to)
{
    size_t k = f->task->nodes, inputs = f->task->scaling.columns, shards = broad__shard_count(f->task->rows);
    broad__pool_run(f->task->pool, shards, spread_shard, f);
    for (size_t j = 0; j < k; j++) {
        double low = f->low[j], high = f->high[j];
        for (size_t s = 1; s < shards; s++) {
            low = fmin(low, f->low[s * k + j]);
            high = fmax(high, f->high[s * k + j]);
        }
        if (!isfinite(low) || !isfinite(high)) return fail_large();
        double factor = (to - from) / (high - low);
        int constant = high - low <= CONSTANT * fmax(fabs(low), fabs(high)) || !isfinite(factor * largest(f, j, low));
        if (constant) factor = 0;
        for (size_t i = 0; i < inputs; i++) f->weight[i * k + j] *= factor;
        f->bias[j] = constant ? 0 : (f->bias[j] - low) * factor + from;
    }
    return BROAD_OK;
}

/* ---- A'A and A'X ----------------------------------------------------------------------------------------------- */

static void sums_shard(void *context, size_t index, size_t worker)
{
    fitting *f = context;
    const broad__device *device = f->task->device;
    size_t k = f->task->nodes, inputs = f->task->scaling.columns, first, end;
    double *gram = f->parts + index * k * (k + inputs), *cross = gram + k * k, *x;
    memset(gram, 0, k * (k + inputs) * sizeof(double));
    broad__shard_rows(&first, &end, f->first_shard + index, f->task->rows);
    for (; first < end && !broad__watch_look(2 * block_flops(f)); first += BROAD__BLOCK_ROWS) {
        size_t n = block_rows(first, end);
        const double *a = block_nodes(&x, f, first, n, worker);
        device->gram(gram, k, a, k, n, k);
        device->cross(cross, inputs, a, k, k, x, inputs, inputs, n);
    }
}

/* Into f->gram and f->cross. How many shards a wave has depends on the sizes alone. */
static int add_up(fitting *f)
{
    size_t shards = broad__shard_count(f->task->rows),
           each = f->task->nodes * (f->task->nodes + f->task->scaling.columns);
    size_t wave = SUMS_MAX / each < 1 ? 1 : SUMS_MAX / each;
    if (wave > shards) wave = shards;
    f->parts = broad__alloc_doubles(wave, each);
    if (!f->parts) return BROAD_NO_MEMORY;
    for (f->first_shard = 0; f->first_shard < shards; f->first_shard += wave) {
        size_t count = shards - f->first_shard < wave ? shards - f->first_shard : wave;
        broad__pool_run(f->task->pool, count, sums_shard, f);
        broad__tree_sum(f->parts, count, each, each);
        for (size_t i = 0; i < each; i++) f->gram[i] += f->parts[i];
    }
    for (size_t i = 0; i < each; i++)
        if (!isfinite(f->gram[i])) return fail_large();
    return BROAD_OK;
}

/* ---- ADMM ------------------------------------------------------------------------------------------------------ */

static double soft(double value, double by) { return value > by ? value - by : value < -by ? value + by : 0; }

static void solve_chunk(void *context, size_t chunk, size_t worker)
{
    fitting *f = context;
    size_t k = f->task->nodes, inputs = f->task->scaling.columns, first = chunk * CHUNK;
    size_t columns = inputs - first < CHUNK ? inputs - first : CHUNK, count = k * columns;
    double *v = f->chunks + worker * 3 * k * CHUNK, *w = v + count, *u = w + count;
    memset(w, 0, 2 * count * sizeof(double));
    for (size_t step = 0; step < f->task->steps && !broad__watch_look(2.0 * (double)(k * count)); step++) {
        for (size_t j = 0; j < k; j++) {
            const double *cross = f->cross + j * inputs + first;
            for (size_t i = j * columns; i < (j + 1) * columns; i++) v[i] = cross[i - j * columns] + w[i] - u[i];
        }
        f->task->device->solve(v, columns, f->gram, k);
        for (size_t i = 0; i < count; i++) {
            w[i] = soft(v[i] + u[i], f->task->lambda);
            u[i] += v[i] - w[i];
        }
    }
    for (size_t j = 0; j < k; j++) memcpy(f->w + j * inputs + first, w + j * columns, columns * sizeof(double));
}

static int solve(fitting *f)
{
    size_t k = f->task->nodes;
    for (size_t j = 0; j < k; j++) f->gram[j * k + j] += 1;
    if (f->task->device->factor(f->gram, k) != 0)
        return broad__fail(BROAD_FAILED, "the autoencoder's matrix of %zu nodes has no Cholesky factor", k);
    broad__pool_run(f->task->pool, (f->task->scaling.columns + CHUNK - 1) / CHUNK, solve_chunk, f);
    return BROAD_OK;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static int fitting_open(fitting *f)
{
    const broad__autoencoder_task *task = f->task;
    size_t workers = broad__pool_threads(task->pool), shards = broad__shard_count(task->rows), k = task->nodes;
    f->scratch = broad__alloc_doubles(workers * BROAD__BLOCK_ROWS, task->scaling.columns + k);
    f->low = broad__alloc_doubles(shards, k);
    f->high = broad__alloc_doubles(shards, k);
    f->gram = broad__alloc_doubles(k, k + task->scaling.columns);
    f->w = broad__alloc_doubles(k, task->scaling.columns);
    f->chunks = broad__alloc_doubles(workers * 3 * CHUNK, k);
    if (!f->scratch || !f->low || !f->high || !f->gram || !f->w || !f->chunks) return BROAD_NO_MEMORY;
    f->cross = f->gram + k * k;
    return BROAD_OK;
}

static void fitting_close(fitting *f)
{
    broad__free(f->scratch);
    broad__free(f->low);
    broad__free(f->high);
    broad__free(f->gram);
    broad__free(f->parts);
    broad__free(f->w);
    broad__free(f->chunks);
}

/* The nodes become X W'; their scaling settles where they begin. */
static void take_weights(fitting *f)
{
    size_t k = f->task->nodes, inputs = f->task->scaling.columns;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < inputs; i++) f->weight[i * k + j] = f->w[j * inputs + i];
        f->bias[j] = 0;
    }
}

int broad__autoencoder(double *weight, double *bias, const broad__autoencoder_task *task)
{
    fitting f = {.task = task, .weight = weight, .bias = bias};
    int status = fitting_open(&f);
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_FEATURES);
    broad__draw draw = {task->stream, task->scaling.columns, task->nodes, 1.0, BROAD_RANGE_ABSOLUTE};
    broad__draw_nodes(weight, bias, &draw);
    if (status == BROAD_OK) status = scale_nodes(&f, -1, 1);
    if (status == BROAD_OK) status = add_up(&f);
    if (status == BROAD_OK) status = solve(&f);
    if (status == BROAD_OK) {
        take_weights(&f);
        status = scale_nodes(&f, 0, 1);
    }
    broad__profile_leave(before);
    fitting_close(&f);
    return broad__watch_check(status);
}
