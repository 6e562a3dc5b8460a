/* Leave-one-out of a joint fit, on all rows or on some at equal distances. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/joint_work.h"

/* More rows than these tell no more, and each costs a pass over R; for lambda fewer will do. */
enum { SEARCH_MAX = 1000 };

/* Where a row decides its own fit to within this, rounding decides what is left of it. */
static const double REST_LEAST = 1e-6;

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

/* Rows at equal distances, and the first of these, which lambda is searched on, again at equal distances. */
static void order_sample(broad__joint *j, size_t count)
{
    size_t passes = j->dual ? 1 : (count + SEARCH_MAX - 1) / SEARCH_MAX, at = 0;
    for (size_t pass = 0; pass < passes; pass++) {
        for (size_t i = pass; i < count; i += passes)
            j->sample[at++] = (size_t)((double)i * (double)j->rows / (double)count);
        if (pass == 0) j->search_count = at;
    }
}

static int take_sample(broad__joint *j, const broad__joint_task *task)
{
    if (j->sample_count) return BROAD_OK;
    size_t rows = j->rows, c = j->outputs, count = rows < BROAD__LOO_ROWS || j->dual ? rows : BROAD__LOO_ROWS;
    j->sample = broad__alloc_array(count, sizeof *j->sample);
    j->sample_y = broad__alloc_doubles(count, c);
    j->loo_scores = broad__alloc_doubles(count, c);
    j->sample_a = j->dual ? NULL : broad__alloc_doubles(count, j->columns);
    if (!j->sample || !j->sample_y || !j->loo_scores || (!j->dual && !j->sample_a)) {
        broad__joint_forget_sample(j);
        return BROAD_NO_MEMORY;
    }
    j->sample_count = count;
    order_sample(j, count);
    for (size_t i = 0; i < count; i++) {
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
    double *rest; /* 1 - h of each row */
    size_t count; /* of the sample, so many */
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
    size_t n = l->count - first < BROAD__BLOCK_ROWS ? l->count - first : BROAD__BLOCK_ROWS;
    double h[BROAD__BLOCK_ROWS], *white = l->scratch + worker * l->scratch_each, *fits = white + n * p;
    leverages(h, l, white, j->sample_a + first * p, n);
    memset(fits, 0, n * c * sizeof(double));
    l->device->apply(fits, c, 1.0, j->sample_a + first * p, p, n, j->w, c, p, c);
    for (size_t i = 0; i < n; i++) {
        double rest = 1 - h[i] > DBL_EPSILON ? 1 - h[i] : DBL_EPSILON;
        l->rest[first + i] = rest;
        for (size_t q = 0; q < c; q++) {
            double y = j->sample_y[(first + i) * c + q];
            j->loo_scores[(first + i) * c + q] = y - (y - fits[i * c + q]) / rest;
        }
    }
}

static int leave_primal(broad__joint *j, const broad__rows *rows, double *rest, size_t count)
{
    leaving l = {.joint = j,
                 .device = rows->device,
                 .rest = rest,
                 .scratch_each = BROAD__BLOCK_ROWS * (j->columns + j->outputs)};
    l.scratch = broad__alloc_doubles(broad__pool_threads(rows->pool), l.scratch_each);
    if (!l.scratch) return BROAD_NO_MEMORY;
    l.count = count;
    broad__pool_run(rows->pool, (count + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, leave_block, &l);
    broad__free(l.scratch);
    return BROAD_OK;
}

/* R^-1 in `inverse`, n x n, zero to begin with; its rows' squares are the diagonal of (M + lambda I)^-1. */
static void inverse_factor(double *inverse, const broad__joint *j, const broad__rows *rows)
{
    size_t n = j->rows;
    if (!j->spectral) {
        for (size_t i = 0; i < n; i++) memcpy(inverse + i * n + i, j->r + i * n + i, (n - i) * sizeof(double));
        rows->device->invert(inverse, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            inverse[i * n + k] = j->system.factor[k * n + i] * sqrt(broad__system_inverse(&j->system, k, j->factored));
}

/* alpha_i / g_i for every row: the residual it would have if it were left out. */
static int leave_dual(broad__joint *j, const broad__rows *rows, double *rest)
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
            rest[i] = g * j->factored;
            for (size_t q = 0; q < c; q++)
                j->loo_scores[i * c + q] = j->sample_y[i * c + q] - (g > 0 ? alpha[i * c + q] / g : 0);
        }
    }
    broad__free(alpha);
    broad__free(inverse);
    return status;
}

/* The first `count` rows of the sample. *out_least: the smallest 1 - h. */
static int leave_each(double *out_least, broad__joint *j, const broad__rows *rows, size_t count)
{
    double *rest = broad__alloc_doubles(count, 1), sum = 0;
    if (!rest) return BROAD_NO_MEMORY;
    int status = j->dual ? leave_dual(j, rows, rest) : leave_primal(j, rows, rest, count);
    for (size_t i = 0; i < count * j->outputs; i++) {
        double miss = j->sample_y[i] - j->loo_scores[i];
        sum += miss * miss;
    }
    j->loo = sqrt(sum);
    *out_least = 1;
    for (size_t i = 0; i < count; i++) *out_least = fmin(*out_least, rest[i]);
    broad__free(rest);
    return status;
}

int broad__joint_leave_out(broad__joint *j, const broad__joint_task *task)
{
    const double *root = task->rows->root;
    double least = 1;
    int status = take_sample(j, task);
    if (status == BROAD_OK) status = leave_each(&least, j, task->rows, j->sample_count);
    for (size_t i = 0; status == BROAD_OK && root && i < j->sample_count; i++)
        for (size_t q = 0; q < j->outputs; q++) j->loo_scores[i * j->outputs + q] /= root[j->sample[i]];
    return status;
}

/* ---- the best lambda ------------------------------------------------------------------------------------------- */

typedef struct lambda_search {
    broad__joint *joint;
    const broad__joint_task *task;
    double unit;  /* mean eigenvalue of A'A, of those that are not zero for want of rows */
    double start; /* exponent */
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
    double least = 1;
    if (status == BROAD_OK) status = leave_each(&least, j, rows, j->search_count);
    if (status < 0) return status;
    *out = isfinite(j->loo) && least > REST_LEAST ? j->loo : INFINITY;
    if (*out < s->loo) {
        s->loo = *out;
        s->best = exponent;
    }
    return s->task->watch && s->task->watch(s->task->context, 0.85) ? 1 : 0;
}

static int walk(lambda_search *s, double step, int patience)
{
    int worse = 0, status = BROAD_OK;
    for (int i = 1; status == BROAD_OK && worse < patience; i++) {
        double e = s->start + i * step;
        if (e < EXPONENT_LEAST || e > EXPONENT_MOST) break;
        double before = s->loo, value = 0;
        status = try_exponent(&value, s, e);
        worse = value < before ? 0 : worse + 1;
        if (value == INFINITY && step < 0) break; /* smaller ones are lost in rounding too */
    }
    return status;
}

/* Near what a similar problem had: half steps to the first that is worse. Else whole steps, over one bad one, then half. */
static int search_exponent(lambda_search *s, int near)
{
    double value = 0, middle;
    int status = try_exponent(&value, s, s->start);
    if (status == BROAD_OK) status = walk(s, near ? -0.5 : -1, near ? 1 : 2);
    if (status == BROAD_OK && !(near && s->best < s->start)) status = walk(s, near ? 0.5 : 1, near ? 1 : 2);
    if (near) return status;
    middle = s->best;
    if (status == BROAD_OK) status = try_exponent(&value, s, middle - 0.5);
    return status == BROAD_OK ? try_exponent(&value, s, middle + 0.5) : status;
}

int broad__joint_choose(broad__joint *j, const broad__joint_task *task)
{
    lambda_search s = {.joint = j, .task = task, .start = EXPONENT_START, .best = EXPONENT_MOST, .loo = INFINITY};
    double hint = task->exponent ? *task->exponent : 0;
    int near = hint != 0 && hint > EXPONENT_LEAST && hint < EXPONENT_MOST;
    size_t n = broad__joint_size(j), rank = j->rows < j->columns ? j->rows : j->columns;
    if (near) s.start = hint;
    for (size_t i = 0; i < n; i++) s.unit += j->m[i * n + i] / (double)rank;
    if (!(s.unit > 0) || !isfinite(s.unit)) s.unit = 1;
    int status = take_sample(j, task);
    broad__free(j->w);
    j->w = broad__alloc_doubles(j->columns, j->outputs);
    if (status == BROAD_OK && !j->w) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = search_exponent(&s, near);
    j->lambda = s.unit * pow(10, s.best);
    if (task->exponent) *task->exponent = s.best;
    return status;
}
