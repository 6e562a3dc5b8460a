/* M, R and W of a joint fit that has several tiles and panels, against plain loops; and its bits for any number of threads. */
#include "plain.h"

#include <float.h>

#include "base/memory.h"
#include "base/watch.h"
#include "layer/cholesky.h"
#include "layer/joint.h"
#include "layer/joint_sums.h"
#include "layer/wide_sums.h"

enum { OUTPUTS = 3, FEATURES = 6, KBLOCKS = 2 };

/* Rows with two pieces of random nodes on a random Z. */
typedef struct network {
    size_t rows, widths[KBLOCKS];
    double *z, *y, *weight[KBLOCKS], *bias[KBLOCKS];
    broad__kblock kblocks[KBLOCKS];
    broad__pool *pool;
    broad__residual view;
    broad__joint joint;
} network;

static double *random_numbers(problem_random *r, size_t count, double size)
{
    double *numbers = malloc(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = size * problem_normal(r);
    return numbers;
}

static network *network_open(size_t rows, size_t first, size_t second, size_t threads)
{
    problem_random r = {rows + first + 1};
    network *n = calloc(1, sizeof *n);
    n->rows = rows;
    n->z = random_numbers(&r, rows * FEATURES, 1);
    n->y = random_numbers(&r, rows * OUTPUTS, 1);
    size_t nodes[KBLOCKS] = {first - FEATURES, second};
    for (size_t i = 0; i < KBLOCKS; i++) {
        n->weight[i] = random_numbers(&r, FEATURES * nodes[i], 0.8);
        n->bias[i] = random_numbers(&r, nodes[i], 1);
        n->kblocks[i] =
            (broad__kblock){{FEATURES, nodes[i], n->weight[i], n->bias[i], BROAD_ACTIVATION_TANH, 0, NULL, NULL, {0}},
                            0,
                            i ? 0 : FEATURES};
    }
    assert_ok(broad__pool_open(&n->pool, threads));
    assert_ok(broad__residual_open(&n->view, broad__device_cpu(), n->pool, OUTPUTS));
    n->view.device->hold();
    assert_ok(broad__residual_append(&n->view, n->y, rows));
    n->view.z.stored = n->z;
    n->view.z.features = FEATURES;
    broad__joint_clear(&n->joint);
    return n;
}

static void network_close(network *n)
{
    broad__joint_clear(&n->joint);
    n->view.device->release();
    broad__residual_close(&n->view);
    broad__pool_close(n->pool);
    for (size_t i = 0; i < KBLOCKS; i++) free(n->weight[i]), free(n->bias[i]);
    free(n->z), free(n->y), free(n);
}

static broad__joint_task task_of(network *n, size_t kblocks, double lambda)
{
    return (broad__joint_task){
        .residual = &n->view, .y = n->y, .kblocks = n->kblocks, .count = kblocks, .lambda = lambda};
}

/* A by its formula, rows x columns. */
static double *plain_a(const network *n, size_t columns)
{
    double *a = malloc(n->rows * columns * sizeof *a);
    for (size_t i = 0; i < n->rows; i++) memcpy(a + i * columns, n->z + i * FEATURES, FEATURES * sizeof *a);
    for (size_t p = 0, at = FEATURES; p < KBLOCKS && at < columns; at += n->kblocks[p++].nodes.nodes)
        plain_nodes(a, columns, at, n->z, n->rows, FEATURES, n->weight[p], n->bias[p], n->kblocks[p].nodes.nodes,
                    BROAD_ACTIVATION_TANH);
    return a;
}

static double m_at(const broad__joint *j, size_t i, size_t k)
{
    size_t n = j->dual ? j->rows : j->columns;
    return i == k ? j->diagonal[i] : i > k ? j->matrix[i * n + k] : j->matrix[k * n + i];
}

/* out (p x c) = a'b over the rows, by three loops. */
static void plain_cross(double *out, const double *a, size_t p, const double *b, size_t c, size_t rows)
{
    memset(out, 0, p * c * sizeof *out);
    for (size_t l = 0; l < rows; l++)
        for (size_t i = 0; i < p; i++)
            for (size_t k = 0; k < c; k++) out[i * c + k] += a[l * p + i] * b[l * c + k];
}

/* Every number of M and of A'Y. */
static void check_m(const network *n)
{
    const broad__joint *j = &n->joint;
    size_t p = j->columns, size = j->dual ? j->rows : p, deep = j->dual ? p : n->rows;
    double *a = plain_a(n, p), *m = malloc(size * size * sizeof *m), *cross = malloc(p * OUTPUTS * sizeof *cross),
           worst = 0;
    double *turned = malloc(n->rows * p * sizeof *turned);
    for (size_t i = 0; i < n->rows * p; i++) turned[i % p * n->rows + i / p] = a[i];
    plain_cross(m, j->dual ? turned : a, size, j->dual ? turned : a, size, deep);
    plain_cross(cross, a, p, n->y, OUTPUTS, n->rows);
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k <= i; k++) worst = fmax(worst, fabs(m[i * size + k] - m_at(j, i, k)));
    for (size_t i = 0; !j->dual && i < p * OUTPUTS; i++) worst = fmax(worst, fabs(cross[i] - j->cross[i]));
    free(a), free(m), free(cross), free(turned);
    print_message("%zu x %zu: worst error of M %.2g\n", n->rows, p, worst);
    assert_true(worst < 1e-13 * (double)deep);
}

/* R'R against M + lambda I, and W against the equations that it solves, with A by its formula. */
static void check_solution(const network *n)
{
    const broad__joint *j = &n->joint;
    size_t p = j->columns, size = j->dual ? j->rows : p;
    double worst = 0, *a = plain_a(n, p), *left = malloc(n->rows * OUTPUTS * sizeof *left);
    double *right = malloc(p * OUTPUTS * sizeof *right);
    assert_true(j->factored == j->lambda && !j->spectral);
    for (size_t i = 0; i < size; i += 17)
        for (size_t k = i % 13; k <= i; k += 13) {
            double sum = 0;
            for (size_t l = 0; l <= k; l++) sum += j->matrix[l * size + i] * j->matrix[l * size + k];
            worst = fmax(worst, fabs(sum - m_at(j, i, k) - (i == k) * j->lambda) / j->diagonal[i]);
        }
    assert_true(worst < 1e-11);
    double norm = plain_residual(left, a, j->w, n->y, n->rows, p, OUTPUTS), gradient = 0;
    plain_cross(right, a, p, left, OUTPUTS, n->rows);
    for (size_t i = 0; i < p * OUTPUTS; i++) gradient = fmax(gradient, fabs(right[i] - j->lambda * j->w[i]));
    print_message("  R'R %.2g, gradient %.2g, ||E|| %.17g and %.17g, %zu passes\n", worst, gradient, norm, j->norm,
                  j->passes);
    assert_true(gradient < 1e-9 * (double)n->rows && fabs(norm - j->norm) < 1e-10 * norm);
    free(a), free(left), free(right);
}

/* rows, columns of the first piece and of the second: shards; tiles of one side and of the next, in several panels; AA'
 * of tiles in one strip and in two. Fewer and smaller where every load is checked. */
static const size_t sizes[][3] = {
    {700, 60, 90},
#if HELPER_SANITIZED
    {2100, 270, 20},
    {300, 100, 300},
#else
    {2600, 300, 0}, {4200, 400, 131}, {1400, 1040, 37}, {1030, 700, 400}, {300, 100, 900},
#endif
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* As with many rows: in shards, and of M some rows after the other. Small M and AA' are the same in either case. */
static int as_with_many_rows(int many, const size_t *size)
{
    broad__wide_least_rows = many ? 512 : SIZE_MAX;
    broad__joint_band = many ? 1 << 16 : 1 << 22;
    return !many || (size[1] > 256 && size[0] >= 2 * (size[1] + size[2]));
}

static void sums_and_solution(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * SIZES; i++) {
        const size_t *size = sizes[i % SIZES];
        if (!as_with_many_rows(i >= SIZES, size)) continue;
        network *n = network_open(size[0], size[1], size[2], 2);
        broad__joint_task task = task_of(n, size[2] ? 2 : 1, 0.5);
        assert_ok(broad__joint_fit(&n->joint, &task));
        assert_int_equal(n->joint.dual, size[0] < size[1] + size[2]);
        check_m(n);
        check_solution(n);
        network_close(n);
    }
    as_with_many_rows(0, NULL);
}

/* First one piece, then the other: M and R get a border, and are as if both had been there. */
static void a_border(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * SIZES; k++) {
        size_t i = k % SIZES;
        if (!as_with_many_rows(k >= SIZES, sizes[i])) continue;
        if (!sizes[i][2] || sizes[i][0] < sizes[i][1] + sizes[i][2]) continue;
        network *n = network_open(sizes[i][0], sizes[i][1], sizes[i][2], 3);
        broad__joint_task task = task_of(n, 1, 0.5);
        assert_ok(broad__joint_fit(&n->joint, &task));
        task.count = 2;
        assert_ok(broad__joint_fit(&n->joint, &task));
        assert_int_equal(n->joint.factors, 1);
        assert_int_equal(n->joint.updates, 1);
        check_m(n);
        check_solution(n);
        network_close(n);
    }
    as_with_many_rows(0, NULL);
}

static void same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * SIZES; k++) {
        size_t i = k % SIZES;
        if (!as_with_many_rows(k >= SIZES, sizes[i])) continue;
        static const size_t threads[] = {1, 3, 8};
        network *one = NULL;
        for (size_t t = 0; t < (HELPER_SANITIZED ? 2 : 3); t++) {
            network *n = network_open(sizes[i][0], sizes[i][1], sizes[i][2], threads[t]);
            broad__joint_task task = task_of(n, 1, 1e-3);
            task.loo = 1;
            assert_ok(broad__joint_fit(&n->joint, &task));
            task.count = 2;
            task.lambda_auto = sizes[i][2] != 0;
            if (sizes[i][2]) assert_ok(broad__joint_fit(&n->joint, &task));
            const broad__joint *a = &n->joint;
            size_t size = a->dual ? a->rows : a->columns;
            if (one) {
                const broad__joint *b = &one->joint;
                assert_memory_equal(a->matrix, b->matrix, size * size * sizeof(double));
                assert_memory_equal(a->w, b->w, a->columns * OUTPUTS * sizeof(double));
                assert_memory_equal(a->loo_scores, b->loo_scores, a->sample_count * OUTPUTS * sizeof(double));
                assert_true(a->norm == b->norm && a->lambda == b->lambda && a->loo == b->loo);
                network_close(n);
            } else one = n;
        }
        network_close(one);
    }
    as_with_many_rows(0, NULL);
}

/* A well-conditioned fit needs one pass over the rows after R is there, an ill-conditioned one more; both are exact. */
static void passes_as_needed(void **state)
{
    (void)state;
    enum { FIRST = 40, SECOND = FIRST - FEATURES };
    network *n = network_open(1500, FIRST, SECOND, 2);
    /* Nodes nearly alike. */
    for (size_t i = 0; i < FEATURES * SECOND; i++) n->weight[1][i] = n->weight[0][i] + 1e-5 * n->weight[1][i];
    memcpy(n->bias[1], n->bias[0], SECOND * sizeof(double));
    static const double lambdas[] = {1e-8, 1e3};
    for (size_t l = 0; l < 2; l++) {
        broad__joint_clear(&n->joint);
        broad__joint_task task = task_of(n, 2, lambdas[l]);
        assert_ok(broad__joint_fit(&n->joint, &task));
        size_t p = n->joint.columns, step = n->rows / 10;
        double *a = malloc(n->rows * p * sizeof *a), *w = malloc(p * OUTPUTS * sizeof *w), apart = 0, whole = 0;
        for (size_t i = 0; i < n->rows; i += step) {
            broad__row_block block = broad__residual_block(&n->view, i, step, 0);
            broad__residual_columns(a + i * p, p, &n->view, n->kblocks, KBLOCKS, &block);
        }
        plain_ridge(w, a, n->y, n->rows, p, OUTPUTS, lambdas[l]);
        for (size_t i = 0; i < p * OUTPUTS; i++) {
            apart += (w[i] - n->joint.w[i]) * (w[i] - n->joint.w[i]);
            whole += w[i] * w[i];
        }
        print_message("lambda %g: %zu passes, error %.2g\n", lambdas[l], n->joint.passes, sqrt(apart / whole));
        assert_true(sqrt(apart / whole) < 1e-9);
        assert_true(l ? n->joint.passes == 1 : n->joint.passes > 1);
        free(a), free(w);
    }
    network_close(n);
}

/* ---- watching -------------------------------------------------------------------------------------------------- */

typedef struct watcher {
    size_t calls, stop_at;
} watcher;

static int on_progress(const broad_progress *progress, void *context)
{
    (void)progress;
    watcher *w = context;
    return ++w->calls == w->stop_at;
}

static void asked_to_stop(void **state)
{
    (void)state;
    size_t stops = 0;
    double interval = broad__watch_interval;
    broad__watch_interval = 0;
    for (size_t i = 0; i < 2; i++) /* At each of the first moments, then at ever fewer. */
        for (size_t stop_at = 1, stopped = 1; stopped; stop_at += stop_at < 4 ? 1 : stop_at) {
            network *n = network_open(i ? 300 : 1200, 270, i ? 200 : 30, 2);
            watcher w = {.stop_at = stop_at};
            broad__watch watch = {.progress = on_progress, .context = &w};
            broad__joint_task task = task_of(n, 2, 0.1);
            task.lambda_auto = task.loo = 1;
            broad__watch *before = broad__watch_enter(&watch);
            int status = broad__joint_fit(&n->joint, &task);
            broad__watch_leave(before);
            stopped = w.calls >= stop_at;
            assert_true(w.calls <= stop_at); /* it is not asked again */
            assert_int_equal(status, stopped ? BROAD_INTERRUPTED : BROAD_OK);
            assert_true(stopped ? n->joint.matrix == NULL : n->joint.w != NULL);
            stops += stopped;
            network_close(n);
        }
    broad__watch_interval = interval;
    print_message("stopped %zu times\n", stops);
    assert_true(stops >= 10);
}

/* ---- the factor ------------------------------------------------------------------------------------------------ */

/* Column k of the factor of a positive matrix that is not too far from diagonal; -1 where it is not positive at `bad`. */
static double entry(size_t i, size_t k, size_t bad)
{
    if (i == k) return i == bad ? -1 : 3 + (double)(i % 5);
    return sin((double)(i * k + i + k)) / (1 + fabs((double)i - (double)k));
}

static void factor_by_blocks(void **state)
{
    (void)state;
    static const size_t cases[][2] = {{1, 0},     {130, 0},   {400, 0},  {400, 130},
                                      {900, 128}, {900, 257}, {1100, 0}, {1100, 700}};
    broad__pool *pool = NULL;
    const broad__device *device = broad__device_cpu();
    assert_ok(broad__pool_open(&pool, 2));
    device->hold();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        size_t n = cases[c][0], done = cases[c][1], pivot = 0;
        double *a = malloc(n * n * sizeof *a), worst = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) a[i * n + k] = k < i ? NAN : entry(i, k, SIZE_MAX);
        broad__cholesky_task task = {.a = a, .n = n, .device = device, .pool = pool};
        if (done) { /* the corner first, by itself */
            double *corner = malloc(done * done * sizeof *corner);
            for (size_t i = 0; i < done * done; i++) corner[i] = entry(i / done, i % done, SIZE_MAX);
            task.a = corner, task.n = done;
            assert_ok(broad__cholesky(&pivot, &task));
            for (size_t i = 0; i < done; i++) memcpy(a + i * n + i, corner + i * done + i, (done - i) * sizeof *a);
            task.a = a, task.n = n, task.done = done;
            free(corner);
        }
        assert_ok(broad__cholesky(&pivot, &task));
        assert_int_equal(pivot, 0);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) {
                assert_true(k >= i || isnan(a[i * n + k]));
                if (k < i || (i * 31 + k) % 17) continue;
                double sum = 0;
                for (size_t l = 0; l <= i; l++) sum += a[l * n + i] * a[l * n + k];
                worst = fmax(worst, fabs(sum - entry(i, k, SIZE_MAX)));
            }
        assert_true(worst < 1e-12);
        free(a);
    }
    for (size_t bad = 0; bad < 500; bad += 83) {
        size_t n = 500, pivot = 0;
        double *a = malloc(n * n * sizeof *a);
        for (size_t i = 0; i < n * n; i++) a[i] = entry(i / n, i % n, bad);
        broad__cholesky_task task = {.a = a, .n = n, .device = device, .pool = pool};
        assert_ok(broad__cholesky(&pivot, &task));
        assert_int_equal(pivot, bad + 1);
        free(a);
    }
    device->release();
    broad__pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_solution),
        cmocka_unit_test(a_border),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(passes_as_needed),
        cmocka_unit_test(asked_to_stop),
        cmocka_unit_test(factor_by_blocks),
    };
    return cmocka_run_group_tests_name("joint sums", tests, NULL, NULL);
}
