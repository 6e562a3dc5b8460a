/* How many nodes preset auto gives a network, and what a kind means there. */
#include "plain.h"

#include "model/train/train.h"
#include "model/train/train_open.h"

enum { ROWS = 450, INPUTS = 2, FRESH = 40 };

/* Targets that a plane fits, with noise; or rings that take many nodes. */
static double target(const double *x, int rings, problem_random *r)
{
    double noise = problem_normal(r);
    return rings ? sin(25 * hypot(x[0], x[1])) : x[0] - 2 * x[1] + noise;
}

static broad_data *table(double *x, double *y, size_t rows, int rings)
{
    problem_random r = {5};
    for (size_t i = 0; i < rows * INPUTS; i++) x[i] = 2 * problem_uniform(&r) - 1;
    for (size_t i = 0; i < rows; i++) y[i] = target(x + i * INPUTS, rings, &r);
    return data_of_values(x, y, rows, INPUTS);
}

static broad_model *fit_kind(const broad_data *data, const char *kind, const char *threads)
{
    broad_model *model = NULL;
    broad_options o = OPTIONS("kind", kind, "threads", threads, "effort", "fast");
    assert_ok(broad_fit(&model, NULL, data, &o));
    return model;
}

static size_t nodes_of(const broad_data *data, const char *threads)
{
    broad_model *model = fit_kind(data, "bscrls", threads);
    size_t nodes = broad_model_nodes(model);
    broad_model_free(model);
    return nodes;
}

/* A few rows do not get thousands of nodes. */
static void few_rows_get_few_nodes(void **state)
{
    (void)state;
    double x[ROWS * INPUTS], y[ROWS];
    static const size_t rows[] = {3, 20, 100};
    for (size_t i = 0; i < 3; i++) {
        broad_data *data = table(x, y, rows[i], 0);
        assert_true(nodes_of(data, "1") <= 8 * rows[i] + 100);
        broad_data_free(data);
    }
}

/* Nodes that leave-one-out does not gain by stay out; how many are in does not depend on the threads. */
static void nodes_follow_the_gain(void **state)
{
    (void)state;
    double x[ROWS * INPUTS], y[ROWS];
    broad_data *plane = table(x, y, ROWS, 0);
    size_t few = nodes_of(plane, "1");
    assert_int_equal(nodes_of(plane, "3"), few);
    broad_data_free(plane);
    broad_data *rings = table(x, y, ROWS, 1);
    size_t many = nodes_of(rings, "2");
    broad_data_free(rings);
    if (!(few < many)) fail_msg("a plane got %zu nodes, rings %zu", few, many);
}

/* bscrls, brls and bls are different networks in preset auto too. */
static void kinds_differ(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bscrls", "brls", "bls"};
    static const broad_fitting fittings[] = {BROAD_FITTING_JOINT, BROAD_FITTING_CHAIN, BROAD_FITTING_AT_ONCE};
    double x[ROWS * INPUTS], y[ROWS], scores[3][FRESH];
    broad_data *data = table(x, y, ROWS, 0);
    for (size_t k = 0; k < 3; k++) {
        broad_model *model = fit_kind(data, kinds[k], "2");
        assert_int_equal(broad_model_fitting(model), fittings[k]);
        if (k == 1) assert_true(broad_model_layers(model) > 1);
        assert_ok(broad_predict(scores[k], model, x, FRESH, 0));
        broad_model_free(model);
    }
    for (size_t k = 0; k < 3; k++) assert_memory_not_equal(scores[k], scores[(k + 1) % 3], sizeof scores[k]);
    broad_data_free(data);
}

/* A gain that is too small for the nodes of a small network is worth them where the sample stands for more rows. */
static void more_rows_are_worth_smaller_gains(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* the trials of 4,096 rows */
    enum { SAMPLE = 4096, MANY = 12288 };
    double *x = malloc(MANY * INPUTS * sizeof *x), *y = malloc(MANY * sizeof *y);
    problem_random r = {11};
    for (size_t i = 0; i < MANY * INPUTS; i++) x[i] = 2 * problem_uniform(&r) - 1;
    for (size_t i = 0; i < MANY; i++)
        y[i] = 0.45 * sin(20 * hypot(x[i * INPUTS], x[i * INPUTS + 1])) + problem_normal(&r);
    size_t nodes[2];
    for (size_t k = 0; k < 2; k++) {
        broad_data *data = data_of_values(x, y, k ? MANY : SAMPLE, INPUTS);
        broad_trainer *t = NULL;
        broad_options o = OPTIONS("range", "4", "learned-metric", "no", "threads", "1");
        assert_ok(broad__trainer_open(&t, data, &o));
        nodes[k] = broad__model_feature_nodes(t->model, t->model->group_count);
        broad__trainer_close(NULL, t);
        broad_data_free(data);
    }
    print_message("%zu nodes for %d rows, %zu for %d\n", nodes[0], (int)SAMPLE, nodes[1], (int)MANY);
    free(x), free(y);
    assert_true(nodes[0] == 1600 && nodes[1] > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_get_few_nodes),
        cmocka_unit_test(nodes_follow_the_gain),
        cmocka_unit_test(kinds_differ),
        cmocka_unit_test(more_rows_are_worth_smaller_gains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
