/* The sparse autoencoder against plain loops, against the optimum it goes to, and where there is nothing to fit. */
#include "problem.h"

#include "base/memory.h"
#include "compute/pool.h"
#include "feature/autoencoder.h"

enum { ROWS_MAX = 1200, INPUTS_MAX = 90, NODES_MAX = 20 };

/* A problem with everything that belongs to it. */
typedef struct sample {
    broad__autoencoder_task task;
    double x[ROWS_MAX * INPUTS_MAX], shift[INPUTS_MAX], factor[INPUTS_MAX], fill[INPUTS_MAX];
    double weight[INPUTS_MAX * NODES_MAX], bias[NODES_MAX];
} sample;

static sample s;
static broad__pool *pool;

/* Inputs that hang together: as many hidden numbers as a third of the inputs, and noise. */
static void make_sample(size_t rows, size_t inputs, size_t nodes, uint64_t seed)
{
    problem_random r = {seed};
    double mix[INPUTS_MAX * INPUTS_MAX];
    size_t hidden = inputs / 3 + 1;
    memset(&s, 0, sizeof s);
    for (size_t i = 0; i < hidden * inputs; i++) mix[i] = problem_normal(&r);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < inputs; j++) s.x[i * inputs + j] = 0.1 * problem_normal(&r);
        for (size_t h = 0; h < hidden; h++) {
            double value = problem_normal(&r);
            for (size_t j = 0; j < inputs; j++) s.x[i * inputs + j] += value * mix[h * inputs + j];
        }
    }
    for (size_t j = 0; j < inputs; j++) s.shift[j] = 0.1 * (double)j, s.factor[j] = 0.5, s.fill[j] = 0.3;
    s.task =
        (broad__autoencoder_task){.device = broad__device_cpu(),
                                  .pool = pool,
                                  .x = s.x,
                                  .rows = rows,
                                  .scaling = {BROAD_SCALE_STANDARD, inputs, inputs, s.shift, s.factor, s.fill, NULL},
                                  .nodes = nodes,
                                  .lambda = 1e-3,
                                  .steps = 50,
                                  .stream = {seed, BROAD__FOR_FEATURES, 3, 1, 0}};
}

/* T = [X 1], scaled; rows x (inputs + 1). Freed with free(). */
static double *plain_inputs(void)
{
    size_t inputs = s.task.scaling.columns, m = inputs + 1;
    double *t = malloc(s.task.rows * m * sizeof *t);
    for (size_t i = 0; i < s.task.rows; i++) {
        for (size_t j = 0; j < inputs; j++) {
            double x = s.x[i * inputs + j];
            double scaled = ((isnan(x) ? s.fill[j] : x) - s.shift[j]) * s.factor[j];
            t[i * m + j] = fmax(-BROAD__SCALED_MOST, fmin(scaled, BROAD__SCALED_MOST));
        }
        t[i * m + inputs] = 1;
    }
    return t;
}

/* a (rows x columns) <- each column scaled from `from` to `to`. */
static void plain_scale(double *a, size_t rows, size_t columns, double from, double to)
{
    for (size_t j = 0; j < columns; j++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < rows; i++) {
            low = fmin(low, a[i * columns + j]);
            high = fmax(high, a[i * columns + j]);
        }
        for (size_t i = 0; i < rows; i++)
            a[i * columns + j] = high - low > 1e-9 ? from + (to - from) * (a[i * columns + j] - low) / (high - low) : 0;
    }
}

/* out (n x m) = matrix^-1 right, by elimination with pivots. */
static void plain_solve(double *out, const double *matrix, const double *right, size_t n, size_t m)
{
    long double *a = malloc(n * (n + m) * sizeof *a);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) a[i * (n + m) + j] = matrix[i * n + j];
        for (size_t j = 0; j < m; j++) a[i * (n + m) + n + j] = right[i * m + j];
    }
    for (size_t p = 0; p < n; p++) {
        size_t best = p;
        for (size_t i = p + 1; i < n; i++)
            if (fabsl(a[i * (n + m) + p]) > fabsl(a[best * (n + m) + p])) best = i;
        for (size_t j = 0; j < n + m; j++) {
            long double swap = a[p * (n + m) + j];
            a[p * (n + m) + j] = a[best * (n + m) + j];
            a[best * (n + m) + j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            long double by = i == p ? 0 : a[i * (n + m) + p] / a[p * (n + m) + p];
            for (size_t j = p; j < n + m && i != p; j++) a[i * (n + m) + j] -= by * a[p * (n + m) + j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) out[i * m + j] = (double)(a[i * (n + m) + n + j] / a[i * (n + m) + i]);
    free(a);
}

/* The problem min ||A W - T||^2 / 2 + lambda ||W||_1 of the sample: A'A and A'T, and T itself. */
typedef struct plain {
    size_t k, m;
    double *t, *gram, *cross;
    double square; /* ||T||^2 */
} plain;

static plain plain_open(void)
{
    size_t n = s.task.rows, inputs = s.task.scaling.columns, m = inputs + 1, k = s.task.nodes;
    plain p = {k, m, plain_inputs(), calloc(k * k, sizeof(double)), calloc(k * m, sizeof(double)), 0};
    double *a = calloc(n * k, sizeof *a);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            for (size_t c = 0; c < m; c++)
                a[i * k + j] += p.t[i * m + c] * (2 * broad__random_at(&s.task.stream, j * m + c) - 1);
    plain_scale(a, n, k, -1, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) {
            for (size_t c = 0; c < k; c++) p.gram[j * k + c] += a[i * k + j] * a[i * k + c];
            for (size_t c = 0; c < m; c++) p.cross[j * m + c] += a[i * k + j] * p.t[i * m + c];
        }
    for (size_t i = 0; i < n * m; i++) p.square += p.t[i] * p.t[i];
    free(a);
    return p;
}

static void plain_close(plain *p) { free(p->t), free(p->gram), free(p->cross); }

static double plain_soft(double v, double by) { return copysign(fmax(fabs(v) - by, 0), v); }

static double *plain_admm(const plain *p, size_t steps)
{
    size_t count = p->k * p->m;
    double *v = calloc(count, sizeof *v), *w = calloc(count, sizeof *w), *u = calloc(count, sizeof *u);
    double *right = calloc(count, sizeof *right), *matrix = calloc(p->k * p->k, sizeof *matrix);
    for (size_t i = 0; i < p->k * p->k; i++) matrix[i] = p->gram[i] + (i / p->k == i % p->k);
    for (size_t step = 0; step < steps; step++) {
        for (size_t i = 0; i < count; i++) right[i] = p->cross[i] + (w[i] - u[i]);
        plain_solve(v, matrix, right, p->k, p->m);
        for (size_t i = 0; i < count; i++) {
            w[i] = plain_soft(v[i] + u[i], s.task.lambda);
            u[i] = u[i] + v[i] - w[i];
        }
    }
    free(v), free(u), free(right), free(matrix);
    return w;
}

static double objective(const plain *p, const double *w)
{
    double sum = p->square / 2;
    for (size_t c = 0; c < p->m; c++)
        for (size_t i = 0; i < p->k; i++) {
            double product = 0;
            for (size_t j = 0; j < p->k; j++) product += p->gram[i * p->k + j] * w[j * p->m + c];
            sum += w[i * p->m + c] * (product / 2 - p->cross[i * p->m + c]) + s.task.lambda * fabs(w[i * p->m + c]);
        }
    return sum;
}

/* The minimum by coordinate descent, which shares nothing with ADMM. */
static double *plain_descent(const plain *p)
{
    double *w = calloc(p->k * p->m, sizeof *w);
    for (size_t round = 0; round < 5000; round++)
        for (size_t c = 0; c < p->m; c++)
            for (size_t i = 0; i < p->k; i++) {
                double rest = p->cross[i * p->m + c];
                for (size_t j = 0; j < p->k; j++)
                    if (j != i) rest -= p->gram[i * p->k + j] * w[j * p->m + c];
                w[i * p->m + c] = plain_soft(rest, s.task.lambda) / p->gram[i * p->k + i];
            }
    return w;
}

/* T W', scaled to [0, 1]: rows x k. */
static double *plain_features(const plain *p, const double *w)
{
    double *f = calloc(s.task.rows * p->k, sizeof *f);
    for (size_t i = 0; i < s.task.rows; i++)
        for (size_t j = 0; j < p->k; j++)
            for (size_t c = 0; c < p->m; c++) f[i * p->k + j] += p->t[i * p->m + c] * w[j * p->m + c];
    plain_scale(f, s.task.rows, p->k, 0, 1);
    return f;
}

/* X weight + bias, with the weights that came out. */
static double *made_features(const plain *p)
{
    double *f = malloc(s.task.rows * p->k * sizeof *f);
    for (size_t i = 0; i < s.task.rows; i++)
        for (size_t j = 0; j < p->k; j++) {
            f[i * p->k + j] = s.bias[j];
            for (size_t c = 0; c < s.task.scaling.columns; c++)
                f[i * p->k + j] += p->t[i * p->m + c] * s.weight[c * p->k + j];
        }
    return f;
}

static double worst_difference(const double *a, const double *b, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= worst)) worst = fabs(a[i] - b[i]);
    return worst;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static void equals_plain_loops(void **state)
{
    (void)state;
    static const struct {
        size_t rows, inputs, nodes, steps;
        double lambda;
    } sizes[] = {
        {7, 2, 3, 50, 1e-3}, {300, 5, 4, 50, 1e-3}, {1100, 8, 6, 3, 10}, {600, 80, 20, 20, 0.5}, {2, 1, 1, 1, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        make_sample(sizes[i].rows, sizes[i].inputs, sizes[i].nodes, 10 + i);
        s.task.lambda = sizes[i].lambda;
        s.task.steps = sizes[i].steps;
        s.x[0] = NAN;
        assert_ok(broad__autoencoder(s.weight, s.bias, &s.task));
        plain p = plain_open();
        double *w = plain_admm(&p, s.task.steps), *want = plain_features(&p, w), *have = made_features(&p);
        double off = worst_difference(have, want, s.task.rows * p.k);
        if (!(off <= 1e-9)) fail_msg("case %zu: features off by %g", i, off);
        free(w), free(want), free(have);
        plain_close(&p);
    }
}

/* Weights before the last scaling are not handed out, but they are known up to a factor for each node and a constant. */
static void goes_to_the_minimum(void **state)
{
    (void)state;
    make_sample(200, 6, 5, 77);
    s.task.lambda = 30;
    s.task.steps = 3000;
    plain p = plain_open();
    double *best = plain_descent(&p), *w = plain_admm(&p, s.task.steps), *early = plain_admm(&p, 2);
    double least = objective(&p, best);
    assert_true(objective(&p, w) <= least * (1 + 1e-9));
    assert_true(objective(&p, early) > least * (1 + 1e-6)); /* so that the number above means something */
    assert_ok(broad__autoencoder(s.weight, s.bias, &s.task));
    double *want = plain_features(&p, best), *have = made_features(&p);
    double off = worst_difference(have, want, s.task.rows * p.k);
    if (!(off <= 1e-6)) fail_msg("features off by %g", off);
    free(best), free(w), free(early), free(want), free(have);
    plain_close(&p);
}

static size_t count_zeros(double lambda)
{
    size_t zeros = 0;
    make_sample(400, 12, 10, 5);
    s.task.lambda = lambda;
    assert_ok(broad__autoencoder(s.weight, s.bias, &s.task));
    for (size_t i = 0; i < s.task.scaling.columns * s.task.nodes; i++) zeros += s.weight[i] == 0;
    return zeros;
}

static void sparsity_grows(void **state)
{
    (void)state;
    size_t none = count_zeros(0), few = count_zeros(5), many = count_zeros(50), all = count_zeros(1e6);
    assert_int_equal(none, 0);
    assert_true(few > none && many > few && many < all);
    assert_int_equal(all, 12 * 10);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    double weight[INPUTS_MAX * NODES_MAX], bias[NODES_MAX];
    for (size_t threads = 1; threads <= 4; threads++) {
        broad__pool *own = NULL;
        assert_ok(broad__pool_open(&own, threads));
        make_sample(1200, 70, 20, 9);
        s.task.pool = own;
        assert_ok(broad__autoencoder(s.weight, s.bias, &s.task));
        broad__pool_close(own);
        if (threads == 1) {
            memcpy(weight, s.weight, sizeof weight);
            memcpy(bias, s.bias, sizeof bias);
        }
        assert_memory_equal(weight, s.weight, sizeof weight);
        assert_memory_equal(bias, s.bias, sizeof bias);
    }
}

static void check_finite(int within)
{
    assert_ok(broad__autoencoder(s.weight, s.bias, &s.task));
    for (size_t i = 0; i < s.task.scaling.columns * s.task.nodes; i++) assert_true(isfinite(s.weight[i]));
    for (size_t i = 0; i < s.task.nodes; i++) assert_true(isfinite(s.bias[i]));
    plain p = plain_open();
    double *f = made_features(&p);
    for (size_t i = 0; i < s.task.rows * s.task.nodes && within; i++) assert_true(f[i] >= -1e-6 && f[i] <= 1 + 1e-6);
    free(f);
    plain_close(&p);
}

static void nothing_to_fit(void **state)
{
    (void)state;
    make_sample(1, 3, 4, 1); /* one row: every node is constant */
    check_finite(1);
    for (size_t i = 0; i < 12; i++) assert_true(s.weight[i] == 0);
    make_sample(50, 3, 4, 1); /* all rows alike, far from zero */
    for (size_t i = 0; i < 150; i++) s.x[i] = 1e6;
    check_finite(1);
    for (size_t i = 0; i < 12; i++) assert_true(s.weight[i] == 0);
    make_sample(50, 4, 15, 1); /* one constant input, more nodes than inputs */
    for (size_t i = 0; i < 50; i++) s.x[4 * i + 2] = 7;
    check_finite(1);
    make_sample(50, 4, 6, 1); /* one input is all there is */
    for (size_t i = 0; i < 200; i++)
        if (i % 4) s.x[i] = 0;
    check_finite(1);
    make_sample(20, 3, 2, 1);
    for (size_t i = 0; i < 60; i++) s.x[i] *= 1e-300;
    for (size_t j = 0; j < 3; j++) s.shift[j] = 0;
    check_finite(0);
}

/* Scaled inputs have a largest size, so that no sum of their squares overflows. */
static void huge_values(void **state)
{
    (void)state;
    double weight[6], bias[2];
    make_sample(300, 3, 2, 1);
    for (size_t i = 0; i < 900; i++) s.x[i] *= 1e308;
    check_finite(1);
    memcpy(weight, s.weight, sizeof weight);
    memcpy(bias, s.bias, sizeof bias);
    for (size_t i = 0; i < 900; i++) s.x[i] = copysign(4 * BROAD__SCALED_MOST, s.x[i]); /* beyond it all are alike */
    check_finite(1);
    assert_memory_equal(weight, s.weight, sizeof weight);
    assert_memory_equal(bias, s.bias, sizeof bias);
    for (size_t i = 0; i < 6; i++) assert_true(weight[i] != 0);
    make_sample(300, 3, 2, 1);
    for (size_t i = 0; i < 900; i++) s.x[i] = 1e306 * (s.x[i] + 100); /* nothing is left of what tells the rows apart */
    check_finite(1);
    for (size_t i = 0; i < 6; i++) assert_true(s.weight[i] == 0);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static size_t calls, fail_at, live;

static void *count_allocate(size_t bytes, void *context)
{
    (void)context;
    if (++calls == fail_at) return NULL;
    live++;
    return malloc(bytes);
}

static void count_release(void *block, void *context)
{
    (void)context;
    if (block) live--;
    free(block);
}

static void every_allocation_fails(void **state)
{
    (void)state;
    make_sample(300, 3, 2, 1);
    broad_allocator counting = {count_allocate, count_release, NULL};
    broad_set_allocator(&counting);
    int status = BROAD_NO_MEMORY;
    for (fail_at = 1; status == BROAD_NO_MEMORY; fail_at++) {
        calls = 0;
        status = broad__autoencoder(s.weight, s.bias, &s.task);
        assert_int_equal(live, 0);
    }
    broad_set_allocator(NULL);
    assert_ok(status);
    assert_true(fail_at > 6);
}

static int open_pool(void **state)
{
    (void)state;
    broad__device_cpu()->hold();
    return broad__pool_open(&pool, 2);
}

static int close_pool(void **state)
{
    (void)state;
    broad__pool_close(pool);
    broad__device_cpu()->release();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_plain_loops),     cmocka_unit_test(goes_to_the_minimum),
        cmocka_unit_test(sparsity_grows),         cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(nothing_to_fit),         cmocka_unit_test(huge_values),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
