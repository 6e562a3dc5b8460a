#include "layer/joint_solve.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/shard_sums.h"

enum { REFINEMENTS = 4, STRIP = 64 };
/*
 * x solves the system that Cholesky and the sums of M give, so it is off by some part e of itself; the correction from
 * the residual of the rows has that size, and is off by the same part of itself. With a correction of relative size
 *   up to CLOSE    W is as good as that already: it stays, and so does its residual; increments must be exact to 1e-8;
 *   up to SETTLED  the error after it is about its square;
 *   above DRIFTED  R is no longer the factor of M + lambda I;
 *   above LOST     Cholesky is of no use here.
 */
static const double CLOSE = 2e-9, SETTLED = 1e-5, DRIFTED = 1e-3, LOST = 0.25;

/* ---- R --------------------------------------------------------------------------------------------------------- */

typedef struct mirroring {
    double *matrix;
    size_t n, from;
} mirroring;

/* Rows [from, end) of what lies below the diagonal, STRIP of them, become columns above it. */
static void mirror_strip(void *context, size_t index, size_t worker)
{
    (void)worker;
    const mirroring *m = context;
    size_t n = m->n, first = m->from + index * STRIP, end = broad__min(first + STRIP, n);
    for (size_t b = 0; b < end; b += STRIP)
        for (size_t k = b; k < broad__min(b + STRIP, end); k++)
            for (size_t i = k < first ? first : k + 1; i < end; i++) m->matrix[k * n + i] = m->matrix[i * n + k];
}

void broad__joint_mirror(broad__joint *j, broad__pool *pool, size_t from, double lambda)
{
    size_t n = broad__joint_size(j);
    mirroring m = {j->matrix, n, from};
    broad__pool_run(pool, (n - from + STRIP - 1) / STRIP, mirror_strip, &m);
    for (size_t i = from; i < n; i++) j->matrix[i * n + i] = j->diagonal[i] + lambda;
}

int broad__joint_border(int *out_broken, broad__joint *j, const broad__joint_task *task, size_t old)
{
    size_t pivot = 0;
    broad__joint_mirror(j, task->residual->pool, old, j->factored);
    broad__cholesky_task work = {.a = j->matrix,
                                 .n = broad__joint_size(j),
                                 .done = old,
                                 .device = task->residual->device,
                                 .pool = task->residual->pool};
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_FACTOR);
    int status = broad__cholesky(&pivot, &work);
    broad__profile_leave(before);
    *out_broken = pivot != 0;
    if (status || pivot) j->factored = -1;
    return status;
}

/* What is above the diagonal, and the diagonal. */
static void copy_upper(double *to, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++) memcpy(to + i * n + i, from + i * n + i, (n - i) * sizeof(double));
}

void broad__joint_spare(broad__joint *j, double lambda)
{
    if (!j->spare || j->spectral || j->factored != lambda || j->spared == lambda) return;
    copy_upper(j->spare, j->matrix, broad__joint_size(j));
    j->spared = lambda;
}

void broad__joint_spare_nothing(broad__joint *j)
{
    broad__free(j->spare);
    j->spare = NULL;
}

int broad__joint_factor(int *out_broken, broad__joint *j, const broad__joint_task *task, double lambda, int spectral)
{
    *out_broken = 0;
    if (j->factored == lambda && j->spectral == spectral) return BROAD_OK;
    j->factored = -1;
    j->spectral = spectral;
    if (!spectral && j->spare && j->spared == lambda) {
        copy_upper(j->matrix, j->spare, broad__joint_size(j));
        j->factored = lambda;
        return BROAD_OK;
    }
    j->factors++;
    if (spectral) {
        broad__joint_mirror(j, task->residual->pool, 0, 0);
        int status = broad__spd_factor(&j->spd, task->residual->device, j->matrix, broad__joint_size(j), lambda, 1);
        if (status == BROAD_OK) j->factored = lambda;
        return status;
    }
    j->factored = lambda;
    return broad__joint_border(out_broken, j, task, 0);
}

int broad__joint_solve(double *b, broad__joint *j, const broad__residual *residual)
{
    if (j->spectral) return broad__spd_solve(b, j->outputs, &j->spd);
    residual->device->solve(b, j->outputs, j->matrix, broad__joint_size(j));
    return BROAD_OK;
}

/* ---- the residual ---------------------------------------------------------------------------------------------- */

static double length(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sqrt(sum);
}

/* The solution and how it is improved; alpha in the dual form, where W = A'alpha. */
typedef struct solution {
    broad__joint *joint;
    const broad__joint_task *task;
    size_t step;    /* rows at a time */
    double *blocks; /* step x columns per worker; not in the dual form */
    double *gradient, *correction, *alpha;
    size_t count; /* numbers of W, or of alpha */
} solution;

/* next = Y - A W; sums: A'next, then ||next||^2 */
static void residual_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    solution *s = context;
    const broad__joint *j = s->joint;
    broad__residual *residual = s->task->residual;
    const broad__device *at = residual->at;
    size_t p = j->columns, c = j->outputs;
    for (size_t i = first; i < end && !broad__watch_look(4.0 * (double)s->step * (double)(p * c)); i += s->step) {
        size_t n = broad__min(s->step, end - i);
        double *block = j->dual ? j->a + i * p : s->blocks + worker * s->step * p, *next = residual->next + i * c;
        if (!j->dual) {
            broad__row_block rows = broad__residual_block(residual, i, n, worker);
            broad__residual_columns(block, p, residual, s->task->kblocks, s->task->count, &rows);
        }
        if (at->memory) at->memory->put(next, s->task->y + i * c, n * c);
        else memcpy(next, s->task->y + i * c, n * c * sizeof(double));
        at->apply(next, c, -1.0, block, p, n, j->w, c, p, c);
        if (!j->dual) at->cross(sums + 1, c, block, p, p, next, c, c, n);
        if (at->memory) at->squares(sums, next, n * c);
        for (size_t k = 0; !at->memory && k < n * c; k++) sums[0] += next[k] * next[k];
    }
}

/* next and the norm; and the gradient A'next, which the dual form does not need. */
static int residual_pass(solution *s)
{
    broad__joint *j = s->joint;
    double *sums = NULL;
    size_t numbers = j->dual ? 0 : j->columns * j->outputs;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_REFINE);
    int status = broad__shard_sums(&sums, s->task->residual, numbers + 1, residual_shard, s);
    broad__profile_leave(before);
    if (status < 0) return status;
    if (numbers) memcpy(s->gradient, sums + 1, numbers * sizeof(double));
    j->norm = sqrt(sums[0]);
    j->passes++;
    return broad__watch_check(BROAD_OK);
}

static void weights_from_alpha(solution *s)
{
    broad__joint *j = s->joint;
    memset(j->w, 0, j->columns * j->outputs * sizeof(double));
    s->task->residual->device->cross(j->w, j->outputs, j->a, j->columns, j->columns, s->alpha, j->outputs, j->outputs,
                                     j->rows);
}

static int solve_first(solution *s)
{
    broad__joint *j = s->joint;
    double *x = j->dual ? s->alpha : j->w;
    memcpy(x, j->dual ? s->task->y : j->cross, s->count * sizeof(double));
    int status = broad__joint_solve(x, j, s->task->residual);
    if (status == BROAD_OK && j->dual) weights_from_alpha(s);
    return status == BROAD_OK ? residual_pass(s) : status;
}

/* The correction that the residual of the rows asks for. *out_size: its size relative to the solution. */
static int find_step(double *out_size, solution *s)
{
    broad__joint *j = s->joint;
    const double *x = j->dual ? s->alpha : j->w, *right = j->dual ? s->task->residual->next : s->gradient;
    for (size_t i = 0; i < s->count; i++) s->correction[i] = right[i] - j->lambda * x[i];
    int status = broad__joint_solve(s->correction, j, s->task->residual);
    double whole = length(x, s->count);
    *out_size = whole > 0 ? length(s->correction, s->count) / whole : 0;
    return status;
}

static int take_step(solution *s)
{
    broad__joint *j = s->joint;
    double *x = j->dual ? s->alpha : j->w;
    for (size_t i = 0; i < s->count; i++) x[i] += s->correction[i];
    if (j->dual) weights_from_alpha(s);
    return residual_pass(s);
}

/* Solves with the current factor; *out_first: size of the first correction. */
static int solve_refined(double *out_first, solution *s)
{
    int status = solve_first(s);
    double size = INFINITY;
    *out_first = 0;
    for (size_t i = 0; status == BROAD_OK && i < REFINEMENTS && size > SETTLED; i++) {
        double before = size;
        status = find_step(&size, s);
        if (i == 0) *out_first = size;
        /* A small error of alpha may be a larger one of W = A'alpha: there every step is taken, since A is stored. */
        if (status || !(size <= LOST) || size > before / 2 || (size <= CLOSE && !s->joint->dual)) break;
        status = take_step(s);
    }
    return status;
}

/* With R as it is; if that does not suffice, with R recomputed from M; and if that does not either, with the
 * eigendecomposition. */
static int solve_well(solution *s)
{
    broad__joint *j = s->joint;
    int broken = 0;
    size_t made = j->factors;
    double first = 0;
    int status = broad__joint_factor(&broken, j, s->task, j->lambda, j->spectral);
    if (status == BROAD_OK && !broken) status = solve_refined(&first, s);
    if (status == BROAD_OK && !broken && !j->spectral && !(first <= DRIFTED) && j->factors == made) {
        j->factored = -1;
        status = broad__joint_factor(&broken, j, s->task, j->lambda, 0);
        if (status == BROAD_OK && !broken) status = solve_refined(&first, s);
    }
    if (status || (!broken && (j->spectral || first <= LOST))) return status;
    status = broad__joint_factor(&broken, j, s->task, j->lambda, 1);
    return status == BROAD_OK ? solve_refined(&first, s) : status;
}

int broad__joint_weights_plain(int *out_broken, broad__joint *j, const broad__joint_task *task)
{
    int status = broad__joint_factor(out_broken, j, task, j->lambda, 0);
    if (status || *out_broken || j->dual) return status;
    memcpy(j->w, j->cross, j->columns * j->outputs * sizeof(double));
    return broad__joint_solve(j->w, j, task->residual);
}

int broad__joint_weights(broad__joint *j, const broad__joint_task *task)
{
    const broad__residual *residual = task->residual;
    solution s = {.joint = j,
                  .task = task,
                  .count = (j->dual ? j->rows : j->columns) * j->outputs,
                  .step = broad__residual_step(residual, j->columns)};
    int status = BROAD_OK;
    broad__free(j->w);
    j->w = broad__alloc_doubles(j->columns, j->outputs);
    s.correction = broad__alloc_doubles(s.count, 1);
    if (j->dual) {
        s.alpha = broad__alloc_doubles(s.count, 1);
    } else {
        s.gradient = broad__alloc_doubles(j->columns, j->outputs);
        status = broad__rows_alloc(&s.blocks, residual, s.step, j->columns);
    }
    if (!j->w || !s.correction || !(j->dual ? s.alpha : s.gradient)) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = solve_well(&s);
    broad__free(s.gradient);
    broad__free(s.correction);
    broad__free(s.alpha);
    broad__rows_free(residual, s.blocks);
    return status;
}
