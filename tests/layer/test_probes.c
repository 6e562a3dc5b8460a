/* Probes and what a layer does to them: their columns by definition, from the sums, directly and with the next pass. */
#include "plain.h"

#include "base/memory.h"
#include "layer/ridge.h"
#include "layer/score.h"
#include "layer/supervise.h"

enum { OUTPUTS = 2 };
static const uint64_t SEED = 77;

/* ---- how many, and which ----------------------------------------------------------------------------------------- */

static void columns_by_the_standard_error(void **state)
{
    (void)state;
    for (size_t units = 1; units < 200000; units += 1 + units / 97) {
        int exact = 0;
        size_t columns = broad__probes_columns(&exact, units);
        assert_int_equal(exact, units <= 282);
        if (exact) assert_int_equal(columns, units);
        else assert_true(columns >= 2 && sqrt(2 / ((double)columns * (double)units)) <= 0.005 * (1 + 1e-12));
        /* One fewer would be too few. */
        if (!exact && columns > 2) assert_true(sqrt(2 / ((double)(columns - 1) * (double)units)) > 0.005);
    }
}

/* Rows that come in parts, which share no groups; some count nothing. */
typedef struct crowd {
    size_t rows, part[4], parts;
    size_t *group;
    uint64_t *key;
    double *root;
} crowd;

static crowd make_crowd(size_t rows, size_t groups, int zeros, size_t parts, problem_random *r)
{
    crowd c = {.rows = rows, .parts = parts};
    c.group = groups ? malloc(rows * sizeof *c.group) : NULL;
    c.root = zeros ? malloc(rows * sizeof *c.root) : NULL;
    c.key = malloc(rows * sizeof *c.key);
    for (size_t k = 0, i = 0; k < parts; k++) {
        c.part[k] = rows * (k + 1) / parts - rows * k / parts;
        for (size_t end = i + c.part[k]; i < end; i++) {
            c.key[i] = (uint64_t)(problem_uniform(r) * 0x1p63);
            if (groups) c.group[i] = (k + (size_t)(problem_uniform(r) * (double)groups)) * parts + k;
            if (zeros) c.root[i] = problem_uniform(r) < 0.2 ? 0 : 0.5 + problem_uniform(r);
        }
    }
    return c;
}

/* The first row of the unit that row i belongs to; SIZE_MAX: it counts nothing. */
static size_t head_of(const crowd *c, size_t row)
{
    if (c->root && !(c->root[row] > 0)) return SIZE_MAX;
    for (size_t i = 0; c->group && i < row; i++)
        if (c->group[i] == c->group[row] && (!c->root || c->root[i] > 0)) return i;
    return row;
}

/* A unit has its signs by the sum of the keys of its rows. */
static uint64_t key_of(const crowd *c, size_t head)
{
    uint64_t sum = 0;
    for (size_t i = head; i < c->rows; i++)
        if (i == head || head_of(c, i) == head) sum += c->key[i];
    return sum;
}

static double sign_at(uint64_t key, size_t column)
{
    broad__stream stream = {.seed = SEED, .purpose = BROAD__FOR_PROBES, .layer = (uint32_t)column};
    return broad__random_at(&stream, key) < 0.5 ? -1 : 1;
}

/* U and U_0 of rows without layers, whatever parts they came in. */
static void check_crowd(const crowd *c, size_t first_row)
{
    broad__probes probes = {.wanted = 1, .seed = SEED, .first_row = first_row};
    size_t rows = 0, units = 0, counted = 0;
    double weight = 0;
    for (size_t k = 0; k < c->parts; rows += c->part[k++]) {
        broad__probes more = {0};
        broad__probed_rows come = {c->group, c->key, c->root, rows, c->part[k]};
        assert_ok(broad__probes_arrive(&more, &probes, &come, rows, NULL));
        assert_ok(broad__probes_join(&probes, rows, &more, c->part[k], NULL));
        broad__probes_close(&more, NULL);
    }
    for (size_t i = 0; i < c->rows; i++) {
        size_t head = head_of(c, i), number = 0;
        double root = c->root ? c->root[i] : 1;
        counted += head != SIZE_MAX, units += head == i, weight += root * root;
        uint64_t key = head == SIZE_MAX ? 0 : key_of(c, head);
        for (size_t k = 0; head != SIZE_MAX && k < head; k++) number += head_of(c, k) == k;
        for (size_t j = 0; j < probes.count; j++) {
            double expected = head == SIZE_MAX ? 0 : probes.exact ? number == j : sign_at(key, j);
            assert_true(probes.u[i * 2 * probes.count + j] == root * expected);
            assert_true(probes.u[i * 2 * probes.count + probes.count + j] == root * expected);
        }
    }
    assert_int_equal(probes.rows, counted);
    assert_int_equal(probes.exact, units <= 282);
    /* Before any layer there are no degrees of freedom. */
    assert_true(relative_difference(probes.inner, weight * (double)(probes.exact ? 1 : probes.count), 0) < 1e-12);
    assert_true(broad__probes_df(&probes) < 1e-9);
    broad__probes_close(&probes, NULL);
}

static void rows_come_in_parts(void **state)
{
    (void)state;
    problem_random r = {3};
    for (size_t i = 0; i < 24; i++) {
        size_t rows = 40 + 35 * i, groups = i % 3 == 1 ? rows / 2 : i % 3 == 2 ? rows : 0;
        crowd c = make_crowd(rows, groups, i % 2 == 1, 1 + i % 4, &r);
        check_crowd(&c, 1000 * (i % 2));
        free(c.group), free(c.key), free(c.root);
    }
}

/* ---- through a layer --------------------------------------------------------------------------------------------- */

typedef struct bench {
    size_t rows, width;
    double *k, *e;
    broad__pool *pool;
    broad__residual residual;
} bench;

/* K: columns of Z. The probes are those of a chain: no longer U_0. */
static bench *bench_open(size_t rows, size_t width, size_t threads, problem_random *r)
{
    bench *b = calloc(1, sizeof *b);
    *b = (bench){.rows = rows, .width = width};
    b->k = problem_matrix(rows, 2 * width, 1e3, r);
    b->e = problem_normals(rows * OUTPUTS, r);
    assert_ok(broad__pool_open(&b->pool, threads));
    assert_ok(broad__residual_open(&b->residual, broad__device_cpu(), b->pool, OUTPUTS));
    assert_ok(broad__residual_append(&b->residual, b->e, rows));
    b->residual.z.stored = b->k, b->residual.z.features = 2 * width;
    broad__probes *probes = &b->residual.probes, more = {0};
    *probes = (broad__probes){.wanted = 1, .seed = SEED};
    uint64_t *key = malloc(rows * sizeof *key);
    for (size_t i = 0; i < rows; i++) key[i] = i;
    broad__probed_rows come = {NULL, key, NULL, 0, rows};
    assert_ok(broad__probes_arrive(&more, probes, &come, 0, NULL));
    free(key);
    assert_ok(broad__probes_join(probes, 0, &more, rows, NULL));
    broad__probes_close(&more, NULL);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < probes->count; j++) probes->u[i * 2 * probes->count + j] *= 1 - 0.3 * problem_uniform(r);
    probes->inner = broad__probes_inner(probes, 0, rows);
    return b;
}

static void bench_close(bench *b)
{
    broad__residual_close(&b->residual);
    broad__pool_close(b->pool);
    free(b->k), free(b->e), free(b);
}

static broad__kblock half_of(const bench *b, size_t which) { return (broad__kblock){{0}, which * b->width, b->width}; }

/* <U_0, U'> and the score of a lambda, in long double; out_w: width x columns, may be NULL. */
static double plain_score(double *out_inner, double *out_w, const bench *b, double lambda, double penalty)
{
    const broad__probes *probes = &b->residual.probes;
    size_t n = b->rows, p = b->width, c = probes->count;
    double *k = calloc(n * p, sizeof *k), *u = calloc(n * c, sizeof *u), *w = calloc(p * (c + OUTPUTS), sizeof *w);
    double *left = calloc(n * (c + OUTPUTS), sizeof *left), inner = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(k + i * p, b->k + i * 2 * p, p * sizeof *k);
        memcpy(u + i * c, probes->u + i * 2 * c, c * sizeof *u);
    }
    plain_ridge(w, k, u, n, p, c, lambda);
    plain_residual(left, k, w, u, n, p, c);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < c; j++) inner += left[i * c + j] * probes->u[i * 2 * c + c + j];
    if (out_w) memcpy(out_w, w, p * c * sizeof *w);
    plain_ridge(w, k, b->e, n, p, OUTPUTS, lambda);
    double norm = plain_residual(left, k, w, b->e, n, p, OUTPUTS);
    double df = (double)n - (probes->exact ? inner : inner / (double)c);
    *out_inner = inner;
    free(k), free(u), free(w), free(left);
    double rest = 1 - penalty * fmax(df, 0) / (double)n;
    return rest >= 1e-9 ? norm / rest : INFINITY;
}

static const size_t sizes[][2] = {{30, 5}, {30, 40}, {282, 12}, {300, 10}, {900, 9}, {60, 60}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void lambda_and_weights(void **state)
{
    (void)state;
    problem_random r = {5};
    for (size_t s = 0; s < SIZES; s++) {
        bench *b = bench_open(sizes[s][0], sizes[s][1], 1, &r);
        broad__kblock kblock = half_of(b, 0);
        broad__ridge ridge = {0};
        broad__ridge_request request = {.lambda_auto = 1, .penalty = 1.2};
        size_t count = b->width * b->residual.probes.count;
        double *w = malloc(count * sizeof *w), inner = 0, direct = 0, unit = 0, other = 0;
        assert_ok(broad__candidate_compute(&b->residual, &kblock, 1));
        assert_ok(broad__ridge_solve(&ridge, &b->residual, &request));
        assert_ok(broad__ridge_complete(&ridge, &b->residual));
        double score = plain_score(&inner, w, b, ridge.lambda, 1.2),
               scale = (double)(b->rows * b->residual.probes.count);
        assert_true(relative_distance(ridge.probe_w, w, count) < 1e-8);
        assert_true(fabs(ridge.inner - inner) < 1e-10 * scale);
        assert_ok(broad__probes_next(&direct, &b->residual, ridge.probe_w));
        assert_true(fabs(direct - inner) < 1e-10 * scale);
        assert_true(relative_difference(broad__score(&b->residual.probes, ridge.estimate, ridge.inner, 1.2), score, 0) <
                    1e-8);
        for (size_t i = 0; i < b->rows; i++)
            for (size_t j = 0; j < b->width; j++) unit += pow(b->k[i * 2 * b->width + j], 2);
        unit /= (double)(b->rows < b->width ? b->rows : b->width);
        for (int i = 0; i < 23; i += s == 2 ? 4 : 1)
            assert_true(score <= plain_score(&other, NULL, b, unit * pow(10, -8 + 0.5 * i), 1.2) * (1 + 1e-9));
        free(w);
        broad__ridge_clear(&ridge);
        bench_close(b);
    }
}

/* Now, with the next pass, and as a layer that is known: the same bits, for any number of threads. */
static void same_bits_however_it_is_done(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        double *kept = NULL, kept_inner = 0;
        for (size_t way = 0; way < 6; way++) {
            problem_random r = {9};
            bench *b = bench_open(sizes[s][0], sizes[s][1], 1 + way / 3, &r);
            broad__residual *residual = &b->residual;
            broad__kblock kblock = half_of(b, 1);
            broad__ridge ridge = {0};
            broad__ridge_request request = {.lambda = 0.5, .penalty = 1.4};
            size_t count = residual->probes.count;
            assert_ok(broad__candidate_compute(residual, &kblock, 1));
            assert_ok(broad__ridge_solve(&ridge, residual, &request));
            assert_ok(broad__ridge_complete(&ridge, residual));
            if (way % 3 == 0) {
                double inner = 0;
                assert_ok(broad__probes_next(&inner, residual, ridge.probe_w));
                broad__probes_commit(residual, inner);
            } else if (way % 3 == 1) {
                broad__residual_defer(residual, &kblock, ridge.w, residual->norm);
                broad__residual_defer_probes(residual, ridge.probe_w, ridge.inner);
                assert_ok(broad__residual_settle(residual));
            } else {
                assert_ok(broad__score_follow(residual, &kblock, ridge.w, 0.5));
            }
            if (!kept) {
                kept = malloc(b->rows * 2 * count * sizeof *kept);
                memcpy(kept, residual->probes.u, b->rows * 2 * count * sizeof *kept);
                kept_inner = residual->probes.inner;
            }
            assert_memory_equal(kept, residual->probes.u, b->rows * 2 * count * sizeof *kept);
            assert_true(kept_inner == residual->probes.inner);
            broad__ridge_clear(&ridge);
            bench_close(b);
        }
        free(kept);
    }
}

/* Candidates whose sums are made in one pass have those that they have alone. */
static void together_or_alone(void **state)
{
    (void)state;
    problem_random r = {13};
    bench *b = bench_open(2000, 6, 2, &r);
    broad__kblock kblocks[2] = {half_of(b, 0), half_of(b, 1)};
    broad__ridge ridge[2] = {{0}, {0}};
    broad__ridge_request request = {.lambda_auto = 1, .penalty = 1.4};
    size_t count = b->width * b->residual.probes.count;
    assert_true(broad__candidate_together(2000, 6, b->residual.probes.count) >= 2);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(broad__candidate_compute(&b->residual, &kblocks[i], 1));
        assert_ok(broad__ridge_solve(&ridge[0], &b->residual, &request));
        assert_ok(broad__ridge_complete(&ridge[0], &b->residual));
        assert_ok(broad__candidate_trials(&b->residual, kblocks, 2));
        broad__candidate_take(&b->residual, &kblocks[i], i);
        assert_ok(broad__ridge_solve(&ridge[1], &b->residual, &request));
        assert_ok(broad__ridge_complete(&ridge[1], &b->residual));
        assert_true(ridge[0].inner == ridge[1].inner && ridge[0].lambda == ridge[1].lambda);
        assert_memory_equal(ridge[0].probe_w, ridge[1].probe_w, count * sizeof(double));
    }
    broad__ridge_clear(&ridge[0]), broad__ridge_clear(&ridge[1]);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_by_the_standard_error),
        cmocka_unit_test(rows_come_in_parts),
        cmocka_unit_test(lambda_and_weights),
        cmocka_unit_test(same_bits_however_it_is_done),
        cmocka_unit_test(together_or_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
