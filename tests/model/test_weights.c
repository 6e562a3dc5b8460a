/* What a row counts: a weight of two is a row that is there twice, whatever the network. */
#include "plain.h"

enum { INPUTS = 3, FRESH = 20 };

/* `rows` rows, then further copies of some: row i is there copies[i] times in all. */
static broad_data *with_copies(const broad_arrays *arrays, const size_t *copies, size_t outputs)
{
    size_t all = 0, at = 0;
    for (size_t i = 0; i < arrays->rows; i++) all += copies[i];
    broad_arrays more = *arrays;
    double *x = malloc(all * INPUTS * sizeof *x), *values = malloc(all * outputs * sizeof *values);
    int64_t *classes = malloc(all * sizeof *classes);
    for (size_t round = 0; at < all; round++)
        for (size_t i = 0; i < arrays->rows; i++) {
            if (copies[i] <= round) continue;
            memcpy(x + at * INPUTS, (const double *)arrays->x + i * INPUTS, INPUTS * sizeof *x);
            if (arrays->values) memcpy(values + at * outputs, arrays->values + i * outputs, outputs * sizeof *values);
            if (arrays->classes) classes[at] = arrays->classes[i];
            at++;
        }
    more.rows = all, more.x = x, more.weights = NULL;
    if (arrays->values) more.values = values;
    if (arrays->classes) more.classes = classes;
    broad_data *data = plain_data(&more);
    free(x), free(values), free(classes);
    return data;
}

static void assert_same_predictions(const broad_data *one, const broad_data *other, const broad_options *o,
                                    const broad_options *other_o, const char *about)
{
    problem_random r = {77};
    double *x = problem_normals(FRESH * INPUTS, &r), a[FRESH * 4], b[FRESH * 4];
    broad_model *first = NULL, *second = NULL;
    assert_ok(broad_fit(&first, NULL, one, o));
    assert_ok(broad_fit(&second, NULL, other, other_o));
    assert_int_equal(broad_model_layers(first), broad_model_layers(second));
    assert_ok(broad_predict(a, first, x, FRESH, INPUTS));
    assert_ok(broad_predict(b, second, x, FRESH, INPUTS));
    double error = relative_distance(a, b, FRESH * broad_model_outputs(first));
    if (!(error < 1e-9)) fail_msg("%s: %g apart", about, error);
    broad_model_free(first);
    broad_model_free(second);
    free(x);
}

static const char *const ways[][3] = {
    {"bls", "joint", "none"},   {"rvfl", "joint", "none"},       {"brls", "chain", "none"},
    {"brls", "joint", "none"},  {"bscrls", "chain", "residual"}, {"bscrls", "joint", "residual"},
    {"scn", "chain", "output"}, {"scn", "window", "output"},     {"scn", "joint", "output"},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static broad_options way_options(size_t way, const char *enhance)
{
    return OPTIONS("preset", "paper", "kind", ways[way][0], "weights", ways[way][1], "supervise", ways[way][2], "scale",
                   "none", "lambda", "1e-3", "features", "2x3", "enhance", enhance, "tries", "4", "range-steps", "1,3",
                   "relax-count", "9");
}

/* More rows than columns and fewer; values and classes. */
static void a_weight_is_a_number_of_copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4 * WAYS; i++) {
        size_t way = i % WAYS, classes = i / WAYS % 2 ? 3 : 0, rows = i / WAYS / 2 ? 18 : 60, copies[60];
        problem_random r = {i + 1};
        broad_arrays arrays;
        plain_arrays(&arrays, &r, rows, INPUTS, 2, classes, 0);
        double weights[60];
        for (size_t k = 0; k < rows; k++) weights[k] = (double)(copies[k] = k % 7 == 2 ? 3 : 1 + k % 3 % 2);
        broad_options o = way_options(way, rows < 20 ? "25x2" : "4x4");
        arrays.weights = weights;
        broad_data *weighted = plain_data(&arrays), *copied = with_copies(&arrays, copies, 2);
        assert_same_predictions(weighted, copied, &o, &o, ways[way][0]);
        broad_data_free(weighted);
        broad_data_free(copied);
        arrays.weights = NULL;
        plain_arrays_free(&arrays);
    }
}

/* The same with the weights of classes; those that are not named count once; row weights multiply. */
static void a_class_weight_is_a_number_of_copies(void **state)
{
    (void)state;
    static const size_t of_class[] = {2, 1, 3};
    for (size_t way = 0; way < WAYS; way++) {
        enum { ROWS = 45 };
        size_t copies[ROWS];
        double weights[ROWS];
        problem_random r = {way + 50};
        broad_arrays arrays;
        plain_arrays(&arrays, &r, ROWS, INPUTS, 0, 3, 0);
        for (size_t k = 0; k < ROWS; k++) {
            weights[k] = k % 4 == 0 ? 2 : 1;
            copies[k] = of_class[arrays.classes[k]] * (size_t)weights[k];
        }
        broad_options o = way_options(way, "5x3"), plain = o;
        o.class_weight = "0:2,2:3";
        arrays.weights = weights;
        broad_data *weighted = plain_data(&arrays), *copied = with_copies(&arrays, copies, 1);
        assert_same_predictions(weighted, copied, &o, &plain, ways[way][0]);
        broad_data_free(weighted);
        broad_data_free(copied);
        arrays.weights = NULL;
        plain_arrays_free(&arrays);
    }
}

/* Each class counts alike as a whole, and all together as many as there are rows. */
static void balanced(void **state)
{
    (void)state;
    static const char *const labels[] = {"few", "many", "many", "many", "some", "some", "many", "many", "many", "many"};
    static const double expected[] = {10.0 / 3, 10.0 / 21, 10.0 / 6};
    double x[10];
    for (size_t i = 0; i < 10; i++) x[i] = (double)i;
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 10, arrays.inputs = 1, arrays.x = x, arrays.labels = labels;
    broad_data *data = plain_data(&arrays);
    broad_options o =
        OPTIONS("preset", "paper", "kind", "bls", "features", "1x2", "enhance", "3x1", "class-weight", "balanced");
    broad_model *model = NULL, *back = NULL;
    assert_ok(broad_fit(&model, NULL, data, &o));
    for (size_t c = 0; c < 3; c++) {
        static const char *const names[] = {"few", "many", "some"};
        size_t at = 0;
        while (strcmp(broad_model_output_name(model, at), names[c]) != 0) at++;
        assert_true(relative_difference(model->class_weights[at], expected[c], 0) < 1e-15);
    }
    void *bytes = NULL;
    size_t count = 0;
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    assert_ok(broad_model_from_memory(&back, bytes, count));
    assert_memory_equal(back->class_weights, model->class_weights, 3 * sizeof(double));
    broad_free(bytes);
    broad_model_free(back);
    broad_model_free(model);
    broad_data_free(data);
}

static void bad_texts(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "is not a class and a weight above 0, such as dusty:3"},
        {"1", "'1' is not a class and a weight above 0"},
        {"0:", "'0:' is not a class and a weight above 0"},
        {"0:0", "'0:0' is not a class and a weight above 0"},
        {"0:-1", "'0:-1' is not a class and a weight above 0"},
        {"0:nan", "'0:nan' is not a class and a weight above 0"},
        {"0:inf", "'0:inf' is not a class and a weight above 0"},
        {"0:1e300", "'0:1e300' is not a class and a weight above 0"},
        {"0:1x", "'0:1x' is not a class and a weight above 0"},
        {"0:1,", "is not a class and a weight above 0"},
        {"0:1,,1:2", "is not a class and a weight above 0"},
        {"0:1,7:2", "'7' is not a class of the data; the first is '0', the last '2'"},
        {"Balanced", "'Balanced' is not a class and a weight above 0"},
        {"0:1,balanced", "'balanced' is not a class and a weight above 0"},
        {"0:1,0:2", "'0' is given twice"},
    };
    problem_random r = {5};
    broad_arrays arrays;
    broad_model *model = NULL;
    plain_arrays(&arrays, &r, 20, INPUTS, 0, 3, 0);
    broad_data *data = plain_data(&arrays);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        broad_options o = way_options(0, "3x1");
        o.class_weight = cases[i][0];
        assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, cases[i][1]);
        assert_null(model);
    }
    broad_data_free(data);
    plain_arrays_free(&arrays);
    plain_arrays(&arrays, &r, 20, INPUTS, 1, 0, 0);
    data = plain_data(&arrays);
    broad_options o = way_options(0, "3x1");
    o.class_weight = "balanced";
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "a regression has no classes");
    broad_data_free(data);
    plain_arrays_free(&arrays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_is_a_number_of_copies),
        cmocka_unit_test(a_class_weight_is_a_number_of_copies),
        cmocka_unit_test(balanced),
        cmocka_unit_test(bad_texts),
    };
    return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
