/* A model does not depend on how the rows of its table lie, apart from rounding. */
#include "plain.h"

enum { ROWS = 100, INPUTS = 4, FRESH = 20, CLASSES = 3 };

static void make_rows(double *x, double *y, int64_t *classes)
{
    problem_random r = {21};
    for (size_t i = 0; i < ROWS; i++) {
        double *row = x + i * INPUTS;
        for (size_t j = 0; j < INPUTS; j++) row[j] = problem_normal(&r);
        y[i] = sin(2 * row[0]) + row[1] * row[2] + 0.1 * problem_normal(&r);
        classes[i] = y[i] < -0.5 ? 7 : y[i] < 0.5 ? 2 : 5;
    }
}

static broad_data *table_of(const double *x, const double *y, const int64_t *classes, size_t step, int classify)
{
    double *moved = malloc(ROWS * INPUTS * sizeof *moved), values[ROWS];
    int64_t labels[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        size_t from = (i * step + step - 1) % ROWS;
        memcpy(moved + i * INPUTS, x + from * INPUTS, INPUTS * sizeof *moved);
        values[i] = y[from], labels[i] = classes[from];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = INPUTS, arrays.x = moved;
    if (classify) arrays.classes = labels;
    else arrays.values = values, arrays.outputs = 1;
    broad_data *data = plain_data(&arrays);
    free(moved);
    return data;
}

/* Scores by the names of the outputs, since classes are numbered as they come. */
static void scores_of(double *out, const broad_data *data, const broad_options *o, const double *fresh)
{
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, o));
    size_t outputs = broad_model_outputs(model);
    double *scores = malloc(FRESH * outputs * sizeof *scores);
    assert_ok(broad_predict(scores, model, fresh, FRESH, INPUTS));
    for (size_t q = 0; q < outputs; q++) {
        const char *name = broad_model_output_name(model, q);
        size_t place = outputs == 1 || name[0] == '2' ? 0 : name[0] == '5' ? 1 : 2;
        for (size_t i = 0; i < FRESH; i++) out[i * outputs + place] = scores[i * outputs + q];
    }
    free(scores);
    broad_model_free(model);
}

static const char *const ways[][2] = {{"auto", "bscrls"}, {"paper", "bscrls"}, {"chain", "bscrls"}, {"auto", "scn"}};

static void models_do_not_depend_on_it(void **state)
{
    (void)state;
    double x[ROWS * INPUTS], y[ROWS], one[FRESH * CLASSES], other[FRESH * CLASSES];
    int64_t classes[ROWS];
    problem_random r = {22};
    make_rows(x, y, classes);
    double *fresh = problem_normals(FRESH * INPUTS, &r);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        int classify = w % 2;
        broad_options o = OPTIONS("kind", ways[w][1], "effort", "fast", "max-layers", "3");
        if (strcmp(ways[w][0], "auto") != 0) assert_ok(broad_options_set(&o, "preset", ways[w][0]));
        broad_data *a = table_of(x, y, classes, 1, classify), *b = table_of(x, y, classes, 77, classify);
        scores_of(one, a, &o, fresh);
        scores_of(other, b, &o, fresh);
        double error = relative_distance(one, other, FRESH * (classify ? CLASSES : 1));
        print_message("%s %s: %.2g\n", ways[w][0], ways[w][1], error);
        assert_true(error < 1e-9);
        broad_data_free(a), broad_data_free(b);
    }
    free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_do_not_depend_on_it)};
    return cmocka_run_group_tests_name("moved_rows", tests, NULL, NULL);
}
