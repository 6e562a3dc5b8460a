/* Which class is taken to mean "nothing wrong". */
#include "helper.h"

#include "data/normal_class.h"
#include "model/normal.h"

static void names_tell(void **state)
{
    (void)state;
    static const struct {
        const char *names[6];
        int found;
    } cases[] = {
        {{"clean", "dusty"}, 0},
        {{"dirty", "ok"}, 1},
        {{"fraud", " O.K. "}, 1},
        {{"Broken", "Clean", "Dusty", "Snow covered"}, 1},
        {{"Bird-drop", "CLEAN", "Dusty", "Electrical-damage", "Physical-Damage", "Snow-Covered"}, 1},
        {{"crack", "no_crack"}, 1},
        {{"crack", "Non-cracked"}, 1},
        {{"hail", "No Damage", "soiled"}, 1},
        {{"no good", "so so"}, BROAD__NO_CLASS},
        {{"not clean", "panel_clean"}, 1},
        {{"no", "yes"}, 0},
        {{"0", "1"}, 0},
        {{"0", "1", "2"}, BROAD__NO_CLASS},
        {{"no", "perhaps", "yes"}, BROAD__NO_CLASS},
        {{"north", "noise"}, BROAD__NO_CLASS},
        {{"tomato healthy", "potato healthy", "tomato blight"}, BROAD__NO_CLASS},
        {{"no_panel", "normal"}, 1},
        {{"\xC3\xA4", ""}, BROAD__NO_CLASS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t count = 0;
        while (count < 6 && cases[i].names[count]) count++;
        assert_int_equal(broad__normal_by_name((char *const *)cases[i].names, count), cases[i].found);
    }
}

/* Rows of two inputs with these labels, `first` of the first one. */
static broad_data *make_rows(const char *a, const char *b, size_t first)
{
    enum { ROWS = 30 };
    static double x[2 * ROWS];
    static const char *labels[ROWS];
    broad_arrays arrays = {.size = sizeof arrays, .x = x, .rows = ROWS, .inputs = 2, .labels = labels};
    broad_data *data = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = sin((double)i * 1.7), x[2 * i + 1] = cos((double)i * 2.9);
        labels[i] = i < first ? a : b;
    }
    assert_ok(broad_data_from_arrays(&data, &arrays));
    return data;
}

static broad_model *fit(const broad_data *data, const char *positive, const char *normal)
{
    broad_model *model = NULL;
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_preset(&o, BROAD_PRESET_PAPER));
    o.enhance_layers = 1, o.enhance_nodes = 2, o.feature_groups = 1, o.feature_nodes = 2;
    o.positive = positive, o.normal = normal;
    assert_ok(broad_fit(&model, NULL, data, &o));
    return model;
}

static void expect(const broad_model *model, size_t normal, size_t positive, const char *reason)
{
    assert_int_equal(broad_model_normal(model), normal);
    assert_int_equal(broad_model_positive(model), positive);
    assert_string_equal(broad_model_normal_reason(model), reason);
}

/* The positive class is the other one of two, unless it was given; a change needs no training and is kept in the file. */
static void models_say(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *positive, *normal;
        size_t first, expected_normal, expected_positive;
        const char *reason;
    } cases[] = {
        {"dirty", "ok", NULL, NULL, 20, 1, 0, "by its name"},
        {"a", "b", NULL, NULL, 20, 0, 1, "the most frequent"},
        {"a", "b", NULL, NULL, 10, 1, 0, "the most frequent"},
        {"a", "b", "b", NULL, 10, 0, 1, "the one that is not positive"},
        {"clean", "dusty", "clean", NULL, 10, 0, 0, "by its name"},
        {"clean", "dusty", NULL, "dusty", 10, 1, 0, "as given"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        broad_data *data = make_rows(cases[i].a, cases[i].b, cases[i].first);
        broad_model *model = fit(data, cases[i].positive, cases[i].normal), *again = NULL;
        void *bytes = NULL;
        size_t count = 0;
        expect(model, cases[i].expected_normal, cases[i].expected_positive, cases[i].reason);
        assert_ok(broad_model_set_normal(model, cases[i].b));
        expect(model, 1, 0, "as given");
        assert_fails(broad_model_set_normal(model, "zebra"), BROAD_USAGE, "zebra");
        assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
        assert_ok(broad_model_from_memory(&again, bytes, count));
        expect(again, 1, 0, "as given");
        broad_free(bytes);
        broad_model_free(model);
        broad_model_free(again);
        broad_data_free(data);
    }
}

/* A file of version 0.1 has neither: what the last class is called decides whether it stays positive. */
static void old_files(void **state)
{
    (void)state;
    char dirty[] = "dirty", ok[] = "ok", sand[] = "sand", *named[] = {dirty, ok}, *others[] = {dirty, sand};
    broad_model model = {.task = BROAD_TASK_CLASSIFY, .outputs = 2, .output_names = named, .positive = 1};
    broad__model_guess_normal(&model);
    expect(&model, 1, 0, "by its name");
    model.output_names = others, model.positive = 1;
    broad__model_guess_normal(&model);
    expect(&model, 0, 1, "the one that is not positive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell),
        cmocka_unit_test(models_say),
        cmocka_unit_test(old_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
