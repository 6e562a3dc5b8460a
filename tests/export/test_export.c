/* Models for other programs, through the library: options, rows, memory that gives out. What the files compute is compared by
 * tests/cli/cli_export.py and, for every kind of model, in lab/tests. */
#include "small_runs.h"

#include "failing.h"

static broad_model *fit(const small_kind *kind)
{
    broad_data *data = small_data(0, 40, 3, kind->regress ? 0 : 3);
    broad_options options = small_options(kind, 1);
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &options));
    broad_data_free(data);
    return model;
}

static char *c_of(const broad_model *model, const broad_export_options *options, broad_exported *about)
{
    char *text = NULL;
    size_t count = 0;
    assert_ok(broad_model_export_c(&text, &count, about, model, options));
    assert_int_equal(strlen(text), count);
    return text;
}

static void the_name_is_in_front(void **state)
{
    (void)state;
    broad_model *model = fit(&small_kinds[1]);
    broad_export_options options;
    broad_export_options_init(&options);
    char *text = c_of(model, NULL, NULL);
    assert_non_null(strstr(text, "int model_predict(const MODEL_ROW *row, model_real *scores);"));
    broad_free(text);
    options.name = "Roof_7";
    text = c_of(model, &options, NULL);
    assert_non_null(strstr(text, "int Roof_7_predict(const ROOF_7_ROW *row, Roof_7_real *scores);"));
    assert_null(strstr(text, "model_"));
    broad_free(text);
    static const char *const bad[] = {"", "7", "a-b", "a b", "\303\244", "a234567890123456789012345678901234567890x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t count = 0;
        options.name = bad[i];
        assert_fails(broad_model_export_c(&text, &count, NULL, model, &options), BROAD_USAGE,
                     "cannot begin names of C");
        assert_null(text);
    }
    broad_model_free(model);
}

static void smaller_forms_are_smaller(void **state)
{
    (void)state;
    broad_model *model = fit(&small_kinds[0]);
    size_t bytes[3] = {0};
    for (int p = BROAD_EXPORT_DOUBLE; p <= BROAD_EXPORT_INT8; p++) {
        broad_export_options options;
        broad_exported about;
        broad_export_options_init(&options);
        broad_exported_init(&about);
        options.precision = (broad_export_precision)p;
        broad_free(c_of(model, &options, &about));
        bytes[p] = about.table_bytes;
        assert_false(about.drawn);
        assert_int_equal(about.stack_bytes, (3 + 6) * (p ? sizeof(float) : sizeof(double)));
        options.compact = 1;
        broad_free(c_of(model, &options, &about));
        assert_true(about.table_bytes <= bytes[p]);
        if (p == BROAD_EXPORT_DOUBLE) assert_true(about.drawn);
    }
    assert_true(bytes[0] > bytes[1] && bytes[1] > bytes[2]);
    broad_export_options options = {.size = sizeof options, .precision = (broad_export_precision)3};
    char *text = NULL;
    size_t count = 0;
    assert_fails(broad_model_export_c(&text, &count, NULL, model, &options), BROAD_USAGE, "there is no precision 3");
    broad_model_free(model);
}

static void intervals_need_rows(void **state)
{
    (void)state;
    const small_kind kind = {"", "kind=bscrls weights=joint features=2x3 enhance=4x2 lambda=auto loo=yes", 1};
    broad_model *model = fit(&kind), *classes = fit(&small_kinds[1]);
    broad_export_options options;
    broad_exported about;
    char *text = NULL;
    size_t count = 0;
    broad_export_options_init(&options);
    broad_exported_init(&about);
    broad_free(c_of(model, &options, &about));
    assert_true(about.level == 0.9);
    options.level = 0.5;
    broad_free(c_of(model, &options, &about));
    assert_true(about.level == 0.5);
    assert_fails(broad_model_export_c(&text, &count, NULL, classes, &options), BROAD_USAGE,
                 "intervals are for numbers");
    options.level = 0.99;
    assert_fails(broad_model_export_c(&text, &count, NULL, model, &options), BROAD_USAGE, "level 0.99");
    broad_model_free(model);
    broad_model_free(classes);
}

static void levels_become_codes(void **state)
{
    (void)state;
    static const char *const levels[] = {"red", "green", "blue"};
    double x[60][3], y[60], codes[3];
    for (int i = 0; i < 60; i++) x[i][0] = i % 7, x[i][1] = i % 3, x[i][2] = i % 5, y[i] = x[i][0] + 2 * x[i][1];
    broad_array_category category = {.input = 1, .count = 3, .levels = levels};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 60, arrays.inputs = 3, arrays.x = x, arrays.values = y, arrays.outputs = 1;
    arrays.missing = BROAD_MISSING_MEAN;
    arrays.categories = &category, arrays.category_count = 1;
    broad_data *data = NULL;
    broad_model *model = NULL;
    broad_options options = small_options(&small_kinds[1], 1);
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_ok(broad_fit(&model, NULL, data, &options));
    assert_int_equal(broad_model_inputs(model), 5);
    assert_int_equal(broad_export_columns(model), 3);
    for (size_t i = 0; i < 60; i++) {
        assert_ok(broad_export_rows(codes, model, broad_data_row(data, i), 1, 0));
        assert_true(codes[0] == x[i][0] && codes[2] == x[i][2]);
        assert_string_equal(broad_model_category_level(model, 0, (size_t)codes[1]), levels[(int)x[i][1]]);
    }
    const double unknown[] = {1, (double)NAN, (double)NAN, (double)NAN, 2};
    assert_ok(broad_export_rows(codes, model, unknown, 1, 5));
    assert_true(codes[1] == -1 && codes[2] == 2);
    broad_model_free(model);
    broad_data_free(data);
}

/* Allocations fail in turn, after the first fifty only some: a clear status, no file, nothing lost. */
static void memory_gives_out(void **state)
{
    (void)state;
    static const size_t kinds[] = {2, 4, 8};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        broad_model *model = fit(&small_kinds[kinds[k]]);
        broad_export_options options;
        broad_export_options_init(&options);
        options.precision = BROAD_EXPORT_INT8;
        int status = BROAD_NO_MEMORY;
        for (size_t n = 1; status == BROAD_NO_MEMORY; n += 1 + n / 50) {
            failing memory = {.fail_at = n, .lock = PTHREAD_MUTEX_INITIALIZER};
            broad_allocator allocator = {failing_allocate, failing_release, &memory};
            char *text = NULL;
            void *bytes = NULL;
            size_t count = 0;
            broad_set_allocator(&allocator);
            status = broad_model_export_c(&text, &count, NULL, model, &options);
            assert_true((status == BROAD_OK) == (text != NULL));
            if (!status) status = broad_model_export_onnx(&bytes, &count, NULL, model, NULL);
            assert_true((status == BROAD_OK) == (bytes != NULL));
            broad_free(text);
            broad_free(bytes);
            broad_set_allocator(NULL);
            assert_int_equal(memory.live, 0);
            assert_true(status == BROAD_OK || status == BROAD_NO_MEMORY);
        }
        broad_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_is_in_front), cmocka_unit_test(smaller_forms_are_smaller),
        cmocka_unit_test(intervals_need_rows),  cmocka_unit_test(levels_become_codes),
        cmocka_unit_test(memory_gives_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
