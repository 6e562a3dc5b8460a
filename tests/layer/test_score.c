/*
 * The lambda of the smallest score, and what the candidate comes to with it, against plain loops in extended precision: the residual
 * and the probes themselves for every lambda of the grid.
 */
#include "problem.h"

#include "compute/device.h"
#include "layer/score.h"
#include "layer/score_lambda.h"

/* The grid as docs/mathematics.md has it. */
enum { GRID = 29 };

typedef struct trial {
    size_t rows, p, c, probes;
    double *k, *e, *u; /* u: rows x 2 probes */
    broad__residual residual;
} trial;

/* out (rows x c) = columns `from` to `from` + c of b less K (K'K + lambda I)^-1 K' of them. */
static void left_over(long double *out, const trial *t, const double *b, size_t stride, size_t from, size_t c,
                      double lambda)
{
    size_t p = t->p, wide = p + c;
    long double *a = calloc(p * wide, sizeof *a);
    for (size_t i = 0; i < p; i++) a[i * wide + i] = lambda;
    for (size_t r = 0; r < t->rows; r++)
        for (size_t i = 0; i < p; i++) {
            long double number = t->k[r * p + i];
            for (size_t j = 0; j < p; j++) a[i * wide + j] += number * t->k[r * p + j];
            for (size_t j = 0; j < c; j++) a[i * wide + p + j] += number * b[r * stride + from + j];
        }
    for (size_t i = 0; i < p; i++)
        for (size_t row = 0; row < p; row++) {
            if (row == i) continue;
            long double factor = a[row * wide + i] / a[i * wide + i];
            for (size_t j = i; j < wide; j++) a[row * wide + j] -= factor * a[i * wide + j];
        }
    for (size_t r = 0; r < t->rows; r++)
        for (size_t j = 0; j < c; j++) {
            out[r * c + j] = b[r * stride + from + j];
            for (size_t i = 0; i < p; i++) out[r * c + j] -= t->k[r * p + i] * a[i * wide + p + j] / a[i * wide + i];
        }
    free(a);
}

static broad__prospect slowly(const trial *t, double lambda, double penalty)
{
    size_t n = t->rows, c = t->c, k = t->probes;
    long double *e = calloc(n * c, sizeof *e), *u = calloc(n * k, sizeof *u), square = 0, inner = 0;
    left_over(e, t, t->e, c, 0, c, lambda);
    left_over(u, t, t->u, 2 * k, 0, k, lambda);
    for (size_t i = 0; i < n * c; i++) square += e[i] * e[i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) inner += u[i * k + j] * t->u[i * 2 * k + k + j];
    free(e), free(u);
    double norm = (double)sqrtl(square);
    return (broad__prospect){lambda, norm, (double)inner,
                             broad__score(&t->residual.probes, norm, (double)inner, penalty)};
}

/* The probes after some layers: U is no longer U_0. */
static void trial_open(trial *t, size_t rows, size_t p, size_t c, size_t probes, double noise, problem_random *r)
{
    const broad__device *plain = broad__device_reference();
    *t = (trial){.rows = rows, .p = p, .c = c, .probes = probes};
    t->k = problem_matrix(rows, p, 1e3, r);
    t->e = problem_normals(rows * c, r);
    t->u = problem_normals(rows * 2 * probes, r);
    double *truth = problem_normals(p * c, r);
    for (size_t i = 0; i < rows * c; i++) t->e[i] *= noise;
    plain->apply(t->e, c, 1.0, t->k, p, rows, truth, c, p, c);
    free(truth);
    broad__residual *x = &t->residual;
    *x = (broad__residual){.device = broad__device_cpu(), .rows = rows, .outputs = c, .e = t->e};
    x->probes = (broad__probes){.count = probes, .rows = rows, .u = t->u};
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < probes; j++) {
            double *u = t->u + i * 2 * probes, sign = u[probes + j] < 0 ? -1 : 1;
            u[probes + j] = sign;
            u[j] = sign * (0.9 + 0.01 * u[j]);
            x->probes.inner += sign * u[j];
        }
    for (size_t i = 0; i < rows * c; i++) x->norm += t->e[i] * t->e[i];
    x->norm = sqrt(x->norm);
    int dual = rows < p;
    size_t side = dual ? rows : p;
    x->candidate = (broad__candidate){.width = p, .dual = dual, .matrix = calloc(side * side, sizeof(double))};
    x->candidate.cross = calloc(p * c, sizeof(double));
    x->candidate.probes = calloc(p * 2 * probes, sizeof(double));
    if (dual) plain->outer(x->candidate.matrix, rows, t->k, p, rows, t->k, p, rows, p);
    else plain->gram(x->candidate.matrix, p, t->k, p, rows, p);
    plain->cross(x->candidate.cross, c, t->k, p, p, t->e, c, c, rows);
    plain->cross(x->candidate.probes, 2 * probes, t->k, p, p, t->u, 2 * probes, 2 * probes, rows);
}

static void trial_close(trial *t)
{
    free(t->k), free(t->e), free(t->u);
    free(t->residual.candidate.matrix), free(t->residual.candidate.cross), free(t->residual.candidate.probes);
}

/* Few columns beside the matrix, and many, as few rows have probes; more rows than columns, and fewer. */
static void best_of_the_grid(void **state)
{
    (void)state;
    static const struct {
        size_t rows, p, c, probes;
    } cases[] = {{60, 1, 1, 1},   {80, 2, 1, 1},  {90, 24, 2, 3}, {70, 12, 3, 20},
                 {120, 33, 1, 2}, {15, 30, 2, 3}, {40, 50, 2, 4}, {9, 20, 1, 12}};
    problem_random r = {31};
    int inside = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int noisy = 0; noisy < 3; noisy++) {
            trial t;
            broad__prospect found = {0}, best = {0};
            double mean = 0, penalty = noisy == 1 ? 1.4 : 1;
            trial_open(&t, cases[i].rows, cases[i].p, cases[i].c, cases[i].probes, pow(10, 1.5 * noisy - 1.5), &r);
            size_t side = t.rows < t.p ? t.rows : t.p;
            for (size_t j = 0; j < side; j++) mean += t.residual.candidate.matrix[j * side + j] / (double)side;
            for (int l = 0; l < GRID; l++) {
                broad__prospect one = slowly(&t, mean * pow(10, -11 + 0.5 * l), penalty);
                if (!l || one.score < best.score) best = one;
            }
            assert_ok(broad__score_lambda(&found, &t.residual, penalty));
            double power = 2 * (log10(found.lambda / mean) + 11);
            assert_true(fabs(power - round(power)) < 1e-9);
            /* Of lambda so small that they make no difference any may be the best. */
            assert_true(fabs(found.score / best.score - 1) < 1e-9);
            best = slowly(&t, found.lambda, penalty);
            assert_true(fabs(found.norm - best.norm) < 1e-9 * t.residual.norm);
            assert_true(fabs(found.inner - best.inner) < 1e-9 * t.residual.probes.inner);
            inside += found.lambda > 2e-11 * mean && found.lambda < 5e2 * mean;
            trial_close(&t);
        }
    assert_true(inside > 10);
}

/* Columns that are there twice leave pivots of rounding alone. */
static void columns_twice(void **state)
{
    (void)state;
    problem_random r = {32};
    for (size_t probes = 2; probes < 60; probes += 50) {
        trial t;
        broad__prospect found = {0};
        trial_open(&t, 200, 40, 2, probes, 1, &r);
        broad__candidate *candidate = &t.residual.candidate;
        for (size_t i = 0; i < t.rows; i++)
            for (size_t j = 0; j < 20; j++) t.k[i * 40 + 20 + j] = t.k[i * 40 + j];
        memset(candidate->matrix, 0, 40 * 40 * sizeof(double));
        memset(candidate->cross, 0, 40 * t.c * sizeof(double));
        memset(candidate->probes, 0, 40 * 2 * probes * sizeof(double));
        const broad__device *plain = broad__device_reference();
        plain->gram(candidate->matrix, 40, t.k, 40, t.rows, 40);
        plain->cross(candidate->cross, t.c, t.k, 40, 40, t.e, t.c, t.c, t.rows);
        plain->cross(candidate->probes, 2 * probes, t.k, 40, 40, t.u, 2 * probes, 2 * probes, t.rows);
        assert_ok(broad__score_lambda(&found, &t.residual, 1));
        broad__prospect slow = slowly(&t, found.lambda, 1);
        assert_true(fabs(found.score / slow.score - 1) < 1e-6);
        trial_close(&t);
    }
}

static void sums_that_overflow(void **state)
{
    (void)state;
    problem_random r = {33};
    trial t;
    broad__prospect found = {0};
    trial_open(&t, 30, 5, 1, 2, 1, &r);
    t.residual.candidate.matrix[7] = INFINITY;
    assert_fails(broad__score_lambda(&found, &t.residual, 1), BROAD_BAD_DATA, "overflow");
    trial_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_of_the_grid),
        cmocka_unit_test(columns_twice),
        cmocka_unit_test(sums_that_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
