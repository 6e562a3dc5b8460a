/*
 * Ridge solutions by an independent path: plain loops in extended precision, leave-one-out residuals by explicit refits, the
 * residual identity by direct evaluation.
 */
#include "problem.h"

#include "base/memory.h"
#include "compute/device.h"
#include "layer/ridge.h"
#include "layer/supervise.h"

/* W (p x c) by elimination on K'K + lambda I, whose condition is at most 1e8, in extended precision; K by rows. */
static void extended_solution(double *w, const double *k, size_t rows, size_t p, const double *e, size_t c,
                              double lambda)
{
    size_t wide = p + c;
    long double *a = calloc(p * wide, sizeof *a);
    for (size_t i = 0; i < p; i++) a[i * wide + i] = lambda;
    for (size_t l = 0; l < rows; l++)
        for (size_t i = 0; i < p; i++) {
            long double number = k[l * p + i];
            for (size_t j = i; j < p; j++) a[i * wide + j] += number * k[l * p + j];
            for (size_t j = 0; j < c; j++) a[i * wide + p + j] += number * e[l * c + j];
        }
    for (size_t i = 0; i < p; i++)
        for (size_t below = i + 1; below < p; below++) {
            long double factor = a[i * wide + below] / a[i * wide + i];
            for (size_t j = below; j < wide; j++) a[below * wide + j] -= factor * a[i * wide + j];
        }
    for (size_t i = p; i-- > 0;)
        for (size_t j = 0; j < c; j++) {
            for (size_t l = i + 1; l < p; l++) a[i * wide + p + j] -= a[i * wide + l] * a[l * wide + p + j];
            a[i * wide + p + j] /= a[i * wide + i];
            w[i * c + j] = (double)a[i * wide + p + j];
        }
    free(a);
}

__extension__ typedef __float128 quad;

/* The same in quadruple precision, by elimination on K'K + lambda I: decides where that is in doubt. */
static void quad_solution(double *w, const double *k, size_t rows, size_t p, const double *e, size_t c, double lambda)
{
    quad *g = calloc(p * p, sizeof *g), *b = calloc(p * c, sizeof *b);
    for (size_t i = 0; i < rows; i++)
        for (size_t a = 0; a < p; a++) {
            for (size_t d = 0; d < p; d++) g[a * p + d] += (quad)k[i * p + a] * k[i * p + d];
            for (size_t j = 0; j < c; j++) b[a * c + j] += (quad)k[i * p + a] * e[i * c + j];
        }
    for (size_t a = 0; a < p; a++) g[a * p + a] += (quad)lambda;
    for (size_t a = 0; a < p; a++)
        for (size_t d = a + 1; d < p; d++) {
            quad f = g[d * p + a] / g[a * p + a];
            for (size_t t = a; t < p; t++) g[d * p + t] -= f * g[a * p + t];
            for (size_t j = 0; j < c; j++) b[d * c + j] -= f * b[a * c + j];
        }
    for (size_t a = p; a-- > 0;)
        for (size_t j = 0; j < c; j++) {
            for (size_t t = a + 1; t < p; t++) b[a * c + j] -= g[a * p + t] * b[t * c + j];
            b[a * c + j] /= g[a * p + a];
            w[a * c + j] = (double)b[a * c + j];
        }
    free(g);
    free(b);
}

/* Rows whose Z is K: identity weights and activation hand it through unchanged. */
typedef struct setting {
    broad__pool *pool;
    broad__residual residual;
    broad__ridge ridge;
    double *weight, *bias;
    broad__nodes nodes;
} setting;

static void setting_open(setting *s, const broad__device *device, size_t threads, const double *k, size_t rows,
                         size_t p, const double *e, size_t c)
{
    memset(s, 0, sizeof *s);
    assert_ok(broad__pool_open(&s->pool, threads));
    assert_ok(broad__residual_open(&s->residual, device, s->pool, c));
    assert_ok(broad__residual_append(&s->residual, e, rows));
    s->residual.z.stored = k;
    s->residual.z.features = p;
    s->weight = calloc(p * p, sizeof(double));
    s->bias = calloc(p, sizeof(double));
    for (size_t i = 0; i < p; i++) s->weight[i * p + i] = 1;
    s->nodes = (broad__nodes){p, p, s->weight, s->bias, BROAD_ACTIVATION_IDENTITY, 0, NULL, NULL, {0}};
    assert_ok(broad__candidate_compute(&s->residual, &(broad__kblock){s->nodes, 0, 0}, 1));
}

static void setting_close(setting *s)
{
    broad__ridge_clear(&s->ridge);
    broad__residual_close(&s->residual);
    broad__pool_close(s->pool);
    free(s->weight);
    free(s->bias);
}

/* Solves one problem and returns the relative error of W, checking identity and norm on the way. */
static double solve_and_compare(size_t rows, size_t p, size_t c, double condition, problem_random *r, size_t *decided,
                                int *settled)
{
    double *k = problem_matrix(rows, p, condition, r), *e = problem_normals(rows * c, r), square = 0;
    double *expected = malloc(p * c * sizeof(double)), *truth = problem_normals(p * c, r);
    for (size_t i = 0; i < rows * p; i++) square += k[i] * k[i];
    for (size_t i = 0; i < rows * c; i++) e[i] *= 0.03; /* W is as sensitive to rounding as the residual is large */
    broad__device_reference()->apply(e, c, 1.0, k, p, rows, truth, c, p, c);
    /* The largest eigenvalue of K'K lies below its trace, so K'K + lambda I has a condition of at most 1e8, and reaches it
     * where K itself is near to singular. */
    double lambda = square * 1e-8 * pow(10, 4 * problem_uniform(r));
    extended_solution(expected, k, rows, p, e, c, lambda);
    setting s;
    setting_open(&s, broad__device_cpu(), 1, k, rows, p, e, c);
    broad__ridge_request wish = {.lambda = lambda};
    assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
    double estimate = s.ridge.estimate;
    *settled = s.ridge.settled;
    assert_ok(broad__ridge_finish(&s.ridge, &s.residual));
    double direct = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < c; j++) {
            double value = e[i * c + j];
            for (size_t a = 0; a < p; a++) value -= k[i * p + a] * expected[a * c + j];
            direct += value * value;
        }
    direct = sqrt(direct);
    if (!(relative_difference(s.ridge.norm, direct, 1e-6 * s.residual.norm) < 1e-7))
        fail_msg("%zu x %zu: norm %.15g, direct %.15g", rows, p, s.ridge.norm, direct);
    /* The identity subtracts numbers of the size of ||E||^2, so that is what its error is measured by. */
    double identity_error = fabs(estimate * estimate - direct * direct) / (s.residual.norm * s.residual.norm);
    if (!(identity_error < 1e-9)) fail_msg("%zu x %zu: the residual identity is off by %g", rows, p, identity_error);
    double error = relative_distance(s.ridge.w, expected, p * c);
    if (error > 1e-9 && rows * p * p < 10000000) {
        quad_solution(expected, k, rows, p, e, c, lambda);
        error = relative_distance(s.ridge.w, expected, p * c);
        (*decided)++;
    }
    setting_close(&s);
    free(k);
    free(e);
    free(expected);
    free(truth);
    return error;
}

/* A problem solved as if its rows lay far away, or here. *out: how far W is from what refinement by the rows makes of it; returns
 * whether no pass over the rows is wanted for that. */
static int settles(double *out, int is_far, const double *k, size_t rows, size_t p, const double *e, size_t c,
                   double lambda)
{
    setting s;
    setting_open(&s, broad__device_cpu(), 1, k, rows, p, e, c);
    broad__ridge_request wish = {.lambda = lambda};
    broad__memory memory = {0};
    broad__device far = *s.residual.at;
    const broad__device *here = s.residual.at;
    far.memory = &memory;
    double *first = malloc(p * c * sizeof *first);
    s.residual.at = is_far ? &far : here;
    assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
    s.residual.at = here;
    int settled = s.ridge.settled;
    memcpy(first, s.ridge.w, p * c * sizeof *first);
    s.ridge.settled = 0;
    assert_ok(broad__ridge_finish(&s.ridge, &s.residual));
    *out = relative_distance(first, s.ridge.w, p * c);
    free(first);
    setting_close(&s);
    return settled;
}

/* A pass over rows that lie far away is worth more rounding than one over those that are here; not any. */
static void rows_far_away_are_asked_less(void **state)
{
    (void)state;
    enum { ROWS = 300, P = 40, C = 3, PROBLEMS = 60 };
    problem_random r = {77};
    size_t both = 0, there_alone = 0, none = 0;
    double worst = 0;
    for (size_t i = 0; i < PROBLEMS; i++) {
        double *k = problem_matrix(ROWS, P, pow(10, 8 * (double)i / PROBLEMS), &r), *e = problem_normals(ROWS * C, &r);
        double off[2];
        int here = settles(&off[0], 0, k, ROWS, P, e, C, 1e-14), there = settles(&off[1], 1, k, ROWS, P, e, C, 1e-14);
        assert_true(there || !here);
        both += here && there, there_alone += there && !here, none += !there && !here;
        if (there) worst = fmax(worst, off[1]);
        free(k), free(e);
    }
    print_message("settled: %zu, %zu of rows far away alone, %zu not; W is off by %.2g at most\n", both, there_alone,
                  none, worst);
    assert_true(both > 5 && there_alone > 2 && none > 5);
    assert_true(worst < 1e-7);
}

static void weights_against_least_squares(void **state)
{
    (void)state;
    problem_random r = {2026};
    double worst = 0;
    size_t duals = 0, problems = 0, large = 0, decided = 0, by_sums = 0;
    for (size_t i = 0; i < 1200; i++) {
        int big = i % 50 == 0;
        size_t rows = problem_size(&r, 1, big ? 3000 : 150), p = problem_size(&r, 1, big ? 500 : 60);
        if (i == 0) rows = 3000, p = 500;
        if (i == 1) rows = 1, p = 500;
        if (i == 2) rows = 3000, p = 1;
        if (i == 3) rows = 1, p = 1;
        if (i == 100) rows = 300, p = 500;
        int settled = 0;
        double error = solve_and_compare(rows, p, 1 + i % 3, pow(10, 8 * problem_uniform(&r)), &r, &decided, &settled);
        by_sums += settled != 0;
        if (!(error <= 1e-9)) fail_msg("problem %zu, %zu x %zu: W is off by %g", i, rows, p, error);
        worst = fmax(worst, error);
        duals += rows < p;
        large += rows * p > 100000;
        problems++;
    }
    print_message(
        "%zu problems, %zu of them dual, %zu large, %zu settled by the sums: worst relative error of W %.2g\n",
        problems, duals, large, by_sums, worst);
    assert_true(by_sums > 20 && by_sums + duals < problems);
    /* Such doubt must stay the exception. */
    assert_true(decided <= 5);
    assert_true(problems >= 1000 && duals >= 200 && large >= 3);
}

/* The same weights from every device, any number of threads, and from both sides of the shard and tile limits. */
static void devices_and_threads_agree(void **state)
{
    (void)state;
    problem_random r = {7};
    static const size_t sizes[][2] = {{40, 7}, {7, 40}, {700, 30}, {1300, 530}, {300, 600}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t rows = sizes[i][0], p = sizes[i][1], c = 2;
        double *k = problem_matrix(rows, p, 10, &r), *e = problem_normals(rows * c, &r);
        double *first = malloc(p * c * sizeof(double));
        broad__ridge_request wish = {.lambda = 0.1};
        for (size_t threads = 1; threads <= 8; threads += threads == 3 ? 5 : 1) {
            setting s;
            setting_open(&s, broad__device_cpu(), threads, k, rows, p, e, c);
            assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
            assert_ok(broad__ridge_finish(&s.ridge, &s.residual));
            if (threads == 1) memcpy(first, s.ridge.w, p * c * sizeof(double));
            assert_memory_equal(first, s.ridge.w, p * c * sizeof(double));
            setting_close(&s);
        }
        setting s;
        setting_open(&s, broad__device_reference(), 2, k, rows, p, e, c);
        assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
        assert_ok(broad__ridge_finish(&s.ridge, &s.residual));
        assert_true(relative_distance(s.ridge.w, first, p * c) < 1e-10);
        setting_close(&s);
        free(k);
        free(e);
        free(first);
    }
}

/* Leave-one-out by refits: row i is predicted by a solution that never saw it. */
static double loo_by_refits(const double *k, size_t rows, size_t p, const double *e, size_t c, double lambda)
{
    double *k_less = malloc((rows - 1) * p * sizeof(double)), *e_less = malloc((rows - 1) * c * sizeof(double));
    double *w = malloc(p * c * sizeof(double)), sum = 0;
    for (size_t i = 0; i < rows; i++) {
        memcpy(k_less, k, i * p * sizeof(double));
        memcpy(k_less + i * p, k + (i + 1) * p, (rows - 1 - i) * p * sizeof(double));
        memcpy(e_less, e, i * c * sizeof(double));
        memcpy(e_less + i * c, e + (i + 1) * c, (rows - 1 - i) * c * sizeof(double));
        extended_solution(w, k_less, rows - 1, p, e_less, c, lambda);
        for (size_t j = 0; j < c; j++) {
            double value = e[i * c + j];
            for (size_t a = 0; a < p; a++) value -= k[i * p + a] * w[a * c + j];
            sum += value * value;
        }
    }
    free(k_less);
    free(e_less);
    free(w);
    return sqrt(sum);
}

static void leave_one_out_against_refits(void **state)
{
    (void)state;
    problem_random r = {11};
    double worst = 0;
    for (size_t i = 0; i < 150; i++) {
        size_t rows = problem_size(&r, 2, i % 10 ? 30 : 300), p = problem_size(&r, 1, 40), c = 1 + i % 2;
        double *k = problem_matrix(rows, p, 100, &r), *e = problem_normals(rows * c, &r);
        double lambda = pow(10, -3 + 4 * problem_uniform(&r)), expected = loo_by_refits(k, rows, p, e, c, lambda);
        setting s;
        setting_open(&s, broad__device_cpu(), 2, k, rows, p, e, c);
        broad__ridge_request wish = {.lambda = lambda, .loo = 1};
        assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
        double error = relative_difference(s.ridge.loo, expected, 0);
        if (!(error < 1e-9))
            fail_msg("%zu x %zu: leave-one-out norm %.15g, by refits %.15g", rows, p, s.ridge.loo, expected);
        worst = fmax(worst, error);
        /* It is never below the residual: so the loo test implies the residual test. */
        assert_true(s.ridge.loo >= s.ridge.estimate * (1 - 1e-9));
        setting_close(&s);
        free(k);
        free(e);
    }
    print_message("worst relative error of the leave-one-out norm %.2g\n", worst);
}

/* The lambda chosen is the best of its neighbours, measured with the fixed-lambda path. */
static void lambda_by_leave_one_out(void **state)
{
    (void)state;
    problem_random r = {13};
    for (size_t i = 0; i < 30; i++) {
        size_t rows = i % 2 ? 60 : 12, p = 25;
        double *k = problem_matrix(rows, p, 1000, &r), *e = problem_normals(rows, &r);
        setting s;
        setting_open(&s, broad__device_cpu(), 1, k, rows, p, e, 1);
        broad__ridge_request wish = {.lambda_auto = 1};
        assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
        double chosen = s.ridge.lambda, loo = s.ridge.loo;
        for (int step = -2; step <= 2; step++) {
            broad__ridge_request fixed = {.lambda = chosen * pow(10, 0.5 * step), .loo = 1};
            assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &fixed));
            if (step == 0) assert_true(relative_difference(s.ridge.loo, loo, 0) < 1e-10);
            /* Beyond the ends of the grid a better one may lie. */
            double mean = 0;
            for (size_t v = 0; v < s.ridge.spd.n; v++) mean += s.ridge.spd.values[v] / (double)s.ridge.spd.n;
            double place = log10(fixed.lambda / mean);
            if (place > -8.1 && place < 1.1) assert_true(s.ridge.loo >= loo * (1 - 1e-10));
        }
        setting_close(&s);
        free(k);
        free(e);
    }
}

/* ||I - K K+||_2: 1 for more rows than columns, else lambda / (s_min^2 + lambda), with s_min known by construction. */
static void operator_norm_of_known_matrices(void **state)
{
    (void)state;
    double k[6] = {3, 0, 0, 0, 0.5, 0}, e[2] = {1, 2}, tall_e[3] = {1, 2, 3};
    broad__ridge_request wish = {.lambda = 0.25, .operator_norm = 1};
    setting s;
    setting_open(&s, broad__device_cpu(), 1, k, 2, 3, e, 1);
    assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
    assert_true(fabs(s.ridge.operator_norm - 0.25 / (0.25 + 0.25)) < 1e-14);
    setting_close(&s);
    /* As many rows as columns: the columns reach everything. */
    double square[4] = {3, 0, 0, 0.5};
    setting_open(&s, broad__device_cpu(), 1, square, 2, 2, e, 1);
    assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
    assert_true(fabs(s.ridge.operator_norm - 0.25 / (0.25 + 0.25)) < 1e-14);
    setting_close(&s);
    setting_open(&s, broad__device_cpu(), 1, k, 3, 2, tall_e, 1);
    assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
    assert_true(s.ridge.operator_norm == 1);
    setting_close(&s);
}

/* Columns that repeat, vanish or explode: the solution stays finite and the norm does not grow. */
static void degenerate_matrices(void **state)
{
    (void)state;
    problem_random r = {17};
    for (size_t i = 0; i < 200; i++) {
        size_t rows = problem_size(&r, 1, 60), p = problem_size(&r, 1, 60);
        double *k = problem_matrix(rows, p, 1, &r), *e = problem_normals(rows, &r);
        double size = pow(10, 200 * problem_uniform(&r) - 100);
        for (size_t j = 0; j < rows * p; j++) k[j] *= size;
        for (size_t a = 0; a < p; a++)
            for (size_t row = 0; row < rows; row++) {
                if (i % 4 == 0) k[row * p + a] = k[row * p];
                if (i % 4 == 1 && a % 2) k[row * p + a] = 0;
                if (i % 4 == 2) k[row * p + a] *= pow(10, -(double)(a % 12));
            }
        setting s;
        setting_open(&s, broad__device_cpu(), 1, k, rows, p, e, 1);
        broad__ridge_request wish = {.lambda = i % 3 ? 1e-8 : 0, .loo = i % 5 == 0};
        assert_ok(broad__ridge_solve(&s.ridge, &s.residual, &wish));
        assert_ok(broad__ridge_finish(&s.ridge, &s.residual));
        for (size_t a = 0; a < p; a++) assert_true(isfinite(s.ridge.w[a]));
        assert_true(s.ridge.norm <= s.residual.norm);
        setting_close(&s);
        free(k);
        free(e);
    }
    double huge[4] = {1e200, 1e200, 1e200, 1e200}, e[2] = {1, 1};
    setting s;
    setting_open(&s, broad__device_cpu(), 1, huge, 2, 2, e, 1);
    broad__ridge_request wish = {.lambda = 1e-8};
    assert_fails(broad__ridge_solve(&s.ridge, &s.residual, &wish), BROAD_BAD_DATA, "overflow");
    setting_close(&s);
}

static void schedules(void **state)
{
    (void)state;
    broad_options o;
    broad_options_init(&o);
    o.supervise = BROAD_SUPERVISE_RESIDUAL;
    o.gamma_form = BROAD_GAMMA_HARMONIC;
    o.gamma[0] = 0.3;
    double product = 1;
    for (size_t m = 1; m <= 100000; m++) {
        broad__bound b = broad__schedule(&o, m, 0);
        assert_true(fabs(b.sum - (1 - 0.3 * (double)m / pow((double)m + 1, 2))) < 1e-14);
        product *= b.sum;
    }
    /* The product falls like m^-c: by 10^-0.3 for ten times the layers. */
    double more = product;
    for (size_t m = 100001; m <= 1000000; m++) more *= broad__schedule(&o, m, 0).sum;
    assert_true(fabs(more / product - pow(10, -0.3)) < 1e-4);
    o.gamma_form = BROAD_GAMMA_CONSTANT;
    o.gamma[0] = 0.9;
    assert_true(fabs(broad__schedule(&o, 3, 0).sum - (0.9 + 0.1 / 4)) < 1e-15);
    o.relax = 0.5;
    assert_true(fabs(broad__schedule(&o, 3, 2).gamma - 0.975) < 1e-15);
    o.gamma_form = BROAD_GAMMA_LIST;
    o.gamma_count = 2;
    o.gamma[0] = 0.1, o.gamma[1] = 0.2;
    assert_true(broad__schedule(&o, 1, 0).gamma == 0.1 && broad__schedule(&o, 9, 0).gamma == 0.2);
    o.supervise = BROAD_SUPERVISE_NONE;
    assert_true(broad__schedule(&o, 1, 0).sum == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_against_least_squares), cmocka_unit_test(rows_far_away_are_asked_less),
        cmocka_unit_test(devices_and_threads_agree),     cmocka_unit_test(leave_one_out_against_refits),
        cmocka_unit_test(lambda_by_leave_one_out),       cmocka_unit_test(operator_norm_of_known_matrices),
        cmocka_unit_test(degenerate_matrices),           cmocka_unit_test(schedules),
    };
    return cmocka_run_group_tests_name("ridge", tests, NULL, NULL);
}
