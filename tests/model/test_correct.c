/* The search for the weights of corrections, against learning with the weights that it found. */
#include "problem.h"

enum { OLD = 90, NEW = 6, INPUTS = 3 };

/* Two classes by the sign of the first input; `turned`: every other row has the label of the other class. */
static broad_data *rows_of(size_t rows, uint64_t seed, int turned)
{
    problem_random random = {seed};
    double x[OLD * INPUTS];
    const char *labels[OLD];
    broad_arrays arrays;
    broad_data *data = NULL;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < INPUTS; j++) x[i * INPUTS + j] = problem_normal(&random);
        int positive = x[i * INPUTS] > 0, wrong = turned && i % 2;
        labels[i] = positive != wrong ? "yes" : "no";
    }
    broad_arrays_init(&arrays);
    arrays.rows = rows;
    arrays.inputs = INPUTS;
    arrays.x = x;
    arrays.labels = labels;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    return data;
}

static broad_options options_of(const char *kind)
{
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_set(&o, "kind", kind));
    o.features_auto = 0;
    o.feature_groups = 3, o.feature_nodes = 8;
    o.enhance_nodes = 20, o.enhance_layers = 1;
    o.threads = 1;
    return o;
}

static size_t count_wrong(const broad_model *model, const broad_data *rows)
{
    double scores[NEW * 2];
    size_t wrong = 0;
    assert_ok(broad_predict_data(scores, model, rows, THREADS(1)));
    for (size_t i = 0; i < NEW; i++) wrong += broad_best_class(model, scores + 2 * i) != broad_data_class(rows, i);
    return wrong;
}

static void assert_same_models(const broad_model *a, const broad_model *b)
{
    void *a_bytes = NULL, *b_bytes = NULL;
    size_t a_count = 0, b_count = 0;
    assert_ok(broad_model_to_memory(&a_bytes, &a_count, a, 0));
    assert_ok(broad_model_to_memory(&b_bytes, &b_count, b, 0));
    assert_int_equal(a_count, b_count);
    assert_memory_equal(a_bytes, b_bytes, a_count);
    broad_free(a_bytes);
    broad_free(b_bytes);
}

/* What came of the search is what learning with these weights gives; and half of a weight that was raised does not do. */
static void the_weights_do(void **state)
{
    (void)state;
    broad_data *old = rows_of(OLD, 1, 0), *fresh = rows_of(NEW, 2, 1);
    broad_options o = options_of("bscrls");
    broad_model *model = NULL, *corrected = NULL, *learned = NULL;
    broad_trainer *t = NULL;
    broad_correction found = {.size = sizeof found};
    double weights[NEW], largest = 0;
    assert_ok(broad_fit(&model, NULL, old, &o));
    assert_true(broad_model_can_correct(model));
    broad_correction_init(&found);
    assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
    assert_ok(broad_trainer_correct(&found, t, fresh, weights));
    broad_trainer_close(&corrected, t);
    assert_true(count_wrong(model, fresh) > 0);
    assert_int_equal(count_wrong(corrected, fresh), 0);
    assert_int_equal(found.wrong, 0);
    assert_true(found.tries > 1);
    for (size_t i = 0; i < NEW; i++) largest = fmax(largest, weights[i]);
    assert_true(found.weight == largest && largest > 0.25);
    assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
    assert_ok(broad_trainer_learn_weighted(t, fresh, weights, 0, 0, 0));
    broad_trainer_close(&learned, t);
    assert_same_models(corrected, learned);
    broad_model_free(learned);
    for (size_t i = 0; i < NEW; i++) weights[i] = weights[i] == largest ? weights[i] / 2 : weights[i];
    assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
    assert_ok(broad_trainer_learn_weighted(t, fresh, weights, 0, 0, 0));
    broad_trainer_close(&learned, t);
    assert_true(count_wrong(learned, fresh) > 0);
    broad_model_free(learned);
    broad_model_free(corrected);
    broad_model_free(model);
    broad_data_free(old);
    broad_data_free(fresh);
}

/* In a trainer that was just opened, where nothing was resumed; and growing goes on after it. */
static void after_fitting(void **state)
{
    (void)state;
    broad_data *old = rows_of(OLD, 1, 0), *fresh = rows_of(NEW, 2, 1), *both = NULL;
    broad_options o = options_of("bscrls");
    broad_trainer *t = NULL;
    broad_correction found = {.size = sizeof found};
    broad_verdict verdict = {.size = sizeof verdict};
    broad_model *model = NULL;
    broad_correction_init(&found);
    assert_ok(broad_trainer_open(&t, old, &o));
    assert_ok(broad_trainer_enhance(t, o.enhance_nodes, o.enhance_layers));
    assert_ok(broad_trainer_correct(&found, t, fresh, NULL));
    assert_int_equal(count_wrong(broad_trainer_model(t), fresh), 0);
    assert_ok(broad_trainer_enhance(t, 5, 1));
    broad_trainer_close(&model, t);
    assert_ok(broad_data_append(&both, old, fresh));
    assert_ok(broad_verify(&verdict, model, both, THREADS(1)));
    assert_true(verdict.holds);
    broad_model_free(model);
    broad_data_free(both);
    broad_data_free(old);
    broad_data_free(fresh);
}

static void what_is_refused(void **state)
{
    (void)state;
    broad_data *old = rows_of(OLD, 1, 0), *fresh = rows_of(NEW, 2, 1);
    broad_options o = options_of("bscrls");
    broad_model *model = NULL;
    broad_trainer *t = NULL;
    broad_correction found = {.size = sizeof found};
    broad_correction_init(&found);
    assert_fails(broad_trainer_correct(&found, NULL, fresh, NULL), BROAD_USAGE, "NULL");
    assert_ok(broad_options_set(&o, "weights", "chain"));
    assert_ok(broad_fit(&model, NULL, old, &o));
    assert_false(broad_model_can_correct(model));
    assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
    assert_fails(broad_trainer_correct(&found, t, fresh, NULL), BROAD_USAGE, "joint weights only");
    found.size = 0;
    assert_fails(broad_trainer_correct(&found, t, fresh, NULL), BROAD_USAGE, "broad_correction_init");
    broad_trainer_close(NULL, t);
    assert_null(broad_trainer_model(NULL));
    broad_model_free(model);
    broad_data_free(old);
    broad_data_free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_weights_do),
        cmocka_unit_test(after_fitting),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
