/*
 * The device with every operation counted where a profile was asked for. Operations are those of additions and
 * multiplications that the plain method takes; activations are not counted. eigen: what its steps take at most, about.
 */
#include "base/profile.h"
#include "base/watch.h"
#include "compute/device.h"

enum { GROUPS = 5 };
typedef enum group { MAKE, SUM, CROSS, APPLY, SOLVE } group;

/* clang-format off */
static const broad__profile_stage stages[BROAD__PHASE_WHOLE][GROUPS] = {
    [BROAD__PHASE_OTHER]    = {BROAD__STAGE_NODES,        BROAD__STAGE_GRAM,         BROAD__STAGE_CROSS,        BROAD__STAGE_RESIDUAL,     BROAD__STAGE_SOLVE},
    [BROAD__PHASE_LAYER]    = {BROAD__STAGE_NODES,        BROAD__STAGE_GRAM,         BROAD__STAGE_CROSS,        BROAD__STAGE_RESIDUAL,     BROAD__STAGE_SOLVE},
    [BROAD__PHASE_FEATURES] = {BROAD__STAGE_FEATURES,     BROAD__STAGE_FEATURES,     BROAD__STAGE_FEATURES,     BROAD__STAGE_FEATURES,     BROAD__STAGE_FEATURES},
    [BROAD__PHASE_JOINT]    = {BROAD__STAGE_JOINT_FILL,   BROAD__STAGE_JOINT_GRAM,   BROAD__STAGE_JOINT_GRAM,   BROAD__STAGE_JOINT_REFINE, BROAD__STAGE_JOINT_FACTOR},
    [BROAD__PHASE_FACTOR]   = {BROAD__STAGE_JOINT_FACTOR, BROAD__STAGE_JOINT_FACTOR, BROAD__STAGE_JOINT_FACTOR, BROAD__STAGE_JOINT_FACTOR, BROAD__STAGE_JOINT_FACTOR},
    [BROAD__PHASE_REFINE]   = {BROAD__STAGE_JOINT_FILL,   BROAD__STAGE_JOINT_REFINE, BROAD__STAGE_JOINT_REFINE, BROAD__STAGE_JOINT_REFINE, BROAD__STAGE_JOINT_REFINE},
    [BROAD__PHASE_LOO]      = {BROAD__STAGE_JOINT_LOO,    BROAD__STAGE_JOINT_LOO,    BROAD__STAGE_JOINT_LOO,    BROAD__STAGE_JOINT_LOO,    BROAD__STAGE_JOINT_LOO},
    [BROAD__PHASE_PILOT]    = {BROAD__STAGE_PILOT,        BROAD__STAGE_PILOT,        BROAD__STAGE_PILOT,        BROAD__STAGE_PILOT,        BROAD__STAGE_PILOT},
};
/* clang-format on */

/* One operation under way; profile NULL: it is not counted. */
typedef struct count {
    broad__profile_scope scope;
    double began;
} count;

static count start(void)
{
    count c = {broad__profile_here(), 0};
    if (c.scope.phase >= BROAD__PHASE_WHOLE) c.scope.profile = NULL;
    if (c.scope.profile) c.began = broad__thread_seconds();
    return c;
}

static void stop(count c, group g, double flops, double doubles)
{
    broad__watch_count(flops);
    if (c.scope.profile)
        broad__profile_add(c.scope.profile, stages[c.scope.phase][g], broad__thread_seconds() - c.began, flops,
                           doubles * sizeof(double));
}

static const broad__device *device(void) { return broad__device_cpu_uncounted(); }

static int counted_hold(void) { return device()->hold(); }

static void counted_release(void) { device()->release(); }

static void counted_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                          size_t rows)
{
    double n = (double)rows, inputs = (double)nodes->inputs, width = (double)nodes->nodes;
    count c = start();
    device()->nodes(out, out_stride, nodes, x, x_stride, rows);
    broad__watch_count(BROAD__ACTIVATION_FLOPS * n * width);
    stop(c, MAKE, 2 * n * inputs * width, n * inputs + n * width + (inputs + 1) * width);
}

static int counted_pack(double *out, const broad__nodes *nodes) { return device()->pack(out, nodes); }

static void counted_gram(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    double n = (double)rows, wide = (double)p;
    count c = start();
    device()->gram(out, out_stride, k, k_stride, rows, p);
    stop(c, SUM, n * wide * (wide + 1), n * wide + wide * (wide + 1));
}

static void counted_cross(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                          size_t b_stride, size_t columns, size_t rows)
{
    double n = (double)rows, high = (double)p, wide = (double)columns;
    count c = start();
    device()->cross(out, out_stride, a, a_stride, p, b, b_stride, columns, rows);
    stop(c, CROSS, 2 * n * high * wide, n * (high + wide) + 2 * high * wide);
}

static void counted_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                          const double *w, size_t w_stride, size_t p, size_t columns)
{
    double n = (double)rows, high = (double)p, wide = (double)columns;
    count c = start();
    device()->apply(out, out_stride, sign, k, k_stride, rows, w, w_stride, p, columns);
    stop(c, APPLY, 2 * n * high * wide, n * (high + 2 * wide) + high * wide);
}

static void counted_apply_ahead(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows,
                                const double *w, size_t w_stride, size_t p, size_t columns, const broad__ahead ahead[2])
{
    double n = (double)rows, high = (double)p, wide = (double)columns;
    count c = start();
    device()->apply_ahead(out, out_stride, k, k_stride, rows, w, w_stride, p, columns, ahead);
    stop(c, APPLY, 2 * n * high * wide, n * (high + 2 * wide) + high * wide);
}

static void counted_outer(double *out, size_t out_stride, const double *a, size_t a_stride, size_t rows,
                          const double *b, size_t b_stride, size_t columns, size_t p)
{
    double n = (double)rows, inner = (double)p, wide = (double)columns;
    count c = start();
    device()->outer(out, out_stride, a, a_stride, rows, b, b_stride, columns, p);
    stop(c, SUM, 2 * n * inner * wide, n * inner + inner * wide + 2 * n * wide);
}

static void counted_squares(double *out, const double *a, size_t length) { device()->squares(out, a, length); }

static void counted_inner(double *out, const double *a, size_t a_stride, const double *b, size_t b_stride, size_t rows,
                          size_t columns)
{
    device()->inner(out, a, a_stride, b, b_stride, rows, columns);
}

static void counted_copy(double *out, size_t out_stride, const double *from, size_t from_stride, size_t rows,
                         size_t columns)
{
    broad__profile_span span = broad__profile_start();
    device()->copy(out, out_stride, from, from_stride, rows, columns);
    broad__profile_stop(span, BROAD__STAGE_COPY, 0, 2.0 * (double)rows * (double)columns * sizeof(double));
}

static void counted_scale(double *k, size_t k_stride, size_t rows, size_t columns, const double *root)
{
    device()->scale(k, k_stride, rows, columns, root);
}

static size_t counted_factor(double *a, size_t n)
{
    double size = (double)n;
    count c = start();
    size_t pivot = device()->factor(a, n);
    stop(c, SOLVE, size * size * size / 3, size * size);
    return pivot;
}

static void counted_solve(double *b, size_t columns, const double *r, size_t n)
{
    double size = (double)n, wide = (double)columns;
    count c = start();
    device()->solve(b, columns, r, n);
    stop(c, SOLVE, 2 * size * size * wide, size * size + 2 * size * wide);
}

static void counted_whiten(double *b, size_t b_stride, size_t rows, const double *r, size_t r_stride, size_t n)
{
    double size = (double)n, high = (double)rows;
    count c = start();
    device()->whiten(b, b_stride, rows, r, r_stride, n);
    stop(c, SOLVE, high * size * size, size * size / 2 + 2 * high * size);
}

static void counted_invert(double *r, size_t n)
{
    double size = (double)n;
    count c = start();
    device()->invert(r, n);
    stop(c, SOLVE, size * size * size / 3, size * size);
}

static int counted_update(double *r, size_t n, double *b, size_t k)
{
    double size = (double)n, high = (double)k;
    count c = start();
    int status = device()->update(r, n, b, k);
    stop(c, SOLVE, 2 * high * size * size, size * size + high * size);
    return status;
}

static int counted_eigen(double *a, double *values, size_t n)
{
    double size = (double)n;
    count c = start();
    int status = device()->eigen(a, values, n);
    stop(c, SOLVE, 14.0 / 3 * size * size * size, 2 * size * size);
    return status;
}

static int counted_tridiagonal(double *diagonal, double *beside, double *a, size_t n, double *b, size_t columns)
{
    double size = (double)n;
    count c = start();
    int status = device()->tridiagonal(diagonal, beside, a, n, b, columns);
    stop(c, SOLVE, 4.0 / 3 * size * size * size + 2 * size * size * (double)columns, size * size);
    return status;
}

static const broad__device counted = {
    .name = "cpu",
    .hold = counted_hold,
    .release = counted_release,
    .nodes = counted_nodes,
    .pack = counted_pack,
    .gram = counted_gram,
    .cross = counted_cross,
    .apply = counted_apply,
    .apply_ahead = counted_apply_ahead,
    .outer = counted_outer,
    .squares = counted_squares,
    .inner = counted_inner,
    .copy = counted_copy,
    .scale = counted_scale,
    .factor = counted_factor,
    .solve = counted_solve,
    .whiten = counted_whiten,
    .invert = counted_invert,
    .update = counted_update,
    .eigen = counted_eigen,
    .tridiagonal = counted_tridiagonal,
};

const broad__device *broad__device_cpu(void) { return &counted; }
