#include "layer/spd.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void broad__spd_clear(broad__spd *system)
{
    broad__free(system->factor);
    broad__free(system->values);
    broad__free(system->work);
    memset(system, 0, sizeof *system);
}

static int upper_finite(const double *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            if (!isfinite(matrix[i * n + j])) return 0;
    return 1;
}

static int factor_spectral(broad__spd *system, const double *matrix)
{
    size_t n = system->n;
    memcpy(system->factor, matrix, n * n * sizeof(double));
    int status = system->device->eigen(system->factor, system->values, n);
    if (status < 0) return status;
    /* The matrix is a Gram matrix: what is below zero is rounding. */
    for (size_t i = 0; i < n; i++)
        if (!(system->values[i] > 0)) system->values[i] = 0;
    system->spectral = 1;
    return BROAD_OK;
}

int broad__spd_factor(broad__spd *system, const broad__device *device, const double *matrix, size_t n, double lambda,
                      int spectral)
{
    int status = broad__reserve(&system->factor, &system->factor_room, n * n);
    if (status == BROAD_OK) status = broad__reserve(&system->values, &system->values_room, n);
    if (status < 0) return status;
    if (!upper_finite(matrix, n))
        return broad__fail(BROAD_BAD_DATA,
                           "the node outputs overflow when squared: scale the inputs (option scale standard) or "
                           "use a bounded activation");
    system->device = device;
    system->n = n;
    system->lambda = lambda;
    system->spectral = 0;
    if (spectral) return factor_spectral(system, matrix);
    memcpy(system->factor, matrix, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) system->factor[i * n + i] += lambda;
    if (device->factor(system->factor, n) == 0) return BROAD_OK;
    return factor_spectral(system, matrix);
}

double broad__spd_inverse(const broad__spd *system, size_t i, double lambda)
{
    double largest = system->values[system->n - 1], sum = system->values[i] + lambda;
    return sum > (double)system->n * DBL_EPSILON * largest * 0.01 && sum >= DBL_MIN ? 1.0 / sum : 0.0;
}

/* V' diag(1 / (values + lambda)) V b, with V's rows the eigenvectors. */
static int solve_spectral(double *b, size_t c, broad__spd *system)
{
    size_t n = system->n;
    int status = broad__reserve(&system->work, &system->work_room, n * c);
    if (status < 0) return status;
    memset(system->work, 0, n * c * sizeof(double));
    system->device->apply(system->work, c, 1.0, system->factor, n, n, b, c, n, c);
    for (size_t i = 0; i < n; i++) {
        double inverse = broad__spd_inverse(system, i, system->lambda);
        for (size_t j = 0; j < c; j++) system->work[i * c + j] *= inverse;
    }
    memset(b, 0, n * c * sizeof(double));
    system->device->cross(b, c, system->factor, n, n, system->work, c, c, n);
    return BROAD_OK;
}

int broad__spd_solve(double *b, size_t c, broad__spd *system)
{
    if (system->spectral) return solve_spectral(b, c, system);
    system->device->solve(b, c, system->factor, system->n);
    return BROAD_OK;
}
