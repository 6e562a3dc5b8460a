/* Groups of feature nodes put side by side by any number of threads, and Z of rows with many inputs, against plain loops. */
#include <unistd.h>

#include "problem.h"

#include "base/cache.h"
#include "base/memory.h"
#include "model/model_phi.h"

/* Nodes of the groups; inputs that are none, one and more than what is put side by side or scaled at a time, and a few less
 * and more than that. */
static const size_t groups[] = {7, 1, 10}, inputs[] = {1, 63, 65, 255, 256, 257, 511, 513, 1100};
enum { GROUPS = sizeof groups / sizeof groups[0], INPUTS = sizeof inputs / sizeof inputs[0] };

static double *drawn(size_t count, problem_random *r)
{
    double *numbers = broad__alloc_doubles(count, 1);
    for (size_t i = 0; i < count; i++) numbers[i] = problem_normal(r);
    return numbers;
}

static broad_model *model_of(size_t columns, problem_random *r)
{
    broad_model *model = broad__model_new();
    model->inputs = columns;
    model->settings.scale = BROAD_SCALE_STANDARD;
    model->settings.feature_activation = BROAD_ACTIVATION_IDENTITY;
    model->input_shift = drawn(columns, r);
    model->input_factor = drawn(columns, r);
    model->groups = broad__alloc_array(GROUPS, sizeof *model->groups);
    model->group_count = GROUPS;
    for (size_t g = 0; g < GROUPS; g++)
        model->groups[g] = (broad__group){.source = BROAD__WEIGHT_SOURCE_DRAWN,
                                          .nodes = groups[g],
                                          .weight = drawn(columns * groups[g], r),
                                          .bias = drawn(groups[g], r)};
    return model;
}

static void assert_joined(const broad__phi *phi, const broad_model *model, size_t first, size_t count)
{
    size_t at = 0, nodes = phi->nodes.nodes;
    for (size_t g = first; g < first + count; at += groups[g++]) {
        const broad__group *group = &model->groups[g];
        assert_memory_equal(phi->nodes.bias + at, group->bias, groups[g] * sizeof(double));
        for (size_t i = 0; i < model->inputs; i++)
            assert_memory_equal(phi->nodes.weight + i * nodes + at, group->weight + i * groups[g],
                                groups[g] * sizeof(double));
    }
    assert_int_equal(at, nodes);
}

static void joins(void **state)
{
    (void)state;
    problem_random r = {5};
    for (size_t n = 0; n < INPUTS; n++)
        for (size_t threads = 0; threads < 4; threads++) {
            broad__pool *pool = NULL;
            if (threads) assert_int_equal(broad__pool_open(&pool, threads), BROAD_OK);
            broad_model *model = model_of(inputs[n], &r);
            for (size_t first = 0; first < GROUPS; first++) {
                broad__phi phi;
                double *weights = NULL;
                size_t count = GROUPS - first;
                assert_int_equal(broad__model_phi(&phi, &weights, model, broad__device_reference(), pool, first, count),
                                 BROAD_OK);
                assert_joined(&phi, model, first, count);
                broad__free(weights);
            }
            broad_model_free(model);
            broad__pool_close(pool);
        }
}

/* One number of Z, and the size of what it was added up from. */
static double plain_z(double *out_size, const broad__phi *phi, const double *x, size_t node)
{
    long double sum = phi->nodes.bias[node], size = fabsl(sum);
    for (size_t i = 0; i < phi->scaling.columns; i++) {
        long double scaled = ((long double)x[i] - phi->scaling.shift[i]) * phi->scaling.factor[i];
        sum += scaled * phi->nodes.weight[i * phi->nodes.nodes + node];
        size += fabsl(scaled * phi->nodes.weight[i * phi->nodes.nodes + node]);
    }
    *out_size = (double)size;
    return (double)sum;
}

/* Each sum has 1100 products at most, each rounded once or twice by 2^-53. */
static void assert_z(const double *z, const broad__phi *phi, const double *x, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < phi->nodes.nodes; j++) {
            double size, expected = plain_z(&size, phi, x + i * phi->scaling.inputs, j);
            assert_true(fabs(z[i * phi->nodes.nodes + j] - expected) <= 2500 * 0x1p-53 * size);
        }
}

static void features_of_wide_rows(void **state)
{
    (void)state;
    problem_random r = {6};
    const broad__device *devices[] = {broad__device_reference(), broad__device_cpu()};
    broad__pool *pool;
    assert_int_equal(broad__pool_open(&pool, 2), BROAD_OK);
    for (size_t n = 0; n < 2 * INPUTS; n++) {
        size_t columns = inputs[n / 2], rows = n % 3 ? 9 * (n % 3) : 261;
        broad_model *model = model_of(columns, &r);
        for (size_t i = 0; n % 2 && i < columns; i++) model->input_shift[i] = 0, model->input_factor[i] = 1; /* plain */
        double *x = problem_normals(rows * columns, &r), *weights = NULL;
        for (size_t d = 0; d < 2; d++) {
            broad__phi phi;
            assert_int_equal(broad__model_phi(&phi, &weights, model, devices[d], pool, 0, GROUPS), BROAD_OK);
            double *z = calloc(rows * phi.nodes.nodes, sizeof *z);
            assert_int_equal(broad__phi_rows(z, phi.nodes.nodes, &phi, pool, x, rows), BROAD_OK);
            assert_z(z, &phi, x, rows);
            broad__free(weights), free(z);
        }
        free(x);
        broad_model_free(model);
    }
    broad__pool_close(pool);
}

/* Whatever the system says, blocks made from it have a size; and it says the same again. */
static void caches(void **state)
{
    (void)state;
    for (int level = 1; level <= 3; level++) {
        assert_true(broad__cache_bytes(level) >= 1024);
        assert_int_equal(broad__cache_bytes(level), broad__cache_bytes(level));
    }
    long told = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (told > 0) assert_int_equal(broad__cache_bytes(2), told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins), cmocka_unit_test(features_of_wide_rows),
                                       cmocka_unit_test(caches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
