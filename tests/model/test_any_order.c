/* The same rows in another order make the same model, up to rounding: samples are chosen by what rows hold. */
#include "plain.h"
#include "small_runs.h"

enum { ROWS = HELPER_SANITIZED ? 1200 : 3000, INPUTS = 3, TRIED = 200 };

typedef struct rows_of {
    double x[ROWS * INPUTS], values[ROWS], weights[ROWS];
    const char *labels[ROWS], *groups[ROWS];
} rows_of;

static void fill(rows_of *out)
{
    static const char *const labels[] = {"low", "high"};
    static char groups[ROWS / 3][16];
    problem_random r = {7};
    for (size_t i = 0; i < ROWS / 3; i++) snprintf(groups[i], sizeof groups[i], "day %zu", i);
    for (size_t i = 0; i < ROWS; i++) {
        double *x = out->x + i * INPUTS;
        for (size_t j = 0; j < INPUTS; j++) x[j] = problem_normal(&r);
        out->values[i] = sin(2 * x[0]) + x[1] * x[2] + 0.3 * problem_normal(&r);
        out->labels[i] = labels[out->values[i] > 0];
        out->weights[i] = 0.2 + problem_uniform(&r);
        out->groups[i] = groups[(size_t)(problem_uniform(&r) * (ROWS / 3))];
    }
}

static void shuffle(rows_of *out, const rows_of *from)
{
    size_t place[ROWS];
    problem_random r = {8};
    for (size_t i = 0; i < ROWS; i++) {
        size_t k = (size_t)(problem_uniform(&r) * (double)(i + 1));
        place[i] = place[k], place[k] = i;
    }
    for (size_t i = 0; i < ROWS; i++) {
        memcpy(out->x + i * INPUTS, from->x + place[i] * INPUTS, INPUTS * sizeof(double));
        out->values[i] = from->values[place[i]], out->weights[i] = from->weights[place[i]];
        out->labels[i] = from->labels[place[i]], out->groups[i] = from->groups[place[i]];
    }
}

typedef struct way {
    const char *preset, *kind, *weights;
    int classify, weighted, grouped;
} way;

static broad_model *fit(const rows_of *rows, const way *w)
{
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = INPUTS, arrays.x = rows->x;
    if (w->classify) arrays.labels = rows->labels;
    else arrays.values = rows->values, arrays.outputs = 1;
    if (w->weighted) arrays.weights = rows->weights;
    if (w->grouped) arrays.groups = rows->groups;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    broad_options o = OPTIONS("preset", w->preset, "kind", w->kind, "weights", w->weights, "features", "3x8", "enhance",
                              "15x2", "effort", "fast");
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &o));
    broad_data_free(data);
    return model;
}

static double difference(const broad_model *a, const broad_model *b, const double *x)
{
    double scores[2][TRIED * 2];
    assert_int_equal(broad_model_outputs(a), broad_model_outputs(b));
    assert_ok(broad_predict(scores[0], a, x, TRIED, 0));
    assert_ok(broad_predict(scores[1], b, x, TRIED, 0));
    return relative_distance(scores[0], scores[1], TRIED * broad_model_outputs(a));
}

/* What the model expects of itself on new rows, which comes from the sample. */
static double expected_of(const broad_model *model)
{
    broad_estimate e;
    broad_estimate_init(&e);
    assert_ok(broad_model_estimate(&e, model));
    return e.known ? e.brier + e.rmse : 1;
}

static void rows_in_any_order(void **state)
{
    (void)state;
    static const way ways[] = {{"auto", "bscrls", "joint", 1, 0, 0},  {"auto", "bls", "joint", 0, 0, 1},
                               {"chain", "bscrls", "chain", 1, 0, 0}, {"chain", "bscrls", "chain", 0, 1, 1},
                               {"paper", "bscrls", "chain", 0, 0, 0}, {"paper", "rvfl", "joint", 1, 1, 0}};
    rows_of *rows = malloc(sizeof *rows), *moved = malloc(sizeof *moved);
    fill(rows);
    shuffle(moved, rows);
    double worst = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        broad_model *model = fit(rows, &ways[i]), *other = fit(moved, &ways[i]);
        double off = difference(model, other, rows->x);
        double estimate = relative_difference(expected_of(model), expected_of(other), 0);
        if (!(off < 1e-9)) fail_msg("way %zu: predictions differ by %.3g", i, off);
        /* Probabilities are calibrated by a search that ends at about this. */
        if (!(estimate < 1e-6)) fail_msg("way %zu: estimates differ by %.3g", i, estimate);
        worst = fmax(worst, off);
        broad_model_free(model);
        broad_model_free(other);
    }
    print_message("%zu ways, predictions equal to %.1e\n", sizeof ways / sizeof *ways, worst);
    free(rows), free(moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
