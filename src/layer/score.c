#include "layer/score.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* Where less than this part of the rows is left by the degrees of freedom, the score tells nothing. */
static const double LEAST_LEFT = 0.1;

double broad__score_of(const broad__probes *probes, double norm, double df, double penalty)
{
    double left = 1 - penalty * df / (double)(probes->rows ? probes->rows : 1);
    return left >= LEAST_LEFT ? norm / left : INFINITY;
}

double broad__score(const broad__probes *probes, double norm, double inner, double penalty)
{
    return broad__score_of(probes, norm, broad__probes_df_of(probes, inner), penalty);
}

double broad__score_now(const broad__residual *residual, double penalty)
{
    return broad__score(&residual->probes, residual->norm, residual->probes.inner, penalty);
}

/* ---- the probes -------------------------------------------------------------------------------------------------- */

/* out (n x c) = the first c of every `stride` columns. */
static void take_columns(double *out, const double *from, size_t n, size_t stride, size_t c)
{
    for (size_t i = 0; i < n; i++) memcpy(out + i * c, from + i * stride, c * sizeof *out);
}

/* x = (A + lambda I)^-1 b, with one step of refinement; b: the first c of 2c columns, work: n x c. */
static int solve(double *x, const broad__residual *residual, const double *b, broad__spd *spd, double *work)
{
    size_t n = spd->n, c = residual->probes.count;
    take_columns(x, b, n, 2 * c, c);
    int status = broad__spd_solve(x, c, spd);
    if (status < 0) return status;
    take_columns(work, b, n, 2 * c, c);
    residual->device->apply(work, c, -1.0, residual->candidate.matrix, n, n, x, c, n, c);
    for (size_t i = 0; i < n * c; i++) work[i] -= spd->lambda * x[i];
    status = broad__spd_solve(work, c, spd);
    for (size_t i = 0; status == BROAD_OK && i < n * c; i++) x[i] += work[i];
    return status;
}

static double inner_of(const double *a, size_t n, size_t c, const double *both)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < c; j++) sum += a[i * c + j] * both[i * 2 * c + c + j];
    return sum;
}

int broad__score_probes(double *out, double *out_inner, const broad__residual *residual, broad__spd *spd, double *work)
{
    const broad__candidate *candidate = &residual->candidate;
    const broad__probes *probes = &residual->probes;
    size_t p = candidate->width, n = residual->rows, c = probes->count;
    if (!candidate->dual) {
        int status = solve(out, residual, candidate->probes, spd, work);
        *out_inner = probes->inner - inner_of(out, p, c, candidate->probes);
        return status;
    }
    double *a = broad__alloc_doubles(n, c);
    int status = a ? solve(a, residual, probes->u, spd, work) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        memset(out, 0, p * c * sizeof *out);
        residual->device->cross(out, c, candidate->k, p, p, a, c, c, n);
        *out_inner = spd->lambda * inner_of(a, n, c, probes->u);
    }
    broad__free(a);
    return status;
}

int broad__score_follow(broad__residual *residual, const broad__kblock *kblock, const double *w, double lambda)
{
    broad__spd spd = {0};
    size_t p = broad__kblock_width(kblock), c = residual->probes.count, side = residual->rows < p ? residual->rows : p;
    double *probe_w = broad__alloc_doubles(p, c), *work = broad__alloc_doubles(side, c), inner = 0;
    const double *kept = NULL;
    int status = probe_w && work ? broad__candidate_compute(residual, kblock, 1) : BROAD_NO_MEMORY;
    if (status == BROAD_OK)
        status = broad__spd_factor(&spd, residual->device, residual->candidate.matrix, side, lambda, 0);
    spd.lambda = lambda;
    if (status == BROAD_OK) status = broad__score_probes(probe_w, &inner, residual, &spd, work);
    if (status == BROAD_OK) status = broad__probes_keep(&kept, &residual->probes, probe_w, p);
    if (status == BROAD_OK) status = broad__residual_follow(residual, kblock, w, kept);
    broad__spd_clear(&spd);
    broad__free(probe_w);
    broad__free(work);
    return status;
}
