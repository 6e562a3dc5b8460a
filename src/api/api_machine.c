/* What this machine has to offer, and whether its BLAS computes what it should. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "compute/device.h"

enum { SIDE = 512, SMALL = 67 };

/* Entries that look random but need no generator. */
static void fill(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = sin(1.0 + 0.7 * (double)i);
}

/* A product of odd size by both devices. */
static int self_test(int *out, double *a, double *b, double *c, double *d)
{
    const broad__device *cpu = broad__device_cpu(), *reference = broad__device_reference();
    memset(c, 0, SMALL * SMALL * sizeof(double));
    memset(d, 0, SMALL * SMALL * sizeof(double));
    cpu->apply(c, SMALL, 1.0, a, SMALL, SMALL, b, SMALL, SMALL, SMALL);
    reference->apply(d, SMALL, 1.0, a, SMALL, SMALL, b, SMALL, SMALL, SMALL);
    *out = 1;
    for (size_t i = 0; i < SMALL * SMALL; i++)
        if (!(fabs(c[i] - d[i]) <= 1e-12 * SMALL)) *out = 0;
    return BROAD_OK;
}

static double measure_gflops(double *a, double *b, double *c)
{
    const broad__device *cpu = broad__device_cpu();
    double best = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
        double began = broad__seconds();
        cpu->apply(c, SIDE, 1.0, a, SIDE, SIDE, b, SIDE, SIDE, SIDE);
        double rate = 2e-9 * SIDE * SIDE * SIDE / (broad__seconds() - began);
        if (rate > best) best = rate;
    }
    return best;
}

int broad_machine_inspect(broad_machine *out, int measure)
{
    if (!out) return broad__fail(BROAD_USAGE, "broad_machine_inspect: an argument is NULL");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *out = (broad_machine){
        .processors = processors > 0 ? (size_t)processors : 1,
        .blas = broad__blas_name(),
        .blas_core = broad__blas_core(),
        .best_core = broad__blas_best_core(),
    };
    if (!measure) return BROAD_OK;
    double *block = broad__alloc_doubles(4 * SIDE, SIDE);
    if (!block) return BROAD_NO_MEMORY;
    double *a = block, *b = a + SIDE * SIDE, *c = b + SIDE * SIDE, *d = c + SIDE * SIDE;
    fill(a, 2 * SIDE * SIDE);
    int status = broad__device_cpu()->hold();
    if (status == BROAD_OK) {
        status = self_test(&out->self_test, a, b, c, d);
        out->gflops = measure_gflops(a, b, c);
        broad__device_cpu()->release();
    }
    broad__free(block);
    return status;
}
