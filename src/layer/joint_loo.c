/* Leave-one-out of a joint fit, on all rows or on some at equal distances. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/joint_work.h"

/* More rows than these tell no more about lambda, and cost a pass over R each. */
enum { SAMPLE_MAX = 4096 };

/* lambda as powers of ten of the mean eigenvalue, in half steps; the search starts in the middle and goes on while it gets
 * better, over one bad step if need be. */
static const double EXPONENT_LEAST = -10, EXPONENT_START = -4, EXPONENT_MOST = 2;

void broad__joint_forget_sample(broad__joint *j)
{
    broad__free(j->sample);
    broad__free(j->sample_a);
    broad__free(j->sample_y);
    broad__free(j->loo_scores);
    j->sample = NULL;
    j->sample_a = j->sample_y = j->loo_scores = NULL;
    j->sample_count = 0;
}

/* Z and roots of the sampled rows, as rows of their own. */
static int sample_nodes(broad__joint *j, const broad__joint_task *task)
{
    const broad__rows *rows = task->rows;
    size_t count = j->sample_count, features = rows->features;
    double *z = broad__alloc_doubles(count, features), *root = broad__alloc_doubles(count, 1);
    int status = z && root ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        for (size_t i = 0; i < count; i++) {
            memcpy(z + i * features, rows->z + j->sample[i] * features, features * sizeof(double));
            root[i] = rows->root ? rows->root[j->sample[i]] : 1;
        }
        broad__rows some = {.device = rows->device,
                            .pool = rows->pool,
                            .rows = count,
                            .outputs = rows->outputs,
                            .z = z,
                            .features = features,
                            .root = rows->root ? root : NULL};
        broad__joint_fill(j->sample_a, j->columns, &some, task->pieces, task->count, 0, count);
    }
    broad__free(z);
    broad__free(root);
    return status;
}

static int take_sample(broad__joint *j, const broad__joint_task *task)
{
    if (j->sample_count) return BROAD_OK;
    size_t rows = j->rows, c = j->outputs, count = rows < SAMPLE_MAX || j->dual ? rows : SAMPLE_MAX;
    j->sample = broad__alloc_array(count, sizeof *j->sample);
    j->sample_y = broad__alloc_doubles(count, c);
    j->loo_scores = broad__alloc_doubles(count, c);
    j->sample_a = j->dual ? NULL : broad__alloc_doubles(count, j->columns);
    if (!j->sample || !j->sample_y || !j->loo_scores || (!j->dual && !j->sample_a)) {
        broad__joint_forget_sample(j);
        return BROAD_NO_MEMORY;
    }
    j->sample_count = count;
    for (size_t i = 0; i < count; i++) {
        j->sample[i] = (size_t)((double)i * (double)rows / (double)count);
        memcpy(j->sample_y + i * c, task->y + j->sample[i] * c, c * sizeof(double));
    }
    return j->dual ? BROAD_OK : sample_nodes(j, task);
}

/* ---- leaving out ----------------------------------------------------------------------------------------------- */

typedef struct leaving {
    broad__joint *joint;
    const broad__device *device;
    double *scratch; /* for each worker: rows of A in the coordinates of R, then their fits */
    size_t scratch_each;
} leaving;

/* h of n rows of A; `white` has room for them. */
static void leverages(double *h, const leaving *l, double *white, const double *a, size_t n)
{
    const broad__joint *j = l->joint;
    size_t p = j->columns;
    if (j->spectral) {
        memset(white, 0, n * p * sizeof(double));
        l->device->outer(white, p, a, p, n, j->system.factor, p, p, p);
    } else {
        memcpy(white, a, n * p * sizeof(double));
        l->device->whiten(white, p, n, j->r, p, p);
    }
    for (size_t i = 0; i < n; i++) {
        h[i] = 0;
        for (size_t k = 0; k < p; k++) {
            double v = white[i * p + k];
            h[i] += v * v * (j->spectral ? broad__system_inverse(&j->system, k, j->factored) : 1);
        }
    }
}

/* Scores as if the row had not been there, still times its root. */
static void leave_block(void *context, size_t block, size_t worker)
{
    const leaving *l = context;
    broad__joint *j = l->joint;
    size_t first = block * BROAD__BLOCK_ROWS, p = j->columns, c = j->outputs;
    size_t n = j->sample_count - first < BROAD__BLOCK_ROWS ? j->sample_count - first : BROAD__BLOCK_ROWS;
    double h[BROAD__BLOCK_ROWS], *white = l->scratch + worker * l->scratch_each, *fits = white + n * p;
    leverages(h, l, white, j->sample_a + first * p, n);
    memset(fits, 0, n * c * sizeof(double));
    l->device->apply(fits, c, 1.0, j->sample_a + first * p, p, n, j->w, c, p, c);
    for (size_t i = 0; i < n; i++) {
        double rest = 1 - h[i] > DBL_EPSILON ? 1 - h[i] : DBL_EPSILON;
        for (size_t q = 0; q < c; q++) {
            double y = j->sample_y[(first + i) * c + q];
            j->loo_scores[(first + i) * c + q] = y - (y - fits[i * c + q]) / rest;
        }
    }
}

static int leave_primal(broad__joint *j, const broad__rows *rows)
{
    leaving l = {.joint = j, .device = rows->device, .scratch_each = BROAD__BLOCK_ROWS * (j->columns + j->outputs)};
    l.scratch = broad__alloc_doubles(broad__pool_threads(rows->pool), l.scratch_each);
    if (!l.scratch) return BROAD_NO_MEMORY;
    broad__pool_run(rows->pool, (j->sample_count + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, leave_block, &l);
    broad__free(l.scratch);
    return BROAD_OK;
}

/* R^-1 in `inverse`, n x n; its rows' squares are the diagonal of (M + lambda I)^-1. */
static void inverse_factor(double *inverse, const broad__joint *j, const broad__rows *rows)
{
    size_t n = j->rows;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double v = j->spectral ? j->system.factor[k * n + i] : i == k;
            inverse[i * n + k] = j->spectral ? v * sqrt(broad__system_inverse(&j->system, k, j->factored)) : v;
        }
    if (!j->spectral) broad__whiten_rows(inverse, n, j->r, n, rows->device, rows->pool);
}

/* alpha_i / g_i for every row: the residual it would have if it were left out. */
static int leave_dual(broad__joint *j, const broad__rows *rows)
{
    size_t n = j->rows, c = j->outputs;
    double *alpha = broad__alloc_doubles(n, c), *inverse = broad__alloc_doubles(n, n);
    int status = alpha && inverse ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        memcpy(alpha, j->sample_y, n * c * sizeof(double));
        status = broad__joint_solve(alpha, j, rows);
    }
    if (status == BROAD_OK) {
        inverse_factor(inverse, j, rows);
        for (size_t i = 0; i < n; i++) {
            double g = 0;
            for (size_t k = 0; k < n; k++) g += inverse[i * n + k] * inverse[i * n + k];
            for (size_t q = 0; q < c; q++)
                j->loo_scores[i * c + q] = j->sample_y[i * c + q] - (g > 0 ? alpha[i * c + q] / g : 0);
        }
    }
    broad__free(alpha);
    broad__free(inverse);
    return status;
}

static int leave_each(broad__joint *j, const broad__rows *rows)
{
    int status = j->dual ? leave_dual(j, rows) : leave_primal(j, rows);
    double sum = 0;
    for (size_t i = 0; i < j->sample_count * j->outputs; i++) {
        double miss = j->sample_y[i] - j->loo_scores[i];
        sum += miss * miss;
    }
    j->loo = sqrt(sum);
    return status;
}

int broad__joint_leave_out(broad__joint *j, const broad__joint_task *task)
{
    const double *root = task->rows->root;
    int status = take_sample(j, task);
    if (status == BROAD_OK) status = leave_each(j, task->rows);
    for (size_t i = 0; status == BROAD_OK && root && i < j->sample_count; i++)
        for (size_t q = 0; q < j->outputs; q++) j->loo_scores[i * j->outputs + q] /= root[j->sample[i]];
    return status;
}

/* ---- the best lambda ------------------------------------------------------------------------------------------- */

typedef struct lambda_search {
    broad__joint *joint;
    const broad__joint_task *task;
    double unit; /* mean eigenvalue of A'A, of those that are not zero for want of rows */
    double best, loo;
} lambda_search;

/* Leave-one-out norm of one lambda; INFINITY where Cholesky breaks down, as it does where lambda is lost in rounding. */
static int try_exponent(double *out, lambda_search *s, double exponent)
{
    broad__joint *j = s->joint;
    const broad__rows *rows = s->task->rows;
    int broken = 0, status = broad__joint_factor(&broken, j, rows, s->unit * pow(10, exponent), 0);
    *out = INFINITY;
    if (status < 0 || broken) return status;
    if (!j->dual) {
        memcpy(j->w, j->cross, j->columns * j->outputs * sizeof(double));
        status = broad__joint_solve(j->w, j, rows);
    }
    if (status == BROAD_OK) status = leave_each(j, rows);
    if (status < 0) return status;
    *out = isfinite(j->loo) ? j->loo : INFINITY;
    if (*out < s->loo) {
        s->loo = *out;
        s->best = exponent;
    }
    return s->task->watch && s->task->watch(s->task->context, 0.85) ? 1 : 0;
}

static int walk(lambda_search *s, double step, double end)
{
    int worse = 0, status = BROAD_OK;
    for (double e = EXPONENT_START + step; status == BROAD_OK && worse < 2 && fabs(e - end) >= fabs(step) / 2;
         e += step) {
        double before = s->loo, value = 0;
        status = try_exponent(&value, s, e);
        worse = value < before ? 0 : worse + 1;
        if (value == INFINITY) break;
    }
    return status;
}

int broad__joint_choose(broad__joint *j, const broad__joint_task *task)
{
    lambda_search s = {.joint = j, .task = task, .best = EXPONENT_MOST, .loo = INFINITY};
    size_t n = broad__joint_size(j), rank = j->rows < j->columns ? j->rows : j->columns;
    for (size_t i = 0; i < n; i++) s.unit += j->m[i * n + i] / (double)rank;
    if (!(s.unit > 0) || !isfinite(s.unit)) s.unit = 1;
    int status = take_sample(j, task);
    broad__free(j->w);
    j->w = broad__alloc_doubles(j->columns, j->outputs);
    if (status == BROAD_OK && !j->w) status = BROAD_NO_MEMORY;
    double value = 0;
    if (status == BROAD_OK) status = try_exponent(&value, &s, EXPONENT_START);
    if (status == BROAD_OK) status = walk(&s, -1, EXPONENT_LEAST - 1);
    if (status == BROAD_OK) status = walk(&s, 1, EXPONENT_MOST + 1);
    double middle = s.best;
    if (status == BROAD_OK) status = try_exponent(&value, &s, middle - 0.5);
    if (status == BROAD_OK) status = try_exponent(&value, &s, middle + 0.5);
    j->lambda = s.unit * pow(10, s.best);
    return status;
}
