/* Columns of categories and of weights in a model, and in its file. */
#include "helper.h"

#include "data/read.h"
#include "sample_model.h"

static broad_data *read_rows(const char *text, const char *weight)
{
    broad_read_options options;
    broad_read_options_init(&options);
    options.categorical = "auto";
    options.weight = weight;
    broad_data *data;
    assert_ok(broad__read_bytes(&data, "data", text, strlen(text), &options, NULL));
    return data;
}

static const char training[] = "a,colour,w,label\n1,red,1,no\n2,blue,2,yes\n3,green,1,no\n4,blue,3,yes\n5,red,1,no\n"
                               "2,green,1,no\n3,blue,2,yes\n1,green,1,no\n";

static broad_model *fitted(const char *weight)
{
    broad_data *data = read_rows(training, weight);
    broad_options options;
    broad_options_init(&options);
    assert_ok(broad_options_preset(&options, BROAD_PRESET_PAPER));
    assert_ok(broad_options_set(&options, "kind", "brls"));
    assert_ok(broad_options_set(&options, "features", "1x3"));
    assert_ok(broad_options_set(&options, "enhance", "3x1"));
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &options));
    broad_data_free(data);
    return model;
}

static void test_model_file(void **state)
{
    (void)state;
    broad_model *model = fitted("w"), *back = NULL, *copy = NULL;
    void *bytes = NULL;
    size_t count = 0;
    assert_string_equal(model->weight_name, "w");
    assert_int_equal(model->categories.count, 1);
    assert_int_equal(model->categories.items[0].first, 1);
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    assert_ok(broad_model_from_memory(&back, bytes, count));
    assert_string_equal(back->weight_name, "w");
    assert_true(broad__categories_same(&back->categories, &model->categories));
    assert_ok(broad__model_copy(&copy, back));
    assert_true(broad__categories_same(&copy->categories, &model->categories));
    assert_string_equal(copy->weight_name, "w");
    broad_free(bytes);
    broad_model_free(copy);
    broad_model_free(back);
    broad_model_free(model);
}

static void check_damage(const char *from, const char *to, const char *message)
{
    broad_model *model = fitted(NULL), *back = NULL;
    unsigned char *bytes = NULL;
    void *block = NULL;
    size_t count = 0;
    assert_int_equal(strlen(from), strlen(to));
    assert_ok(broad_model_to_memory(&block, &count, model, 0));
    bytes = block;
    unsigned char *at = memmem(bytes, count, from, strlen(from));
    if (!at) fail_msg("no %s in the model", from);
    memcpy(at, to, strlen(to));
    sample_repair(bytes, count);
    assert_fails(broad_model_from_memory(&back, bytes, count), BROAD_BAD_MODEL, message);
    assert_null(back);
    broad_free(block);
    broad_model_free(model);
}

static void test_bad_model_file(void **state)
{
    (void)state;
#define LIST "\\\"categories\\\":[{\\\"name\\\":\\\"colour\\\",\\\"first\\\":1,\\\"levels\\\":[\\\"blue\\\","
#define SAME_LIST(first, level)                                                                                        \
    "\\\"categories\\\":[{\\\"name\\\":\\\"colour\\\",\\\"first\\\":" first ",\\\"levels\\\":[\\\"" level "\\\","
    check_damage(LIST, SAME_LIST("9", "blue"), "category 1: inputs 10 to 12 of 5 are not free for it");
    check_damage(LIST, SAME_LIST("3", "blue"), "category 1: inputs 4 to 6 of 5 are not free for it");
    check_damage(LIST, SAME_LIST("0", "blue"), "category 1: input 'a' is not its level 'blue'");
    check_damage(LIST, SAME_LIST("1", "bluE"), "category 1: input 'colour=blue' is not its level 'bluE'");
    check_damage("\\\"levels\\\":[\\\"blue\\\",", "\\\"levels\\\":[\\\"\\\",    ", "levels: name 1 is empty");
    check_damage("\\\"categories\\\":[{\\\"name\\\"", "\\\"categories\\\":[{\\\"nam_\\\"",
                 "category 1: name is missing");
    check_damage("\\\"levels\\\":[\\\"blue\\\",", "\\\"level_\\\":[\\\"blue\\\",", "category 1: levels is missing");
    check_damage("\\\"levels\\\":[\\\"blue\\\",", "\\\"levels\\\":[   12345,", "levels: name 1 is not text");
    check_damage("\\\"categories\\\":[{", "\\\"categoriez\\\":[{", "model: categories is missing");
    check_damage("\\\"weight_name\\\":null", "\\\"weight_name\\\":1234", "model: weight_name is not text");
    check_damage("\\\"levels\\\":[\\\"blue\\\",\\\"green\\\",\\\"red\\\"]",
                 "\\\"levels\\\":[]                          ", "category 1: levels is not a list of 1 to 10000 names");
}

/* Rows that do not fit the model are refused where they are to be trained on. */
static void test_rows_for_a_model(void **state)
{
    (void)state;
    broad_model *model = fitted("w");
    broad_data *data = read_rows(training, NULL); /* w is an input here */
    broad_options options;
    broad_options_init(&options);
    broad_trainer *trainer = NULL;
    assert_fails(broad_trainer_resume(&trainer, model, data, &options, 0), BROAD_BAD_DATA, "the data has 5 inputs");
    broad_data_free(data);
    static const char without[] = "a,colour,label\n1,red,no\n2,blue,yes\n3,green,no\n4,blue,yes\n5,red,no\n2,green,no\n"
                                  "3,blue,yes\n1,green,no\n";
    data = read_rows(without, NULL);
    assert_fails(broad_trainer_resume(&trainer, model, data, &options, 0), BROAD_BAD_DATA,
                 "the model was trained with weights (column 'w'), and the data has none");
    data->named = 0;
    data->categories.items[0].levels[0][0] = 'B';
    assert_fails(broad_trainer_resume(&trainer, model, data, &options, 1), BROAD_BAD_DATA,
                 "the levels of the data's columns of categories are not those of the model");
    broad_data_free(data);
    broad_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_file),
        cmocka_unit_test(test_bad_model_file),
        cmocka_unit_test(test_rows_for_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
