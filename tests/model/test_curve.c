/* Figures after each layer: against networks that were fitted with fewer layers, certificates, and plain sums. */
#include "problem.h"

#include "data/table.h"
#include "model/model.h"

enum { INPUTS = 4, ROWS = 150, OTHERS = 700, LAYERS = 6, MOST = 16 };

typedef enum form { CLASSES, VALUES, WEIGHTED } form;

/* Rows [first, first + rows) of an endless table: three classes, with weights, or two values. */
static broad_data *rows_of(size_t first, size_t rows, form what)
{
    static const char *const names[] = {"a", "b", "c"};
    double *x = malloc(rows * INPUTS * sizeof *x), *weights = malloc(rows * sizeof *weights);
    double *values = malloc(rows * 2 * sizeof *values);
    const char **labels = malloc(rows * sizeof *labels);
    for (size_t i = 0; i < rows; i++) {
        problem_random r = {1000003 * (first + i) + 29};
        double sum = 0.3 * problem_normal(&r);
        for (size_t j = 0; j < INPUTS; j++) {
            x[i * INPUTS + j] = 2 * problem_uniform(&r) - 1;
            sum += x[i * INPUTS + j] * 0.4 * (double)(j + 1);
        }
        labels[i] = names[(sin(sum) > 0.4) + (sin(sum) > -0.4)];
        weights[i] = 0.5 + problem_uniform(&r);
        values[2 * i] = 100 + 20 * sin(sum), values[2 * i + 1] = sum;
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = INPUTS, arrays.x = x;
    if (what == VALUES) arrays.values = values, arrays.outputs = 2;
    else arrays.labels = labels;
    if (what == WEIGHTED) arrays.weights = weights;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    free(x), free(labels), free(weights), free(values);
    return data;
}

static broad_options chain(const char *kind, size_t layers)
{
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_set(&o, "kind", kind));
    assert_ok(broad_options_preset(&o, BROAD_PRESET_PAPER));
    assert_ok(broad_options_set(&o, "scale-target", "standard"));
    if (strcmp(kind, "scn") != 0) o.feature_groups = 2, o.feature_nodes = 5;
    o.enhance_nodes = 8, o.enhance_layers = layers;
    o.lambda = 1e-3;
    o.threads = 2;
    o.seed = 3;
    return o;
}

static broad_model *fitted(const broad_data *data, const broad_options *o)
{
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, o));
    assert_true(broad_model_layers(model) <= MOST);
    return model;
}

/* ||Y - scores|| from predictions, by plain sums; segment: what each row counts besides. */
static double norm_of(const broad_model *model, const broad_data *data, double segment)
{
    size_t outputs = broad_model_outputs(model);
    double *scores = malloc(data->rows * outputs * sizeof *scores), sum = 0;
    assert_ok(broad_predict_data(scores, model, data, THREADS(1)));
    for (size_t i = 0; i < data->rows; i++)
        for (size_t c = 0; c < outputs; c++) {
            double y = data->classes ? data->classes[i] == c : data->values[i * outputs + c];
            double miss = (y - scores[i * outputs + c]) * model->output_factor[c];
            double of_class = data->classes ? broad_model_class_weight(model, data->classes[i]) : 1;
            sum += miss * miss * broad_data_weight(data, i) * of_class * segment;
        }
    free(scores);
    return sqrt(sum);
}

/* One point against the whole of a model that ends there. */
static void assert_point(const broad_curve_point *point, const broad_model *model, const broad_data *data)
{
    broad_metrics metrics = {.size = sizeof metrics};
    assert_ok(broad_eval(&metrics, model, data, THREADS(1)));
    assert_int_equal(point->layer, broad_model_layers(model));
    assert_int_equal(point->nodes, broad_model_nodes(model));
    assert_true(relative_difference(point->norm, norm_of(model, data, 1), 0) < 1e-12);
    assert_true(isnan(point->loo));
    if (metrics.task == BROAD_TASK_CLASSIFY) {
        assert_true(point->accuracy == metrics.accuracy);
        assert_true(isnan(point->rmse));
    } else {
        assert_true(relative_difference(point->rmse, metrics.rmse, 0) < 1e-12);
        assert_true(isnan(point->accuracy));
    }
    broad_metrics_clear(&metrics);
}

static void assert_certified(const broad_curve_point *points, const broad_model *model, double tolerance)
{
    for (size_t j = 0; j < broad_model_layers(model); j++) {
        broad_layer layer = {.size = sizeof layer};
        assert_ok(broad_model_layer(&layer, model, j));
        assert_true(relative_difference(points[j].norm, layer.norm_after, 0) < tolerance);
    }
}

static void a_cut_is_a_shorter_chain(void **state)
{
    static const char *const kinds[] = {"brls", "bscrls", "scn"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (form what = CLASSES; what <= WEIGHTED; what++) {
            broad_data *data = rows_of(0, ROWS, what), *others = rows_of(ROWS, OTHERS, what);
            broad_options o = chain(kinds[k], LAYERS);
            if (what == WEIGHTED) o.class_weight = "balanced";
            if (k == 2) assert_ok(broad_options_set(&o, "weights", "chain"));
            broad_model *model = fitted(data, &o);
            broad_curve_point on_training[MOST] = {{.size = sizeof *on_training}},
                              points[MOST] = {{.size = sizeof *points}};
            assert_int_equal(broad_model_layers(model), LAYERS);
            assert_ok(broad_model_curve(on_training, model, data, THREADS(2)));
            assert_ok(broad_model_curve(points, model, others, THREADS(2)));
            assert_certified(on_training, model, 1e-9);
            for (size_t m = 1; m <= LAYERS; m++) {
                o.enhance_layers = m;
                broad_model *cut = fitted(data, &o);
                assert_point(&points[m - 1], cut, others);
                assert_point(&on_training[m - 1], cut, data);
                broad_model_free(cut);
            }
            broad_model_free(model), broad_data_free(data), broad_data_free(others);
        }
}

/* Rows of several shards, the last block of which is not full. */
static void any_number_of_threads(void **state)
{
    (void)state;
    broad_data *data = rows_of(0, ROWS, CLASSES), *others = rows_of(ROWS, 5 * 256 + 77, CLASSES);
    broad_options o = chain("brls", LAYERS);
    o.enhance_nodes = 300; /* so much work that threads are worth it */
    broad_model *model = fitted(data, &o);
    broad_curve_point one[MOST] = {{.size = sizeof *one}}, many[MOST] = {{.size = sizeof *many}};
    assert_ok(broad_model_curve(one, model, others, THREADS(1)));
    for (size_t threads = 2; threads <= 7; threads += 5) {
        assert_ok(broad_model_curve(many, model, others, THREADS(threads)));
        assert_memory_equal(one, many, LAYERS * sizeof one[0]);
    }
    broad_model_free(model), broad_data_free(data), broad_data_free(others);
}

/* Growing by feature groups and by rows: of the last layer all rows are those of its certificate. */
static void after_growing(void **state)
{
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        broad_data *data = rows_of(0, ROWS, CLASSES), *more = rows_of(ROWS, 40, CLASSES), *all = NULL;
        double weights[40];
        for (size_t i = 0; i < 40; i++) weights[i] = 5;
        broad_options o = chain("bscrls", 2);
        broad_trainer *t = NULL;
        broad_model *model = NULL;
        broad_curve_point points[MOST] = {{.size = sizeof *points}};
        assert_ok(broad_trainer_open(&t, data, &o));
        assert_ok(broad_model_curve(points, broad_trainer_model(t), data, THREADS(1))); /* no layer, no point */
        assert_ok(broad_trainer_enhance(t, 8, 2));
        assert_ok(broad_trainer_features(t, 1, 6, 7));
        assert_ok(broad_model_curve(points, broad_trainer_model(t), data, THREADS(1)));
        assert_certified(points, broad_trainer_model(t), 1e-9);
        assert_int_equal(points[1].nodes, 10 + 16);
        assert_int_equal(points[2].nodes, broad_model_nodes(broad_trainer_model(t)));
        assert_ok(weighted ? broad_trainer_learn_weighted(t, more, weights, 8, 2, 0)
                           : broad_trainer_learn(t, more, 8, 2, 0));
        broad_trainer_close(&model, t);
        assert_ok(broad_data_append(&all, data, more));
        broad_layer last = {.size = sizeof last};
        assert_ok(broad_model_layer(&last, model, broad_model_layers(model) - 1));
        assert_ok(broad_model_curve_loo(points, model, all, THREADS(2)));
        assert_int_equal(last.rows, ROWS + 40);
        double plain = hypot(norm_of(model, data, 1), norm_of(model, more, weighted ? 5 : 1));
        assert_true(relative_difference(points[4].norm, last.norm_after, 0) < 1e-9);
        assert_true(relative_difference(points[4].norm, plain, 0) < 1e-12);
        for (size_t j = 0; j < 5; j++) assert_true(points[j].loo > 0);
        broad_model_free(model), broad_data_free(data), broad_data_free(more), broad_data_free(all);
    }
}

/* Supervision by leave-one-out has the same number on record, and verification works it out by plain loops. */
static void leave_one_out(void **state)
{
    (void)state;
    for (size_t nodes = 8; nodes <= 200; nodes += 192) { /* fewer columns than rows, then more */
        broad_data *data = rows_of(0, ROWS, WEIGHTED), *others = rows_of(1, ROWS, WEIGHTED);
        broad_options o = chain("bscrls", 3);
        assert_ok(broad_options_set(&o, "supervise", "loo"));
        assert_ok(broad_options_set(&o, "gamma", "constant:0.9999"));
        o.enhance_nodes = nodes, o.lambda = 5;
        broad_model *model = fitted(data, &o);
        broad_curve_point points[MOST] = {{.size = sizeof *points}};
        broad_verdict verdict = {.size = sizeof verdict};
        assert_true(broad_model_layers(model) > 1);
        assert_ok(broad_verify(&verdict, model, data, THREADS(1)));
        assert_true(verdict.holds);
        assert_ok(broad_model_curve_loo(points, model, data, THREADS(2)));
        assert_certified(points, model, 1e-9);
        for (size_t j = 0; j < broad_model_layers(model); j++) {
            broad_layer layer = {.size = sizeof layer};
            assert_ok(broad_model_layer(&layer, model, j));
            assert_true(relative_difference(points[j].loo, layer.tested * layer.norm_before, 0) < 1e-9);
            assert_true(points[j].loo > points[j].norm);
        }
        assert_fails(broad_model_curve_loo(points, model, others, THREADS(1)), BROAD_BAD_DATA,
                     "150 rows that the model was");
        broad_model_free(model), broad_data_free(data), broad_data_free(others);
    }
}

/* No weights are known of a part of the network: only the whole has figures. */
static void weights_that_are_no_chain(void **state)
{
    static const struct {
        const char *kind, *weights, *supervise;
    } cases[] = {{"brls", "joint", "none"},
                 {"bscrls", "joint", "loo"},
                 {"bls", "joint", "none"},
                 {"scn", "joint", "output"},
                 {"scn", "window", "output"}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        broad_data *data = rows_of(0, ROWS, CLASSES), *others = rows_of(ROWS, OTHERS, CLASSES);
        broad_options o = chain(cases[k].kind, 3);
        assert_ok(broad_options_set(&o, "weights", cases[k].weights));
        assert_ok(broad_options_set(&o, "supervise", cases[k].supervise));
        o.lambda = 0.1;
        broad_model *model = fitted(data, &o);
        size_t layers = broad_model_layers(model);
        broad_curve_point points[MOST] = {{.size = sizeof *points}};
        broad_joint joint = {.size = sizeof joint};
        assert_true(layers > 0);
        assert_ok(broad_model_curve(points, model, others, THREADS(2)));
        assert_point(&points[layers - 1], model, others);
        assert_ok(broad_model_curve_loo(points, model, data, THREADS(2)));
        assert_ok(broad_model_joint(&joint, model));
        if (joint.known) assert_true(relative_difference(points[layers - 1].norm, joint.norm, 0) < 1e-8);
        assert_true(isnan(points[layers - 1].loo));
        for (size_t j = 0; j + 1 < layers; j++) {
            assert_int_equal(points[j].layer, j + 1);
            assert_true(points[j].nodes > 0 && points[j].nodes < points[j + 1].nodes);
            assert_true(isnan(points[j].norm) && isnan(points[j].accuracy) && isnan(points[j].rmse));
        }
        broad_model_free(model), broad_data_free(data), broad_data_free(others);
    }
}

static void wrong_rows(void **state)
{
    (void)state;
    broad_data *data = rows_of(0, ROWS, CLASSES), *values = rows_of(0, ROWS, VALUES), *bare = NULL, *narrow = NULL;
    broad_options o = chain("brls", 2);
    broad_model *model = fitted(data, &o);
    broad_curve_point points[MOST] = {{.size = sizeof *points}};
    double x[3 * INPUTS] = {0};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 3, arrays.inputs = INPUTS, arrays.x = x;
    assert_ok(broad_data_from_arrays(&bare, &arrays));
    arrays.inputs = 2, arrays.classes = (const int64_t[]){0, 1, 2};
    assert_ok(broad_data_from_arrays(&narrow, &arrays));
    assert_fails(broad_model_curve(points, model, bare, THREADS(1)), BROAD_BAD_DATA, "no targets");
    assert_fails(broad_model_curve(points, model, narrow, THREADS(1)), BROAD_BAD_DATA, "2 inputs, the model 4");
    assert_fails(broad_model_curve(points, model, values, THREADS(1)), BROAD_BAD_DATA, "not those of the model");
    assert_fails(broad_model_curve(NULL, model, data, THREADS(1)), BROAD_USAGE, "NULL");
    assert_fails(broad_model_curve(points, NULL, data, THREADS(1)), BROAD_USAGE, "NULL");
    assert_fails(broad_model_curve_loo(points, model, NULL, THREADS(1)), BROAD_USAGE, "NULL");
    data->x[77 * INPUTS + 2] = NAN;
    assert_fails(broad_model_curve(points, model, data, THREADS(2)), BROAD_BAD_DATA, "row 78, input 'x3'");
    broad_model_free(model);
    broad_data_free(data), broad_data_free(values), broad_data_free(bare), broad_data_free(narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_is_a_shorter_chain),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(after_growing),
        cmocka_unit_test(leave_one_out),
        cmocka_unit_test(weights_that_are_no_chain),
        cmocka_unit_test(wrong_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
