/* What a model looks at, from a metric that is given to it: shares and directions against plain loops. */
#include "helper.h"

#include "base/memory.h"
#include "model/model.h"

enum { INPUTS = 4, COLUMNS = 2 * INPUTS, COMPONENTS = 3, ROWS = 40 };

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

/* Between -1 and 1. */
static double noise(size_t i) { return 2 * fmod(0.5 + (double)i * 0.61803398875, 1) - 1; }

static broad_model *fitted(size_t inputs, const char *scale)
{
    double x[ROWS * INPUTS], y[ROWS];
    for (size_t i = 0; i < ROWS * inputs; i++) x[i] = noise(i * i + 7 * i);
    for (size_t i = 0; i < ROWS; i++) y[i] = x[i * inputs] + noise(3 * i);
    broad_data *data = data_of_values(x, y, ROWS, inputs);
    broad_options options;
    broad_options_init(&options);
    assert_ok(broad_options_set(&options, "learned-metric", "no"));
    assert_ok(broad_options_set(&options, "range", "1"));
    assert_ok(broad_options_set(&options, "scale", scale));
    assert_ok(broad_options_set(&options, "features", "1x3"));
    assert_ok(broad_options_set(&options, "enhance", "3x1"));
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &options));
    broad_data_free(data);
    broad__free(model->relevance);
    model->relevance = NULL;
    return model;
}

/* A symmetric root, and the metric that it is of: n x n. */
static void give_root(broad_model *model, double *metric, size_t n)
{
    model->root = broad__alloc_doubles(n, n);
    model->has_root = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            model->root[i * n + j] = model->root[j * n + i] = noise(i * 31 + j * 17) / (1 + (double)j);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) sum += model->root[i * n + k] * model->root[k * n + j];
            metric[i * n + j] = sum;
        }
}

static broad_metric_form form_of(const broad_model *model, double optimism)
{
    broad_learned_metric metric;
    broad_learned_metric_init(&metric);
    assert_ok(broad_model_metric(&metric, model));
    assert_near(metric.optimism, optimism, 0);
    return metric.form;
}

/* By value and by rank an input has two columns. */
static void test_shares(void **state)
{
    (void)state;
    broad_model *model = fitted(INPUTS, "both");
    double metric[COLUMNS * COLUMNS], trace = 0, sum = 0, squares = 0;
    broad_relevance parts[INPUTS];
    give_root(model, metric, COLUMNS);
    model->optimism = 1.25;
    assert_int_equal(form_of(model, 1.25), BROAD_METRIC_FORM_FULL);
    assert_int_equal(broad_model_relevance_parts(model), INPUTS);
    broad_relevance_init(&parts[0]);
    assert_ok(broad_model_find_relevance(parts, model));
    for (size_t j = 0; j < COLUMNS; j++) trace += metric[j * COLUMNS + j];
    for (size_t i = 0; i < INPUTS; i++) {
        double of_input = metric[i * COLUMNS + i] + metric[(i + INPUTS) * COLUMNS + i + INPUTS];
        assert_string_equal(parts[i].part, broad_model_input_name(model, i));
        assert_near(parts[i].share, of_input / trace, 1e-12);
        assert_near(broad_model_relevance(model, i), sqrt(of_input / 2), 1e-12);
        sum += parts[i].share;
        squares += broad_model_relevance(model, i) * broad_model_relevance(model, i);
    }
    assert_near(sum, 1, 1e-12);
    assert_near(squares / INPUTS, trace / COLUMNS, 1e-12);
    broad_model_free(model);
}

/* Eigenvectors of the metric of the inputs, whose two columns move together. */
static void test_directions(void **state)
{
    (void)state;
    broad_model *model = fitted(INPUTS, "both");
    double metric[COLUMNS * COLUMNS], small[INPUTS * INPUTS] = {0}, trace = 0, share[INPUTS], weight[INPUTS * INPUTS];
    give_root(model, metric, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t j = 0; j < COLUMNS; j++) small[i % INPUTS * INPUTS + j % INPUTS] += metric[i * COLUMNS + j];
    for (size_t i = 0; i < INPUTS; i++) trace += small[i * INPUTS + i];
    assert_int_equal(broad_model_directions(model), INPUTS);
    assert_ok(broad_model_find_directions(share, weight, model, INPUTS));
    for (size_t d = 0; d < INPUTS; d++) {
        const double *w = weight + d * INPUTS;
        double largest = 0, length = 0;
        for (size_t i = 0; i < INPUTS; i++) {
            double moved = 0;
            for (size_t j = 0; j < INPUTS; j++) moved += small[i * INPUTS + j] * w[j];
            assert_near(moved, share[d] * trace * w[i], 1e-10 * trace);
            if (fabs(w[i]) > fabs(largest)) largest = w[i];
            length += w[i] * w[i];
        }
        assert_true(largest > 0);
        assert_near(length, 1, 1e-12);
        assert_true(d == 0 || share[d] <= share[d - 1]);
    }
    assert_fails(broad_model_find_directions(share, weight, model, INPUTS + 1), BROAD_USAGE, "more than the model has");
    broad_model_free(model);
}

static void test_diagonal_and_none(void **state)
{
    (void)state;
    broad_model *model = fitted(INPUTS, "standard");
    static const double relevance[INPUTS] = {1.2, 0, 1.6, 0};
    double share, weight[INPUTS];
    broad_relevance parts[INPUTS];
    assert_int_equal(form_of(model, 1), BROAD_METRIC_FORM_NONE);
    assert_int_equal(broad_model_relevance_parts(model), 0);
    assert_near(broad_model_relevance(model, 0), 1, 0);
    broad_relevance_init(&parts[0]);
    assert_ok(broad_model_find_relevance(parts, model));
    model->relevance = broad__alloc_doubles(INPUTS, 1);
    for (size_t i = 0; i < INPUTS; i++) model->relevance[i] = 1;
    assert_int_equal(form_of(model, 1), BROAD_METRIC_FORM_NONE);
    memcpy(model->relevance, relevance, sizeof relevance);
    assert_int_equal(form_of(model, 1), BROAD_METRIC_FORM_DIAGONAL);
    assert_ok(broad_model_find_relevance(parts, model));
    assert_near(parts[0].share, 0.36, 1e-12);
    assert_near(parts[1].share, 0, 0);
    assert_near(parts[2].share, 0.64, 1e-12);
    assert_int_equal(broad_model_directions(model), 0);
    assert_fails(broad_model_find_directions(&share, weight, model, 1), BROAD_USAGE, "(0)");
    broad_model_free(model);
}

/* Components as inputs: the gradient by each descriptor behind them. */
static void give_components(broad_model *model)
{
    model->photo = (broad__photo_spec){.version = BROAD__MAPS_VERSION,
                                       .maps = BROAD_PHOTO_MAP_DESCRIPTORS | BROAD_PHOTO_MAP_WINDOWS,
                                       .side = BROAD__PIXELS_SIDE,
                                       .components = COMPONENTS};
    assert_ok(broad__projection_alloc(&model->projection, &model->photo, 1));
    for (size_t j = 0; j < broad__photo_inputs(&model->photo); j++) {
        model->projection.factor[j] = j % 5 ? 0.5 + fabs(noise(j)) : 0; /* some are the same in all photos */
        for (size_t c = 0; c < COMPONENTS; c++) model->projection.axes[j * COMPONENTS + c] = noise(j * 3 + c);
    }
}

static void test_descriptors(void **state)
{
    (void)state;
    broad_model *model = fitted(COMPONENTS, "standard");
    double metric[COMPONENTS * COMPONENTS], light = 0, sum = 0;
    broad_relevance parts[64];
    give_root(model, metric, COMPONENTS);
    give_components(model);
    const broad__projection *p = &model->projection;
    for (size_t j = 0; j < broad__photo_inputs(&model->photo); j++) {
        double square = 0;
        for (size_t a = 0; a < COMPONENTS && p->factor[j] > 0; a++)
            for (size_t b = 0; b < COMPONENTS; b++)
                square += p->axes[j * COMPONENTS + a] * model->input_factor[a] * metric[a * COMPONENTS + b] *
                          p->axes[j * COMPONENTS + b] * model->input_factor[b] / (p->factor[j] * p->factor[j]);
        char name[BROAD__INPUT_NAME_BYTES];
        broad__photo_input_name(name, &model->photo, j);
        int window = strncmp(name, "window", 6) == 0; /* the inputs of a map share its weight */
        square /= (double)broad__map_inputs(window ? BROAD_PHOTO_MAP_WINDOWS : BROAD_PHOTO_MAP_DESCRIPTORS, 0);
        if (strstr(name, "light_lbp")) light += square;
        sum += square;
    }
    size_t count = broad_model_relevance_parts(model);
    assert_true(count > 10 && count < 64);
    broad_relevance_init(&parts[0]);
    assert_ok(broad_model_find_relevance(parts, model));
    assert_string_equal(parts[0].part, "texture of the brightness");
    assert_near(parts[0].share, light / sum, 1e-12);
    assert_string_equal(parts[count - 2].part, "contrast");
    assert_string_equal(parts[count - 1].part, "windows");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) assert_string_not_equal(parts[i].part, parts[j].part);
    model->photo = (broad__photo_spec){0};
    broad__projection_clear(&model->projection);
    broad_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_diagonal_and_none),
        cmocka_unit_test(test_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
