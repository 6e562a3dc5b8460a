#include "layer/ridge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/score.h"
#include "layer/score_lambda.h"
#include "layer/shard_sums.h"

/* The grid of lambda, as powers of ten of the mean eigenvalue. */
enum { GRID = 19 };
static const double GRID_FIRST = -8.0, GRID_STEP = 0.5;

void broad__ridge_clear(broad__ridge *ridge)
{
    broad__free(ridge->w);
    broad__free(ridge->step);
    broad__free(ridge->probe_w);
    broad__free(ridge->probe_step);
    broad__spd_clear(&ridge->spd);
    memset(ridge, 0, sizeof *ridge);
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

/* ---- leave-one-out over a grid of lambda ----------------------------------------------------------------------- */

typedef struct loo_grid {
    broad__residual *residual;
    const broad__spd *spd;
    size_t count;
    double lambda[GRID];
    double sum[GRID]; /* of squared leave-one-out residuals */
    double *weights;  /* p x (count * c): eigen-coordinates of W for each lambda */
    double *shrink;   /* p x count: 1 / (value + lambda) */
    double *scratch;  /* one area a worker */
    size_t scratch_each;
} loo_grid;

/* A row's leave-one-out factor; a leverage of one means that the row alone decides its own fit. */
static double loo_factor(double leverage)
{
    double rest = 1.0 - leverage;
    return 1.0 / (rest > DBL_EPSILON ? rest : DBL_EPSILON);
}

/* P = K V' has the rows in eigen-coordinates: fits are P * weights, leverages are (P o P) * shrink, for all lambda at
 * once. */
static void loo_block(loo_grid *grid, double *sums, size_t worker, size_t first, size_t n)
{
    broad__residual *residual = grid->residual;
    const broad__device *device = residual->device;
    size_t p = residual->candidate.width, c = residual->outputs, columns = grid->count * c;
    double *area = grid->scratch + worker * grid->scratch_each, *coordinates = area, *fits = coordinates + n * p,
           *leverage = fits + n * columns;
    memset(area, 0, n * (p + columns + grid->count) * sizeof(double));
    device->outer(coordinates, p, broad__candidate_k(residual, first, n, worker), p, n, grid->spd->factor, p, p, p);
    device->apply(fits, columns, 1.0, coordinates, p, n, grid->weights, columns, p, columns);
    for (size_t i = 0; i < n * p; i++) coordinates[i] *= coordinates[i];
    device->apply(leverage, grid->count, 1.0, coordinates, p, n, grid->shrink, grid->count, p, grid->count);
    for (size_t i = 0; i < n; i++) {
        const double *e = residual->e + (first + i) * c;
        for (size_t l = 0; l < grid->count; l++) {
            double factor = loo_factor(leverage[i * grid->count + l]), square = 0;
            for (size_t j = 0; j < c; j++) {
                double r = e[j] - fits[i * columns + l * c + j];
                square += r * r;
            }
            sums[l] += square * factor * factor;
        }
    }
}

static void loo_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    loo_grid *grid = context;
    for (size_t i = first; i < end && !broad__watch_stopped(); i += BROAD__BLOCK_ROWS) {
        size_t n = end - i < BROAD__BLOCK_ROWS ? end - i : BROAD__BLOCK_ROWS;
        loo_block(grid, sums, worker, i, n);
    }
}

/* weights(i, l, j) = shrink(i, l) * (V b)(i, j) */
static int loo_coordinates(loo_grid *grid, const double *b)
{
    const broad__spd *spd = grid->spd;
    size_t n = spd->n, c = grid->residual->outputs;
    double *turned = broad__alloc_doubles(n, c);
    if (!turned) return BROAD_NO_MEMORY;
    spd->device->apply(turned, c, 1.0, spd->factor, n, n, b, c, n, c);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < grid->count; l++) {
            double inverse = broad__spd_inverse(spd, i, grid->lambda[l]);
            grid->shrink[i * grid->count + l] = inverse;
            for (size_t j = 0; j < c; j++) grid->weights[(i * grid->count + l) * c + j] = inverse * turned[i * c + j];
        }
    broad__free(turned);
    return BROAD_OK;
}

static int loo_primal(loo_grid *grid)
{
    broad__residual *residual = grid->residual;
    size_t p = residual->candidate.width, columns = grid->count * residual->outputs;
    size_t block = residual->rows < BROAD__BLOCK_ROWS ? residual->rows : BROAD__BLOCK_ROWS;
    grid->scratch_each = block * (p + columns + grid->count);
    grid->scratch = broad__alloc_doubles(broad__pool_threads(residual->pool), grid->scratch_each);
    if (!grid->scratch) return BROAD_NO_MEMORY;
    int status = loo_coordinates(grid, residual->candidate.cross);
    double *sums = NULL;
    if (status == BROAD_OK) status = broad__shard_sums(&sums, residual, grid->count, loo_shard, grid);
    if (status == BROAD_OK) memcpy(grid->sum, sums, grid->count * sizeof(double));
    return status;
}

/* a = V' weights and g = diag(V' shrink V); the leave-one-out residual of row i is a_i / g_i. */
static int loo_dual(loo_grid *grid)
{
    broad__residual *residual = grid->residual;
    const broad__spd *spd = grid->spd;
    size_t n = residual->rows, c = residual->outputs, columns = grid->count * c;
    int status = loo_coordinates(grid, residual->e);
    double *a = broad__alloc_doubles(n, columns), *g = broad__alloc_doubles(n, grid->count),
           *squared = broad__alloc_doubles(n, n);
    if (status == BROAD_OK && (!a || !g || !squared)) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        residual->device->cross(a, columns, spd->factor, n, n, grid->weights, columns, columns, n);
        for (size_t i = 0; i < n * n; i++) squared[i] = spd->factor[i] * spd->factor[i];
        residual->device->cross(g, grid->count, squared, n, n, grid->shrink, grid->count, grid->count, n);
        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < grid->count; l++) {
                const double *ai = a + i * columns + l * c;
                double gi = g[i * grid->count + l];
                if (gi > 0) grid->sum[l] += dot(ai, ai, c) / (gi * gi);
            }
    }
    broad__free(a);
    broad__free(g);
    broad__free(squared);
    return status;
}

static double mean_eigenvalue(const broad__spd *spd)
{
    double sum = 0;
    for (size_t i = 0; i < spd->n; i++) sum += spd->values[i];
    return sum / (double)spd->n;
}

/* Leave-one-out norm for the requested lambda, or for the best of the grid; sets lambda and loo. */
static int loo_choose(broad__ridge *ridge, broad__residual *residual, const broad__ridge_request *request)
{
    loo_grid grid = {.residual = residual, .spd = &ridge->spd, .count = request->lambda_auto ? GRID : 1};
    double unit = mean_eigenvalue(&ridge->spd);
    if (!(unit > 0)) unit = 1;
    for (size_t l = 0; l < grid.count; l++)
        grid.lambda[l] = request->lambda_auto ? unit * pow(10.0, GRID_FIRST + GRID_STEP * (double)l) : request->lambda;
    size_t n = ridge->spd.n;
    grid.weights = broad__alloc_doubles(n, grid.count * residual->outputs);
    grid.shrink = broad__alloc_doubles(n, grid.count);
    int status = grid.weights && grid.shrink ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = residual->candidate.dual ? loo_dual(&grid) : loo_primal(&grid);
    size_t best = 0;
    for (size_t l = 1; l < grid.count; l++)
        if (grid.sum[l] < grid.sum[best]) best = l;
    ridge->lambda = grid.lambda[best];
    ridge->loo = sqrt(grid.sum[best]);
    broad__free(grid.weights);
    broad__free(grid.shrink);
    broad__free(grid.scratch);
    return status;
}

static double mean_diagonal(const double *matrix, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += matrix[i * n + i] / (double)n;
    return sum > 0 && isfinite(sum) ? sum : 1;
}

/* ---- solving --------------------------------------------------------------------------------------------------- */

/* Rounding in W, as a part of it, up to which it is left as it is: what it changes in the residual is the square of
 * that. Where the rows lie far away another pass over them is what a layer takes most of its time for, and that square
 * may be as large as the rounding of the residual itself. */
static const double SETTLED = 1e-10, SETTLED_FAR = 1e-8;
enum { ENOUGH = 64 };

/* out = G W */
static void gram_times(double *out, const broad__residual *residual, const double *w)
{
    size_t p = residual->candidate.width, c = residual->outputs;
    memset(out, 0, p * c * sizeof(double));
    residual->device->apply(out, c, 1.0, residual->candidate.matrix, p, p, w, c, p, c);
}

/* W gets (G + lambda I)^-1 (B - (G + lambda I) W), which removes the rounding of the factor. That of the sums remains;
 * it is about as large, and grows with the root of the number of blocks that one sum runs over. With few numbers that
 * cannot be told: they may look right by chance. */
static int correct_by_sums(broad__ridge *ridge, broad__residual *residual)
{
    size_t count = residual->candidate.width * residual->outputs;
    double *step = ridge->step;
    gram_times(step, residual, ridge->w);
    for (size_t i = 0; i < count; i++) step[i] = residual->candidate.cross[i] - step[i] - ridge->lambda * ridge->w[i];
    int status = broad__spd_solve(step, residual->outputs, &ridge->spd);
    double size = dot(ridge->w, ridge->w, count), change = dot(step, step, count);
    double blocks = 1 + (double)residual->rows / (BROAD__SHARDS_FEW * BROAD__BLOCK_ROWS);
    double settled = residual->at->memory ? SETTLED_FAR : SETTLED;
    ridge->settled = status == BROAD_OK && !ridge->spd.spectral && count >= ENOUGH;
    if (!(change * blocks <= settled * settled * size)) ridge->settled = 0;
    for (size_t i = 0; ridge->settled && i < count; i++) ridge->w[i] += step[i];
    return status;
}

/* ||E - KW|| from the sums. */
static double estimate_norm(broad__ridge *ridge, const broad__residual *residual)
{
    size_t count = residual->candidate.width * residual->outputs;
    gram_times(ridge->step, residual, ridge->w);
    double square = residual->norm * residual->norm - 2 * dot(ridge->w, residual->candidate.cross, count) +
                    dot(ridge->w, ridge->step, count);
    return square > 0 ? sqrt(square) : 0;
}

static int solve_primal(broad__ridge *ridge, broad__residual *residual)
{
    memcpy(ridge->w, residual->candidate.cross, residual->candidate.width * residual->outputs * sizeof(double));
    int status = broad__spd_solve(ridge->w, residual->outputs, &ridge->spd);
    if (status == BROAD_OK) status = correct_by_sums(ridge, residual);
    if (status == BROAD_OK) ridge->estimate = estimate_norm(ridge, residual);
    return status;
}

/* The dual solution a stays in ridge->step; W = K'a. */
static int solve_dual(broad__ridge *ridge, broad__residual *residual)
{
    size_t count = residual->rows * residual->outputs;
    ridge->settled = 0;
    memcpy(ridge->step, residual->e, count * sizeof(double));
    int status = broad__spd_solve(ridge->step, residual->outputs, &ridge->spd);
    if (status < 0) return status;
    memcpy(residual->next, ridge->step, count * sizeof(double));
    status = broad__residual_cross_next(ridge->w, residual);
    if (status == BROAD_OK) ridge->estimate = broad__residual_next(residual, ridge->w);
    return status;
}

static int solve_either(broad__ridge *ridge, broad__residual *residual)
{
    return residual->candidate.dual ? solve_dual(ridge, residual) : solve_primal(ridge, residual);
}

/* ||e_q||^2, then ||e_q - K w_q||^2 as next has it. */
static void output_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    (void)worker;
    broad__residual *residual = context;
    const broad__device *at = residual->at;
    size_t c = residual->outputs, n = end - first;
    for (size_t q = 0; at->memory && q < c; q++) {
        const double *e = residual->e + first * c + q, *next = residual->next + first * c + q;
        at->inner(sums + q, e, c, e, c, n, 1);
        at->inner(sums + c + q, next, c, next, c, n, 1);
    }
    for (size_t i = first; !at->memory && i < end; i++)
        for (size_t q = 0; q < c; q++) {
            double e = residual->e[i * c + q], next = residual->next[i * c + q];
            sums[q] += e * e;
            sums[c + q] += next * next;
        }
}

static int worst_output(broad__ridge *ridge, broad__residual *residual)
{
    double *sums = NULL;
    size_t c = residual->outputs;
    broad__residual_next(residual, ridge->w);
    int status = broad__shard_sums(&sums, residual, 2 * c, output_shard, residual);
    ridge->worst_output = 0;
    for (size_t q = 0; status == BROAD_OK && q < c; q++)
        if (sums[q] > 0 && sums[c + q] / sums[q] > ridge->worst_output) ridge->worst_output = sums[c + q] / sums[q];
    return status;
}

/* Lambda by the score; weights only once they are asked for. */
static int choose_by_score(broad__ridge *ridge, broad__residual *residual, double penalty)
{
    broad__prospect best = {0};
    int status = broad__score_lambda(&best, residual, penalty);
    ridge->lambda = best.lambda;
    ridge->estimate = best.norm;
    ridge->inner = best.inner;
    ridge->unsolved = 1;
    return status;
}

static int solve_probes(broad__ridge *ridge, broad__residual *residual)
{
    size_t p = residual->candidate.width, c = residual->probes.count;
    int status = broad__reserve(&ridge->probe_w, &ridge->probe_w_capacity, p * c);
    if (status == BROAD_OK) status = broad__reserve(&ridge->probe_step, &ridge->probe_step_capacity, ridge->spd.n * c);
    if (status < 0) return status;
    return broad__score_probes(ridge->probe_w, &ridge->inner, residual, &ridge->spd, ridge->probe_step);
}

int broad__ridge_solve(broad__ridge *ridge, broad__residual *residual, const broad__ridge_request *request)
{
    size_t p = residual->candidate.width, c = residual->outputs, side = residual->candidate.dual ? residual->rows : p;
    int scored = request->lambda_auto && request->penalty > 0;
    int spectral = !scored && (request->lambda_auto || request->loo || request->operator_norm);
    int status = broad__reserve(&ridge->w, &ridge->w_capacity, p * c);
    if (status == BROAD_OK) status = broad__reserve(&ridge->step, &ridge->step_capacity, side * c);
    ridge->lambda =
        request->relative ? request->lambda * mean_diagonal(residual->candidate.matrix, side) : request->lambda;
    ridge->refined = ridge->unsolved = 0;
    if (status == BROAD_OK && scored) return choose_by_score(ridge, residual, request->penalty);
    if (status == BROAD_OK)
        status =
            broad__spd_factor(&ridge->spd, residual->device, residual->candidate.matrix, side, ridge->lambda, spectral);
    if (status == BROAD_OK && !scored && (request->lambda_auto || request->loo))
        status = loo_choose(ridge, residual, request);
    if (status < 0) return status;
    ridge->spd.lambda = ridge->lambda;
    ridge->operator_norm = 1;
    if (residual->rows <= residual->candidate.width && ridge->spd.spectral) {
        double least = ridge->spd.values[0] + ridge->lambda;
        ridge->operator_norm = least > 0 ? ridge->lambda / least : 1;
    }
    status = request->penalty > 0 ? solve_probes(ridge, residual) : BROAD_OK;
    if (status == BROAD_OK) status = solve_either(ridge, residual);
    return status == BROAD_OK && request->outputs ? worst_output(ridge, residual) : status;
}

int broad__ridge_complete(broad__ridge *ridge, broad__residual *residual)
{
    if (!ridge->unsolved) return BROAD_OK;
    size_t side = residual->candidate.dual ? residual->rows : residual->candidate.width;
    ridge->unsolved = 0;
    int status = broad__spd_factor(&ridge->spd, residual->device, residual->candidate.matrix, side, ridge->lambda, 0);
    if (status == BROAD_OK) status = solve_probes(ridge, residual);
    return status == BROAD_OK ? solve_either(ridge, residual) : status;
}

/* ---- finishing ------------------------------------------------------------------------------------------------- */

/* A correction is taken only while it is small: otherwise the matrix is too near to singular for refinement to
 * converge. */
static int correction_small(const double *step, const double *solution, size_t count)
{
    return dot(step, step, count) <= 0.25 * dot(solution, solution, count);
}

/* After a correction smaller than this by the rows, W is right and the norm before it as good as the one after it. */
static const double REFINED = 1e-6;

/* step = (K'K + lambda I)^-1 (K' r - lambda W) with r = E - KW as computed: the cancellation is behind it, so its
 * digits are good. */
static int correct_by_rows(broad__ridge *ridge, broad__residual *residual)
{
    size_t count = residual->candidate.width * residual->outputs;
    int status = broad__residual_next_cross(ridge->step, &ridge->norm, residual, ridge->w);
    if (status < 0) return status;
    for (size_t i = 0; i < count; i++) ridge->step[i] -= ridge->lambda * ridge->w[i];
    status = broad__spd_solve(ridge->step, residual->outputs, &ridge->spd);
    if (status < 0 || !correction_small(ridge->step, ridge->w, count)) return status;
    ridge->settled = !ridge->spd.spectral &&
                     dot(ridge->step, ridge->step, count) <= REFINED * REFINED * dot(ridge->w, ridge->w, count);
    for (size_t i = 0; i < count; i++) ridge->w[i] += ridge->step[i];
    return BROAD_OK;
}

int broad__ridge_refine(broad__ridge *ridge, broad__residual *residual)
{
    if (residual->candidate.dual || ridge->settled || ridge->refined) return BROAD_OK;
    ridge->refined = 1;
    int status = correct_by_rows(ridge, residual);
    if (ridge->settled) ridge->estimate = ridge->norm;
    return status;
}

static int finish_primal(broad__ridge *ridge, broad__residual *residual)
{
    int status = broad__ridge_refine(ridge, residual);
    if (status == BROAD_OK) ridge->norm = broad__residual_next(residual, ridge->w);
    return status;
}

/* The same for a: r = E - (KK' + lambda I) a. */
static int finish_dual(broad__ridge *ridge, broad__residual *residual)
{
    size_t count = residual->rows * residual->outputs;
    double *a = ridge->step, *r = residual->next;
    ridge->norm = broad__residual_next(residual, ridge->w);
    for (size_t i = 0; i < count; i++) r[i] -= ridge->lambda * a[i];
    int status = broad__spd_solve(r, residual->outputs, &ridge->spd);
    if (status < 0) return status;
    if (correction_small(r, a, count))
        for (size_t i = 0; i < count; i++) a[i] += r[i];
    memcpy(r, a, count * sizeof(double));
    status = broad__residual_cross_next(ridge->w, residual);
    if (status == BROAD_OK) ridge->norm = broad__residual_next(residual, ridge->w);
    return status;
}

int broad__ridge_finish(broad__ridge *ridge, broad__residual *residual)
{
    int status = residual->candidate.dual ? finish_dual(ridge, residual) : finish_primal(ridge, residual);
    if (status < 0) return status;
    if (ridge->norm <= residual->norm) return BROAD_OK;
    if (!ridge->spd.spectral) {
        size_t side = ridge->spd.n;
        status = broad__spd_factor(&ridge->spd, residual->device, residual->candidate.matrix, side, ridge->lambda, 1);
        if (status == BROAD_OK) status = solve_either(ridge, residual);
        if (status < 0) return status;
        ridge->norm = broad__residual_next(residual, ridge->w);
        if (ridge->norm <= residual->norm) return BROAD_OK;
    }
    memset(ridge->w, 0, residual->candidate.width * residual->outputs * sizeof(double));
    broad__residual_next_unchanged(residual);
    ridge->norm = residual->norm;
    return BROAD_OK;
}
