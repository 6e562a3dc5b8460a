/* Every operation of every device against plain C; activations against long double; sums and threads. */
#include "problem.h"

#include "base/memory.h"
#include "compute/activation.h"
#include "compute/device.h"
#include "compute/pool.h"
#include "compute/shards.h"

static const broad__device *devices[2];

typedef struct shape {
    size_t rows, p, c, pad;
} shape;

static const shape shapes[] = {{1, 1, 1, 0},    {1, 9, 3, 2},     {7, 5, 2, 0},
                               {33, 17, 10, 3}, {256, 100, 2, 0}, {255, 130, 7, 5}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static int close_enough(const double *a, const double *b, size_t count, double scale)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-13 * scale)) return 0;
    return 1;
}

static void rows_operations(void **state)
{
    (void)state;
    problem_random r = {3};
    for (size_t s = 0; s < SHAPES; s++) {
        size_t n = shapes[s].rows, p = shapes[s].p, c = shapes[s].c, pad = shapes[s].pad;
        double *k = problem_normals(n * (p + pad), &r), *e = problem_normals(n * (c + pad), &r);
        double *w = problem_normals((p + 1) * (c + pad), &r);
        for (int choice = 0; choice < 2 * (BROAD_ACTIVATION_IDENTITY + 1); choice++) {
            int activation = choice / 2, single = choice % 2;
            double *out[2];
            /* weight p x c without padding: its own block */
            double *weight = problem_normals(p * c, &r), *bias = problem_normals(c, &r);
            broad__nodes nodes = {p, c, weight, bias, (broad_activation)activation, single, NULL, NULL, {0}};
            for (int d = 0; d < 2; d++) {
                out[d] = calloc(n * (c + pad), sizeof(double));
                devices[d]->nodes(out[d], c + pad, &nodes, k, p + pad, n);
            }
            assert_true(close_enough(out[0], out[1], n * (c + pad), single ? 1e9 : 100));
            free(out[0]), free(out[1]), free(weight), free(bias);
        }
        double *gram[2], *cross[2], *apply[2], *outer[2], *scaled[2], sums[2][2] = {{1, 2}, {1, 2}};
        for (int d = 0; d < 2; d++) {
            scaled[d] = calloc(n * (p + pad), sizeof(double));
            devices[d]->copy(scaled[d], p + pad, k, p + pad, n, p);
            devices[d]->scale(scaled[d], p + pad, n, p, e);
            devices[d]->squares(&sums[d][0], k, n * (p + pad));
            devices[d]->inner(&sums[d][1], k, p + pad, scaled[d], p + pad, n, p);
            gram[d] = calloc((p + pad) * p, sizeof(double));
            cross[d] = calloc((c + pad) * p, sizeof(double));
            apply[d] = calloc((c + pad) * n, sizeof(double));
            outer[d] = calloc((n + pad) * n, sizeof(double));
            for (int twice = 0; twice < 2; twice++) { /* they add to what is there */
                devices[d]->gram(gram[d], p + pad, k, p + pad, n, p);
                devices[d]->cross(cross[d], c + pad, k, p + pad, p, e, c + pad, c, n);
                devices[d]->apply(apply[d], c + pad, -1.0, k, p + pad, n, w, c + pad, p, c);
                devices[d]->outer(outer[d], n + pad, k, p + pad, n, k, p + pad, n, p);
            }
        }
        double scale = 100.0 * (double)(n + p);
        assert_true(close_enough(gram[0], gram[1], (p + pad) * p, scale));
        assert_true(close_enough(cross[0], cross[1], (c + pad) * p, scale));
        assert_true(close_enough(apply[0], apply[1], (c + pad) * n, scale));
        assert_true(close_enough(outer[0], outer[1], (n + pad) * n, scale));
        assert_true(close_enough(scaled[0], scaled[1], n * (p + pad), 1));
        assert_true(close_enough(sums[0], sums[1], 2, 100 * scale * (double)p));
        assert_true(scaled[1][p - 1] == k[p - 1] * e[0] && sums[1][0] > 1 && sums[1][1] != 2);
        free(scaled[0]), free(scaled[1]);
        /* One entry by hand, so that the reference is not its own judge. */
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += k[i * (p + pad)] * k[i * (p + pad) + p - 1];
        assert_true(fabs(gram[1][p - 1] - 2 * sum) <= 1e-12 * scale);
        for (int d = 0; d < 2; d++) free(gram[d]), free(cross[d]), free(apply[d]), free(outer[d]);
        free(k), free(e), free(w);
    }
}

/* Factor and solution: A x = b by multiplying back; a matrix that is not positive definite is found out. */
static void factor_and_solve(void **state)
{
    (void)state;
    problem_random r = {5};
    for (size_t n = 1; n <= 120; n += n < 10 ? 1 : 37)
        for (int d = 0; d < 2; d++) {
            double *k = problem_normals(2 * n * n, &r), *a = calloc(n * n, sizeof(double)),
                   *x = problem_normals(3 * n, &r);
            double *b = calloc(3 * n, sizeof(double));
            devices[1]->gram(a, n, k, n, 2 * n, n);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    for (size_t c = 0; c < 3; c++)
                        b[i * 3 + c] += (i <= j ? a[i * n + j] : a[j * n + i]) * x[j * 3 + c];
            double *indefinite = malloc(n * n * sizeof(double));
            memcpy(indefinite, a, n * n * sizeof(double));
            indefinite[(n / 2) * n + n / 2] = -1;
            assert_int_equal(devices[d]->factor(a, n), 0);
            devices[d]->solve(b, 3, a, n);
            assert_true(relative_distance(b, x, 3 * n) < 1e-9);
            assert_int_equal(devices[d]->factor(indefinite, n), n / 2 + 1);
            free(k), free(a), free(x), free(b), free(indefinite);
        }
}

/* Rows times R^-1, and R after further rows: by multiplying back. */
static void whiten_and_update(void **state)
{
    (void)state;
    problem_random random = {15};
    for (size_t n = 1; n <= 130; n += n < 6 ? 1 : 31)
        for (size_t k = 1; k <= 80; k = k * 3 + 1)
            for (int d = 0; d < 2; d++) {
                size_t stride = n + 3;
                double *rows = problem_normals(2 * n * n, &random), *more = problem_normals(k * n, &random);
                double *r = calloc(n * n, sizeof(double)), *used = malloc(k * n * sizeof(double)),
                       *white = calloc(k * stride, sizeof(double)), *gram = calloc(n * n, sizeof(double));
                devices[1]->gram(r, n, rows, n, 2 * n, n);
                devices[1]->gram(gram, n, rows, n, 2 * n, n);
                devices[1]->gram(gram, n, more, n, k, n);
                assert_int_equal(devices[1]->factor(r, n), 0);
                for (size_t i = 0; i < k; i++) memcpy(white + i * stride, more + i * n, n * sizeof(double));
                devices[d]->whiten(white, stride, k, r, n, n);
                for (size_t i = 0; i < k; i++)
                    for (size_t j = 0; j < n; j++) {
                        double sum = 0;
                        for (size_t l = 0; l <= j; l++) sum += white[i * stride + l] * r[l * n + j];
                        assert_true(fabs(sum - more[i * n + j]) < 1e-9);
                    }
                double *inverse = malloc(n * n * sizeof(double));
                memcpy(inverse, r, n * n * sizeof(double));
                devices[d]->invert(inverse, n);
                for (size_t i = 0; i < n; i++)
                    for (size_t j = i; j < n; j++) {
                        double sum = 0;
                        for (size_t l = i; l <= j; l++) sum += inverse[i * n + l] * r[l * n + j];
                        assert_true(fabs(sum - (i == j)) < 1e-9);
                    }
                free(inverse);
                memcpy(used, more, k * n * sizeof(double));
                assert_ok(devices[d]->update(r, n, used, k));
                for (size_t i = 0; i < n; i++) {
                    assert_true(r[i * n + i] > 0);
                    for (size_t j = i; j < n; j++) {
                        double sum = 0;
                        for (size_t l = 0; l <= i; l++) sum += r[l * n + i] * r[l * n + j];
                        assert_true(fabs(sum - gram[i * n + j]) < 1e-12 * (1 + 100 * (double)(2 * n + k)));
                    }
                }
                free(rows), free(more), free(r), free(used), free(white), free(gram);
            }
}

/* V is orthogonal, V A V' is diagonal and rising. */
static void eigendecomposition(void **state)
{
    (void)state;
    problem_random r = {6};
    for (size_t n = 1; n <= 60; n += n < 8 ? 1 : 26)
        for (int d = 0; d < 2; d++) {
            double *k = problem_normals(2 * n * n, &r), *a = calloc(n * n, sizeof(double)),
                   *v = malloc(n * n * sizeof(double));
            double *values = malloc(n * sizeof(double));
            devices[1]->gram(a, n, k, n, 2 * n, n);
            memcpy(v, a, n * n * sizeof(double));
            assert_ok(devices[d]->eigen(v, values, n));
            for (size_t i = 0; i < n; i++) {
                if (i) assert_true(values[i] >= values[i - 1]);
                for (size_t j = 0; j < n; j++) {
                    double product = 0, form = 0;
                    for (size_t x = 0; x < n; x++) {
                        product += v[i * n + x] * v[j * n + x];
                        for (size_t y = 0; y < n; y++)
                            form += v[i * n + x] * (x <= y ? a[x * n + y] : a[y * n + x]) * v[j * n + y];
                    }
                    assert_true(fabs(product - (i == j)) < 1e-12);
                    assert_true(fabs(form - (i == j ? values[i] : 0)) < 1e-11 * values[n - 1]);
                }
            }
            free(k), free(a), free(v), free(values);
        }
}

/* Of both devices: <w, Tw> = <b, Ab> and <w, w> = <b, b> for w = Q'b. */
static void tridiagonal_form(void **state)
{
    (void)state;
    problem_random r = {7};
    for (size_t n = 1; n <= 60; n += n < 8 ? 1 : 26)
        for (int d = 0; d < 2; d++) {
            double *k = problem_normals(2 * n * n, &r), *a = calloc(n * n, sizeof(double)), *b = problem_normals(n, &r);
            double *w = malloc(n * sizeof(double)), *t = malloc(2 * n * sizeof(double)), sums[4] = {0};
            devices[1]->gram(a, n, k, n, 2 * n, n);
            memcpy(w, b, n * sizeof(double));
            for (size_t i = 0; i < n; i++)
                for (size_t j = i; j < n; j++) sums[0] += (i == j ? 1 : 2) * b[i] * a[i * n + j] * b[j];
            assert_ok(devices[d]->tridiagonal(t, t + n, a, n, w, 1));
            for (size_t i = 0; i < n; i++) {
                sums[1] += t[i] * w[i] * w[i] + (i ? 2 * t[n + i - 1] * w[i] * w[i - 1] : 0);
                sums[2] += b[i] * b[i], sums[3] += w[i] * w[i];
            }
            assert_true(fabs(sums[0] - sums[1]) < 1e-11 * sums[0]);
            assert_true(fabs(sums[2] - sums[3]) < 1e-12 * sums[2]);
            free(k), free(a), free(b), free(w), free(t);
        }
}

static long double exact(broad_activation activation, long double x)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: return 1 / (1 + expl(-x));
    case BROAD_ACTIVATION_TANH: return tanhl(x);
    case BROAD_ACTIVATION_RELU: return x > 0 ? x : 0;
    case BROAD_ACTIVATION_SINE: return sinl(x);
    case BROAD_ACTIVATION_GAUSSIAN: return expl(-x * x);
    case BROAD_ACTIVATION_IDENTITY: break;
    }
    return x;
}

/* Relative to the value itself where that is what is promised, over sixteen decades of the argument. */
static void activations_against_long_double(void **state)
{
    (void)state;
    problem_random r = {8};
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_IDENTITY; activation++) {
        double worst = 0;
        for (int decade = -10; decade <= 6; decade++)
            for (int repeat = 0; repeat < 4; repeat++) {
                double x[1001], y[1001];
                for (int i = 0; i < 1001; i++) x[i] = y[i] = (2 * problem_uniform(&r) - 1) * pow(10, decade);
                broad__activate((broad_activation)activation, y, 1001);
                for (int i = 0; i < 1001; i++) {
                    long double value = exact((broad_activation)activation, x[i]);
                    long double scale = activation == BROAD_ACTIVATION_GAUSSIAN ? 1 : fabsl(value);
                    if (scale < 1e-290L) scale = 1e-290L;
                    double error = (double)(fabsl(y[i] - value) / scale);
                    worst = fmax(worst, error);
                    assert_true(isfinite(y[i]));
                }
            }
        print_message("activation %d: worst error %.2g\n", activation, worst);
        assert_true(worst <= 2 * 2.3e-16);
    }
    double ends[] = {-1e308, -750, -0.0, 0, 750, 1e308};
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_GAUSSIAN; activation++) {
        double y[6];
        memcpy(y, ends, sizeof y);
        broad__activate((broad_activation)activation, y, 6);
        for (int i = 0; i < 6; i++)
            assert_true(fabs(y[i] - (double)exact((broad_activation)activation, ends[i])) <=
                        1e-300 + 4e-16 * fabs(y[i]));
    }
}

/* In single precision, over what its range allows. */
static void single_activations_against_long_double(void **state)
{
    (void)state;
    problem_random r = {10};
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_IDENTITY; activation++) {
        double worst = 0;
        for (int decade = -10; decade <= 6; decade++)
            for (int repeat = 0; repeat < 8; repeat++) {
                float x[1001], y[1001];
                for (int i = 0; i < 1001; i++) x[i] = y[i] = (float)((2 * problem_uniform(&r) - 1) * pow(10, decade));
                broad__activate_single((broad_activation)activation, y, 1001);
                for (int i = 0; i < 1001; i++) {
                    long double value = exact((broad_activation)activation, x[i]);
                    long double scale = activation == BROAD_ACTIVATION_GAUSSIAN ? 1 : fabsl(value);
                    if (scale < 1e-30L) scale = 1e-30L;
                    worst = fmax(worst, (double)(fabsl(y[i] - value) / scale));
                    assert_true(isfinite(y[i]));
                }
            }
        print_message("activation %d in single precision: worst error %.2g\n", activation, worst);
        assert_true(worst <= 2 * 1.2e-7);
    }
    float ends[] = {-3e38F, -90, -0.0F, 0, 90, 3e38F};
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_GAUSSIAN; activation++) {
        float y[6];
        memcpy(y, ends, sizeof y);
        broad__activate_single((broad_activation)activation, y, 6);
        for (int i = 0; i < 6; i++)
            assert_true(fabs(y[i] - (double)exact((broad_activation)activation, ends[i])) <=
                        1e-30 + 2e-7 * fabs((double)y[i]));
    }
}

/* What is odd stays odd to the last bit, tanh keeps the sign of zero, what is no number stays so, and infinity has its limit. */
static void activations_at_the_edges(void **state)
{
    (void)state;
    static const double x[] = {0, 5e-324, 1e-310, 0.17328679513998632, 0.5, 1, 19.061547465398498, 1e5, 1e7, 1e300};
    enum { COUNT = sizeof x / sizeof x[0] };
    static const broad_activation odd[] = {BROAD_ACTIVATION_TANH, BROAD_ACTIVATION_SINE};
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < COUNT; i++) {
            double up = x[i], down = -x[i];
            broad__activate(odd[a], &up, 1);
            broad__activate(odd[a], &down, 1);
            assert_true(up == -down && (odd[a] == BROAD_ACTIVATION_SINE || !signbit(up) == !!signbit(down)));
            float up_single = (float)fmin(x[i], 1e30), down_single = -up_single;
            broad__activate_single(odd[a], &up_single, 1);
            broad__activate_single(odd[a], &down_single, 1);
            assert_true(up_single == -down_single);
            if (x[i] < 1e-300) assert_true(up == x[i]);
        }
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_GAUSSIAN; activation++) {
        double y[3] = {NAN, INFINITY, -INFINITY};
        float z[3] = {NAN, INFINITY, -INFINITY};
        broad__activate((broad_activation)activation, y, 3);
        broad__activate_single((broad_activation)activation, z, 3);
        assert_true(activation == BROAD_ACTIVATION_RELU ? y[0] == 0 && z[0] == 0 : isnan(y[0]) && isnan(z[0]));
        if (activation == BROAD_ACTIVATION_SINE) continue;
        double high = activation == BROAD_ACTIVATION_RELU ? INFINITY : activation == BROAD_ACTIVATION_GAUSSIAN ? 0 : 1;
        double low = activation == BROAD_ACTIVATION_TANH ? -1 : 0;
        assert_true(y[1] == high && (double)z[1] == high);
        assert_true(fabs(y[2] - low) < 1e-300 && fabs((double)z[2] - low) < 1e-30);
    }
}

/* sin of what is far beyond the quick reduction, to 60 digits and rounded: 1e22 and the double that comes closest to a
 * multiple of pi/2, 6381956970095103 * 2^797. */
static void sine_of_huge_arguments(void **state)
{
    (void)state;
    double x[] = {1e22, 0x1.6ac5b262ca1ffp+849}, expected[] = {-0.85220084976718880, 1};
    broad__activate(BROAD_ACTIVATION_SINE, x, 2);
    for (int i = 0; i < 2; i++) assert_true(fabs(x[i] - expected[i]) <= 2.3e-16);
    problem_random r = {11};
    for (int i = 0; i < 20000; i++) {
        double value = ldexp(1 + problem_uniform(&r), 19 + i % 1004), y = value;
        broad__activate(BROAD_ACTIVATION_SINE, &y, 1);
        assert_true(fabsl(y - sinl(value)) <= 3e-16L * fabsl(sinl(value)) || value > 0x1p60);
        assert_true(fabs(y - sin(value)) <= 4.5e-16 * fabs(y));
    }
}

/* A value does not depend on where in an array it stands. */
static void activations_do_not_depend_on_place(void **state)
{
    (void)state;
    problem_random r = {9};
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_IDENTITY; activation++)
        for (size_t count = 1; count <= 67; count++) {
            double x[67], all[67], one;
            float all_single[67], one_single;
            for (size_t i = 0; i < count; i++) all_single[i] = (float)(x[i] = all[i] = 6 * problem_normal(&r));
            if (count % 5 == 0) x[1] = all[1] = 2e6, all_single[1] = 2e6F;
            broad__activate((broad_activation)activation, all, count);
            broad__activate_single((broad_activation)activation, all_single, count);
            for (size_t i = 0; i < count; i++) {
                one = x[i], one_single = (float)x[i];
                broad__activate((broad_activation)activation, &one, 1);
                broad__activate_single((broad_activation)activation, &one_single, 1);
                assert_memory_equal(&one, &all[i], sizeof one);
                assert_memory_equal(&one_single, &all_single[i], sizeof one_single);
            }
        }
}

/* A node in single precision is one chain of fused steps; every device gives its bits, whatever rows it comes with. */
static void nodes_in_single_precision(void **state)
{
    (void)state;
    problem_random r = {12};
    for (size_t s = 0; s < SHAPES; s++) {
        size_t n = shapes[s].rows, p = shapes[s].p, c = shapes[s].c, pad = shapes[s].pad;
        double *x = problem_normals(n * (p + pad), &r), *weight = problem_normals(p * c, &r);
        double *bias = problem_normals(c, &r), *out = calloc(n * (c + pad), sizeof(double));
        for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_IDENTITY; activation++)
            for (int d = 0; d < 2; d++) {
                broad__nodes nodes = {p, c, weight, bias, (broad_activation)activation, 1, NULL, NULL, {0}};
                devices[d]->nodes(out, c + pad, &nodes, x, p + pad, n);
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j < c; j++) {
                        float sum = (float)bias[j];
                        for (size_t k = 0; k < p; k++)
                            sum = fmaf((float)x[i * (p + pad) + k], (float)weight[k * c + j], sum);
                        broad__activate_single((broad_activation)activation, &sum, 1);
                        assert_true(out[i * (c + pad) + j] == (double)sum);
                    }
                double *row = calloc(c, sizeof(double));
                devices[d]->nodes(row, c, &nodes, x + (n - 1) * (p + pad), p + pad, 1);
                assert_memory_equal(row, out + (n - 1) * (c + pad), c * sizeof(double));
                free(row);
            }
        free(x), free(weight), free(bias), free(out);
    }
}

static void shards_cover_the_rows(void **state)
{
    (void)state;
    for (size_t rows = 1; rows < 40000; rows = rows * 5 / 4 + 1) {
        size_t at = 0, shards = broad__shard_count(rows);
        assert_true(shards >= 1 && shards <= BROAD__SHARDS_MAX);
        for (size_t s = 0; s < shards; s++) {
            size_t first, end;
            broad__shard_rows(&first, &end, s, rows);
            assert_int_equal(first, at);
            assert_true(end > first && (end % BROAD__BLOCK_ROWS == 0 || end == rows));
            at = end;
        }
        assert_int_equal(at, rows);
    }
    double parts[5][3];
    for (int count = 1; count <= 5; count++) {
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 3; j++) parts[i][j] = j < 2 ? i + 1 : -1;
        broad__tree_sum(&parts[0][0], (size_t)count, 3, 2);
        assert_true(parts[0][0] == count * (count + 1) / 2.0 && parts[0][2] == -1);
    }
}

static void mark(void *context, size_t index, size_t worker)
{
    int *marks = context;
    assert_true(worker < 300);
    __atomic_fetch_add(&marks[index], 1, __ATOMIC_RELAXED);
}

/* At most one piece in each stretch but the last. */
static size_t uneven(void *context, size_t i, size_t stretches)
{
    (void)context;
    (void)stretches;
    return i / 2;
}

static void run_either(broad__pool *pool, size_t count, int *marks, int how)
{
    if (how % 3 == 0) broad__pool_run(pool, count, mark, marks);
    else broad__pool_run_stretches(pool, count, mark, marks, how % 3 == 1 ? NULL : uneven);
}

static void every_piece_once(void **state)
{
    (void)state;
    for (size_t threads = 1; threads <= 9; threads += 4) {
        broad__pool *pool;
        assert_ok(broad__pool_open(&pool, threads));
        assert_int_equal(broad__pool_threads(pool), threads);
        for (size_t count = 0; count < 200; count += 13)
            for (int repeat = 0; repeat < 20; repeat++) {
                int marks[200] = {0};
                run_either(pool, count, marks, repeat);
                for (size_t i = 0; i < 200; i++) assert_int_equal(marks[i], i < count);
            }
        broad__pool_close(pool);
    }
}

static void machine(void **state)
{
    (void)state;
    broad_machine m = {.size = sizeof m};
    assert_ok(broad_machine_inspect(&m, 1));
    assert_true(m.processors >= 1 && m.self_test == 1);
}

int main(void)
{
    devices[0] = broad__device_cpu();
    devices[1] = broad__device_reference();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_operations),
        cmocka_unit_test(factor_and_solve),
        cmocka_unit_test(whiten_and_update),
        cmocka_unit_test(eigendecomposition),
        cmocka_unit_test(tridiagonal_form),
        cmocka_unit_test(activations_against_long_double),
        cmocka_unit_test(single_activations_against_long_double),
        cmocka_unit_test(activations_at_the_edges),
        cmocka_unit_test(sine_of_huge_arguments),
        cmocka_unit_test(nodes_in_single_precision),
        cmocka_unit_test(activations_do_not_depend_on_place),
        cmocka_unit_test(shards_cover_the_rows),
        cmocka_unit_test(every_piece_once),
        cmocka_unit_test(machine),
    };
    return cmocka_run_group_tests_name("compute", tests, NULL, NULL);
}
