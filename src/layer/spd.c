#include "layer/spd.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"

void broad__spd_clear(broad__spd *spd)
{
    broad__free(spd->factor);
    broad__free(spd->values);
    broad__free(spd->work);
    memset(spd, 0, sizeof *spd);
}

/* Infinity and what is no number, times zero, are no numbers. */
static int upper_finite(const double *matrix, size_t n)
{
    enum { LANES = 8 };
    double zero[LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j + LANES <= n; j += LANES)
            for (size_t k = 0; k < LANES; k++) zero[k] += 0.0 * matrix[i * n + j + k];
        for (; j < n; j++) zero[0] += 0.0 * matrix[i * n + j];
    }
    for (size_t k = 1; k < LANES; k++) zero[0] += zero[k];
    return zero[0] == 0;
}

int broad__spd_check(const double *matrix, size_t n)
{
    if (upper_finite(matrix, n)) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA,
                       "the node outputs overflow when squared: scale the inputs (option scale standard) or "
                       "use a bounded activation");
}

static int factor_spectral(broad__spd *spd, const double *matrix)
{
    size_t n = spd->n;
    memcpy(spd->factor, matrix, n * n * sizeof(double));
    int status = spd->device->eigen(spd->factor, spd->values, n);
    if (status < 0) return status;
    /* The matrix is a Gram matrix: what is below zero is rounding. */
    for (size_t i = 0; i < n; i++)
        if (!(spd->values[i] > 0)) spd->values[i] = 0;
    spd->spectral = 1;
    return BROAD_OK;
}

int broad__spd_factor(broad__spd *spd, const broad__device *device, const double *matrix, size_t n, double lambda,
                      int spectral)
{
    int status = broad__reserve(&spd->factor, &spd->factor_capacity, n * n);
    if (status == BROAD_OK) status = broad__reserve(&spd->values, &spd->values_capacity, n);
    if (status < 0) return status;
    status = broad__spd_check(matrix, n);
    if (status < 0) return status;
    spd->device = device;
    spd->n = n;
    spd->lambda = lambda;
    spd->spectral = 0;
    if (spectral) return factor_spectral(spd, matrix);
    memcpy(spd->factor, matrix, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) spd->factor[i * n + i] += lambda;
    size_t broken = device->factor(spd->factor, n);
    status = broad__watch_check(BROAD_OK);
    return status < 0 || !broken ? status : factor_spectral(spd, matrix);
}

double broad__spd_inverse(const broad__spd *spd, size_t i, double lambda)
{
    double largest = spd->values[spd->n - 1], sum = spd->values[i] + lambda;
    return sum > (double)spd->n * DBL_EPSILON * largest * 0.01 && sum >= DBL_MIN ? 1.0 / sum : 0.0;
}

/* V' diag(1 / (values + lambda)) V b, with V's rows the eigenvectors. */
static int solve_spectral(double *b, size_t c, broad__spd *spd)
{
    size_t n = spd->n;
    int status = broad__reserve(&spd->work, &spd->work_capacity, n * c);
    if (status < 0) return status;
    memset(spd->work, 0, n * c * sizeof(double));
    spd->device->apply(spd->work, c, 1.0, spd->factor, n, n, b, c, n, c);
    for (size_t i = 0; i < n; i++) {
        double inverse = broad__spd_inverse(spd, i, spd->lambda);
        for (size_t j = 0; j < c; j++) spd->work[i * c + j] *= inverse;
    }
    memset(b, 0, n * c * sizeof(double));
    spd->device->cross(b, c, spd->factor, n, n, spd->work, c, c, n);
    return BROAD_OK;
}

int broad__spd_solve(double *b, size_t c, broad__spd *spd)
{
    if (spd->spectral) return solve_spectral(b, c, spd);
    spd->device->solve(b, c, spd->factor, spd->n);
    return broad__watch_check(BROAD_OK);
}
