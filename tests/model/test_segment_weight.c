/* Rows learned with weights: against the same rows as often, against row weights, in the file, and grown later. */
#include "problem.h"

#include "base/memory.h"
#include "data/table.h"
#include "model/model.h"

enum { INPUTS = 4, OLD = 150, NEW = 12 };

/* Rows [first, first + rows) of an endless table of two classes; weight > 0: of each row. */
static broad_data *rows_of(size_t first, size_t rows, double weight)
{
    double *x = malloc(rows * INPUTS * sizeof *x), *weights = malloc(rows * sizeof *weights);
    const char **labels = malloc(rows * sizeof *labels);
    for (size_t i = 0; i < rows; i++) {
        problem_random r = {1000003 * (first + i) + 17};
        double sum = 0;
        for (size_t j = 0; j < INPUTS; j++) {
            x[i * INPUTS + j] = 2 * problem_uniform(&r) - 1;
            sum += x[i * INPUTS + j] * (double)(j + 1);
        }
        /* New rows contradict what the old ones say, so that weights matter. */
        labels[i] = (sin(sum) > 0) == (first == 0) ? "a" : "b";
        weights[i] = weight;
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = INPUTS, arrays.x = x, arrays.labels = labels;
    if (weight > 0) arrays.weights = weights;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    free(x), free(labels), free(weights);
    return data;
}

static const char *const kinds[] = {"bscrls", "brls", "bls", "rvfl"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static broad_options options_of(const char *kind)
{
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_preset(&o, BROAD_PRESET_AUTO));
    assert_ok(broad_options_set(&o, "kind", kind));
    if (kind[0] == 'b' && kind[2] != 's') assert_ok(broad_options_set(&o, "weights", "joint"));
    if (kind[0] == 'b') {
        o.features_auto = 0;
        o.feature_groups = 3, o.feature_nodes = 8;
    }
    o.enhance_nodes = 20, o.enhance_layers = 1;
    o.threads = 1;
    o.seed = 5;
    return o;
}

static broad_model *fitted(const broad_data *data, const broad_options *o)
{
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, o));
    return model;
}

static int learn_all(broad_trainer *t, const broad_data *rows, double weight, size_t nodes, size_t layers)
{
    double weights[4 * NEW];
    assert_true(rows->rows <= 4 * NEW);
    for (size_t i = 0; i < rows->rows; i++) weights[i] = weight;
    return broad_trainer_learn_weighted(t, rows, weights, nodes, layers, 0);
}

/* From `model`, with the rows it was trained on, weight 0: without one. */
static broad_model *learned(const broad_model *model, const broad_data *old, const broad_data *more, double weight,
                            const broad_options *o)
{
    broad_trainer *t = NULL;
    broad_model *out = NULL;
    assert_ok(broad_trainer_resume(&t, model, old, o, 0));
    assert_ok(weight > 0 ? learn_all(t, more, weight, 0, 0) : broad_trainer_learn(t, more, 0, 0, 0));
    broad_trainer_close(&out, t);
    return out;
}

static double *scores_of(const broad_model *model, const broad_data *data)
{
    double *scores = malloc(data->rows * broad_model_outputs(model) * sizeof *scores);
    assert_ok(broad_predict_data(scores, model, data, THREADS(1)));
    return scores;
}

static double largest_difference(const broad_model *a, const broad_model *b, const broad_data *data)
{
    double *p = scores_of(a, data), *q = scores_of(b, data), most = 0;
    for (size_t i = 0; i < data->rows * broad_model_outputs(a); i++) most = fmax(most, fabs(p[i] - q[i]));
    free(p), free(q);
    return most;
}

static void assert_verified(const broad_model *model, const broad_data *data)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(2)));
    if (!verdict.holds) fail_msg("the certificate does not hold: %s", verdict.reason);
}

/* Weight 3 is three times the same rows: a sum of squares cannot tell. */
static void as_often_as_the_weight_says(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        broad_options o = options_of(kinds[k]);
        o.lambda_auto = 0, o.lambda = 0.1;
        broad_data *old = rows_of(0, OLD, 0), *more = rows_of(OLD, NEW, 0), *twice = NULL, *thrice = NULL, *all = NULL;
        assert_ok(broad_data_append(&twice, more, more));
        assert_ok(broad_data_append(&thrice, twice, more));
        assert_ok(broad_data_append(&all, old, more));
        broad_model *model = fitted(old, &o), *once = learned(model, old, more, 0, &o);
        broad_model *weighted = learned(model, old, more, 3, &o), *often = learned(model, old, thrice, 0, &o);
        assert_true(largest_difference(weighted, often, all) < 1e-8);
        assert_true(largest_difference(weighted, once, all) > 1e-2);
        assert_verified(weighted, all);
        broad_model_free(model), broad_model_free(once), broad_model_free(weighted), broad_model_free(often);
        broad_data_free(old), broad_data_free(more), broad_data_free(twice), broad_data_free(thrice),
            broad_data_free(all);
    }
}

/* Each row with a weight of its own makes a segment of those beside it that have the same. */
static void each_row_its_own(void **state)
{
    (void)state;
    static const double weights[NEW] = {2, 2, 3, 1, 1, 1, 5, 1, 2, 2, 2, 4};
    for (size_t k = 0; k < KINDS; k++) {
        broad_options o = options_of(kinds[k]);
        o.lambda_auto = 0, o.lambda = 0.1;
        broad_data *old = rows_of(0, OLD, 0), *more = rows_of(OLD, NEW, 0), *repeated = NULL, *all = NULL;
        size_t list[5 * NEW], count = 0;
        for (size_t i = 0; i < NEW; i++)
            for (double w = 0; w < weights[i]; w++) list[count++] = i;
        assert_ok(broad__table_rows(&repeated, more, list, count));
        assert_ok(broad_data_append(&all, old, more));
        broad_model *model = fitted(old, &o), *often = learned(model, old, repeated, 0, &o), *weighted = NULL;
        broad_trainer *t = NULL;
        assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
        assert_ok(broad_trainer_learn_weighted(t, more, weights, 0, 0, 0));
        broad_trainer_close(&weighted, t);
        assert_int_equal(weighted->segment_count, 8);
        assert_int_equal(weighted->segments[7].rows, 1);
        assert_int_equal(weighted->rows, OLD + NEW);
        assert_true(weighted->estimate.rows == 0 || weighted->estimate.rows == OLD + NEW);
        assert_true(largest_difference(weighted, often, all) < 1e-8);
        assert_verified(weighted, all);
        assert_ok(broad_trainer_resume(&t, weighted, all, &o, 0));
        broad_trainer_close(NULL, t);
        broad_model_free(model), broad_model_free(often), broad_model_free(weighted);
        broad_data_free(old), broad_data_free(more), broad_data_free(repeated), broad_data_free(all);
    }
}

/* The weight multiplies those of rows and classes. */
static void on_top_of_other_weights(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        broad_options o = options_of(kinds[k]);
        o.lambda_auto = 0, o.lambda = 0.1;
        o.class_weight = "a:2,b:0.7";
        broad_data *old = rows_of(0, OLD, 1.5), *more = rows_of(OLD, NEW, 0.5), *heavy = rows_of(OLD, NEW, 4),
                   *all = NULL;
        assert_ok(broad_data_append(&all, old, more));
        broad_model *model = fitted(old, &o);
        broad_model *weighted = learned(model, old, more, 8, &o), *rows = learned(model, old, heavy, 0, &o);
        assert_true(largest_difference(weighted, rows, all) < 1e-8);
        assert_verified(weighted, all);
        broad_model_free(model), broad_model_free(weighted), broad_model_free(rows);
        broad_data_free(old), broad_data_free(more), broad_data_free(heavy), broad_data_free(all);
    }
}

static double lambda_of(const broad_model *model)
{
    return model->joint.present ? model->joint.lambda : model->layers[0].certificate.lambda;
}

/* lambda is kept with a weight, also one of 1, and chosen again without. */
static void lambda_is_kept(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        broad_options o = options_of(kinds[k]);
        assert_true(o.lambda_auto);
        broad_data *old = rows_of(0, OLD, 0), *more = rows_of(OLD, 3 * NEW, 0), *all = NULL;
        assert_ok(broad_data_append(&all, old, more));
        broad_model *model = fitted(old, &o), *plain = learned(model, old, more, 0, &o);
        broad_model *one = learned(model, old, more, 1, &o), *five = learned(model, old, more, 5, &o);
        assert_true(lambda_of(one) == lambda_of(model) && lambda_of(five) == lambda_of(model));
        assert_true(lambda_of(plain) != lambda_of(model));
        assert_verified(one, all);
        assert_verified(five, all);
        broad_model_free(model), broad_model_free(plain), broad_model_free(one), broad_model_free(five);
        broad_data_free(old), broad_data_free(more), broad_data_free(all);
    }
}

static broad_model *through_the_file(const broad_model *model)
{
    void *bytes = NULL;
    size_t count = 0;
    broad_model *loaded = NULL;
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    assert_ok(broad_model_from_memory(&loaded, bytes, count));
    broad_free(bytes);
    return loaded;
}

/* Learned, grown and learned again, by one trainer and by one after the other. */
static void goes_on_in_another_process(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        broad_options o = options_of(kinds[k]);
        broad_data *parts[] = {rows_of(0, OLD, 0), rows_of(OLD, NEW, 0), rows_of(3 * OLD, 2 * NEW, 0)};
        broad_data *two = NULL, *all = NULL;
        assert_ok(broad_data_append(&two, parts[0], parts[1]));
        assert_ok(broad_data_append(&all, two, parts[2]));
        broad_model *model = fitted(parts[0], &o), *at_once = NULL, *after = NULL;
        broad_trainer *t = NULL;
        assert_ok(broad_trainer_resume(&t, model, parts[0], &o, 0));
        assert_ok(learn_all(t, parts[1], 20, 0, 0));
        assert_ok(broad_trainer_enhance(t, 7, 1));
        assert_ok(broad_trainer_learn(t, parts[2], 0, 0, 0));
        broad_trainer_close(&at_once, t);
        broad_model *weighted = learned(model, parts[0], parts[1], 20, &o), *loaded = through_the_file(weighted);
        assert_int_equal(loaded->segment_count, 2);
        assert_true(loaded->segments[0].weight == 1 && loaded->segments[1].weight == 20);
        assert_ok(broad_trainer_resume(&t, loaded, two, &o, 0));
        assert_ok(broad_trainer_enhance(t, 7, 1));
        broad_trainer_close(&after, t);
        assert_verified(after, two);
        broad_model *last = learned(after, two, parts[2], 0, &o);
        assert_verified(last, all);
        assert_verified(at_once, all);
        assert_true(last->segments[1].weight == 20 && last->segments[2].weight == 1);
        assert_true(largest_difference(last, at_once, all) < 1e-8);
        broad_model_free(model), broad_model_free(at_once), broad_model_free(weighted), broad_model_free(loaded);
        broad_model_free(after), broad_model_free(last);
        for (size_t i = 0; i < 3; i++) broad_data_free(parts[i]);
        broad_data_free(two), broad_data_free(all);
    }
}

/* Another weight in the record is another model. */
static void another_weight_does_not_verify(void **state)
{
    (void)state;
    broad_options o = options_of("bls");
    broad_data *old = rows_of(0, OLD, 0), *more = rows_of(OLD, NEW, 0), *all = NULL;
    assert_ok(broad_data_append(&all, old, more));
    broad_model *model = fitted(old, &o), *weighted = learned(model, old, more, 4, &o);
    broad_verdict verdict = {.size = sizeof verdict};
    weighted->segments[1].weight = 4.01;
    assert_ok(broad_verify(&verdict, weighted, all, THREADS(1)));
    assert_false(verdict.holds);
    broad_model_free(model), broad_model_free(weighted);
    broad_data_free(old), broad_data_free(more), broad_data_free(all);
}

/* A chain learns weighted rows by a further layer, and validation rows have no weight. */
static void chains_and_validation(void **state)
{
    (void)state;
    broad_options o = options_of("bscrls");
    o.weights = BROAD_WEIGHTS_CHAIN;
    broad_data *old = rows_of(0, OLD, 0), *more = rows_of(OLD, NEW, 0), *check = rows_of(0, 40, 0), *all = NULL;
    assert_ok(broad_data_append(&all, old, more));
    broad_model *model = fitted(old, &o), *weighted = NULL;
    broad_trainer *t = NULL;
    o.patience = 3;
    assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
    assert_ok(broad_trainer_validate(t, check));
    assert_fails(learn_all(t, more, 9, 0, 0), BROAD_USAGE, "at least one");
    assert_ok(learn_all(t, more, 9, 15, 2));
    broad_trainer_close(&weighted, t);
    assert_true(weighted->segments[1].weight == 9);
    assert_verified(weighted, all);
    broad_stats *stats = NULL;
    assert_fails(broad_stats_new(&stats, weighted, all, THREADS(1)), BROAD_USAGE, "weights");
    broad_model_free(model), broad_model_free(weighted);
    broad_data_free(old), broad_data_free(more), broad_data_free(check), broad_data_free(all);
}

/* A table that comes in two parts and then, since it is not the same, as a whole: all of it counts, in the estimate too. */
static void one_table_twice(void **state)
{
    (void)state;
    broad_data *old = rows_of(0, OLD, 0), *more = rows_of(OLD, NEW, 0);
    broad_options o = options_of("bls");
    broad_trainer *t = NULL;
    broad_model *model = fitted(old, &o);
    broad_estimate estimate = {.size = sizeof estimate};
    double weights[NEW];
    for (size_t i = 0; i < NEW; i++) weights[i] = i < NEW / 2 ? 1 : 4;
    assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
    assert_ok(broad_trainer_learn_weighted(t, more, weights, 0, 0, 0));
    assert_ok(broad_trainer_learn(t, more, 0, 0, 0));
    assert_ok(broad_model_estimate(&estimate, broad_trainer_model(t)));
    assert_int_equal(estimate.rows, OLD + 2 * NEW);
    broad_trainer_close(NULL, t);
    broad_model_free(model);
    broad_data_free(old), broad_data_free(more);
}

static void bad_weights(void **state)
{
    (void)state;
    static const double bad[] = {0, -1, 1e-13, 1e13, INFINITY, -INFINITY, NAN};
    broad_options o = options_of("bls");
    broad_data *old = rows_of(0, OLD, 0), *more = rows_of(OLD, NEW, 0);
    broad_model *model = fitted(old, &o), *after = NULL;
    broad_trainer *t = NULL;
    assert_ok(broad_trainer_resume(&t, model, old, &o, 0));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(learn_all(t, more, bad[i], 0, 0), BROAD_USAGE, "the weight of new row");
    assert_fails(broad_trainer_learn_weighted(t, NULL, bad, 0, 0, 0), BROAD_USAGE, "NULL");
    assert_fails(broad_trainer_learn_weighted(t, more, NULL, 0, 0, 0), BROAD_USAGE, "NULL");
    broad_trainer_close(&after, t);
    assert_int_equal(after->segment_count, 1);
    assert_true(largest_difference(model, after, old) == 0);
    broad_model_free(model), broad_model_free(after);
    broad_data_free(old), broad_data_free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_often_as_the_weight_says),
        cmocka_unit_test(on_top_of_other_weights),
        cmocka_unit_test(each_row_its_own),
        cmocka_unit_test(lambda_is_kept),
        cmocka_unit_test(goes_on_in_another_process),
        cmocka_unit_test(another_weight_does_not_verify),
        cmocka_unit_test(chains_and_validation),
        cmocka_unit_test(one_table_twice),
        cmocka_unit_test(bad_weights),
    };
    return cmocka_run_group_tests_name("segment weight", tests, NULL, NULL);
}
