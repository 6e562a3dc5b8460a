#include "compute/cpu/eigen.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/cpu/divide.h"
#include "compute/cpu/tridiagonal.h"

/* A side up to which half of a square is in the cache of any core. */
enum { SMALL = 256 };

typedef struct eigen {
    double *z; /* n x n */
    double *diagonal, *beside, *tau, *scratch;
    size_t *order;
} eigen;

/* The upper triangle times a power of two that brings its largest number near 1; returns that power. By halves: the whole
 * might be no number itself. */
static int scale_upper(double *a, size_t n)
{
    double most = 0;
    int power = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) most = fabs(a[i * n + j]) > most ? fabs(a[i * n + j]) : most;
    frexp(most, &power);
    double half = ldexp(1, -(power / 2)), rest = ldexp(1, -(power - power / 2));
    for (size_t i = 0; i < n && power; i++)
        for (size_t j = i; j < n; j++) a[i * n + j] = a[i * n + j] * half * rest;
    return power;
}

static int solve(eigen *s, double *a, double *values, size_t n)
{
    int power = scale_upper(a, n);
    broad__tridiagonal_reduce(s->diagonal, s->beside, s->tau, a, n, s->scratch);
    int status = broad__watch_check(BROAD_OK);
    if (status == BROAD_OK) status = broad__divide(s->z, s->diagonal, s->beside, s->order, n, s->scratch);
    if (status == BROAD_OK) {
        broad__tridiagonal_return(s->z, a, s->tau, n, s->scratch);
        status = broad__watch_check(BROAD_OK);
    }
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) {
        values[i] = ldexp(s->diagonal[s->order[i]], power);
        memcpy(a + i * n, s->z + s->order[i] * n, n * sizeof(double));
    }
    return BROAD_OK;
}

int broad__eigen(double *a, double *values, size_t n)
{
    eigen s = {0};
    if (!n) return BROAD_OK;
    size_t reducing = broad__tridiagonal_scratch(n), dividing = broad__divide_scratch(n);
    s.z = broad__alloc_doubles(n, n);
    s.diagonal = broad__alloc_doubles(3 * n + (reducing > dividing ? reducing : dividing), 1);
    s.order = broad__alloc_array(n, sizeof *s.order);
    int status = s.z && s.diagonal && s.order ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        s.beside = s.diagonal + n;
        s.tau = s.beside + n;
        s.scratch = s.tau + n;
        status = solve(&s, a, values, n);
    }
    broad__free(s.z);
    broad__free(s.diagonal);
    broad__free(s.order);
    return status;
}

int broad__tridiagonal(double *diagonal, double *beside, double *a, size_t n, double *b, size_t c)
{
    double *tau = broad__alloc_doubles(n + broad__tridiagonal_scratch(n < c ? c : n), 1);
    if (!tau) return BROAD_NO_MEMORY;
    int power = scale_upper(a, n);
    if (n <= SMALL) broad__tridiagonal_reduce_small(diagonal, beside, tau, a, n, tau + n);
    else broad__tridiagonal_reduce(diagonal, beside, tau, a, n, tau + n);
    broad__tridiagonal_turn(b, c, a, tau, n, tau + n);
    for (size_t i = 0; i < n; i++) {
        diagonal[i] = ldexp(diagonal[i], power);
        beside[i] = ldexp(beside[i], power);
    }
    broad__free(tau);
    return broad__watch_check(BROAD_OK);
}
