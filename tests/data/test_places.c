/* Files without names for a model: their columns are those of the training file, which the model remembers. */
#include "data_helper.h"

#include "data/read.h"

/* How a file is read; "no" for the header everywhere but where there is one. */
typedef struct manner {
    const char *target, *ignore, *group, *weight, *inputs, *labels;
    int named, optional;
} manner;

static int read_rows(broad_data **out, const char *text, const manner *how, const broad__columns *columns)
{
    broad_read_options options;
    broad_read_options_init(&options);
    options.header = how->named ? "yes" : "no";
    options.target = how->target;
    options.ignore = how->ignore;
    options.group = how->group;
    options.weight = how->weight;
    options.inputs = how->inputs;
    options.labels = how->labels;
    options.target_optional = how->optional;
    return broad__read_bytes(out, "data", text, strlen(text), &options, columns);
}

/* What a model that was trained on the table knows of it. */
static broad__columns columns_of(const broad_data *data)
{
    return (broad__columns){.inputs = data->inputs,
                            .outputs = data->outputs,
                            .task = data->task,
                            .input_names = (const char *const *)data->input_names,
                            .output_names = (const char *const *)data->output_names,
                            .target_name = data->target_name,
                            .group_name = data->group_name,
                            .weight_name = data->weight_name,
                            .named = data->named,
                            .places = data->places,
                            .categories = data->categories,
                            .forms = data->forms,
                            .missing = data->missing};
}

/* All tables here have the inputs (1, 2) and (3, 4) and the targets 5 and 6; where there are two, 7 and 8 besides. */
static void check_rows(const broad_data *data, const char *text, int targets)
{
    static const double x[4] = {1, 2, 3, 4}, y[2] = {5, 6}, both[4] = {5, 7, 6, 8};
    if (data->rows != 2 || data->inputs != 2 || memcmp(data->x, x, sizeof x) != 0)
        fail_msg("'%s': other inputs than in training", text);
    if (!targets && data->task != BROAD_TASK_AUTO) fail_msg("'%s': there should be no targets", text);
    if (targets && (data->outputs != (size_t)targets ||
                    memcmp(data->values, targets == 1 ? y : both, 2 * (size_t)targets * sizeof *y) != 0))
        fail_msg("'%s': other targets than in training", text);
}

typedef struct later_file {
    const char *text;
    manner how;
    int targets;
    const char *message; /* NULL: it is read */
} later_file;

/* Reads a training file, then later ones as a model of it does. */
static void check_files(const char *training, manner how, const later_file *files, size_t count, int targets)
{
    broad_data *trained = NULL, *data = NULL;
    if (read_rows(&trained, training, &how, NULL) < 0) fail_msg("'%s': %s", training, broad_error_message());
    check_rows(trained, training, targets);
    broad__columns columns = columns_of(trained);
    for (size_t i = 0; i < count; i++) {
        int status = read_rows(&data, files[i].text, &files[i].how, &columns);
        if (files[i].message) {
            if (status != BROAD_BAD_DATA || !strstr(broad_error_message(), files[i].message))
                fail_msg("'%s': \"%s\" where \"%s\" was expected", files[i].text, broad_error_message(),
                         files[i].message);
            continue;
        }
        if (status < 0) fail_msg("'%s': %s", files[i].text, broad_error_message());
        check_rows(data, files[i].text, files[i].targets);
        broad_data_free(data);
    }
    broad_data_free(trained);
}

#define CHECK_FILES(training, how, files, targets)                                                                     \
    check_files(training, how, files, sizeof(files) / sizeof *(files), targets)

static void test_target_before_inputs(void **state)
{
    (void)state;
    static const later_file files[] = {
        {"5,1,2\n6,3,4\n", {0}, 1, NULL},
        {"y,a,b\n5,1,2\n6,3,4\n", {.named = 1}, 1, NULL},
        {"b,y,a\n2,5,1\n4,6,3\n", {.named = 1}, 1, NULL},
        {"1,2\n3,4\n", {.optional = 1}, 0, NULL},
        {"1,2\n3,4\n", {0}, 0, "there is no column for the target 'y'"},
        {"1,2,5\n3,4,6\n", {.target = "3"}, 1, NULL},
        {"9,5,1,2\n9,6,3,4\n", {.group = "1"}, 1, NULL},
        {"5,9,1,2\n6,9,3,4\n", {.group = "2"}, 1, NULL},
        {"5,1,2,9\n6,3,4,9\n", {.weight = "4"}, 1, NULL},
        {"5,1,2,\n6,3,4,\n", {0}, 1, NULL},
        {"5,1,2,9\n6,3,4,9\n", {0}, 0, "4 columns; the model needs 2 inputs, or 3 columns with the target"},
    };
    CHECK_FILES("y,a,b\n5,1,2\n6,3,4\n", ((manner){.named = 1, .target = "y"}), files, 1);
    static const later_file nameless[] = {
        {"5,1,2\n6,3,4\n", {0}, 1, NULL},
        {"1,2,5\n3,4,6\n", {.target = "3"}, 1, NULL},
        {"5,9,1,2\n6,9,3,4\n", {.group = "2"}, 1, NULL},
    };
    CHECK_FILES("5,1,2\n6,3,4\n", ((manner){.target = "1"}), nameless, 1);
}

static void test_column_left_out(void **state)
{
    (void)state;
    static const later_file files[] = {
        {"k,1,2,5\nl,3,4,6\n", {0}, 1, NULL},
        {"k,1,2,5\nl,3,4,6\n", {.optional = 1}, 1, NULL},
        {"k,1,2,\nl,3,4,\n", {.optional = 1}, 0, NULL}, /* like separators at the end of every line */
        {"k,1,2,\nl,3,4,\n", {0}, 0, "there is no column for the target"},
        {"k,1,2,5,\nl,3,4,6,\n", {0}, 1, NULL},
        {"k,1,2,5\nl,3,4,6\n", {.group = "1"}, 1, NULL},
        {"5,1,2,9\n6,3,4,9\n", {.target = "1"}, 1, NULL},
        {"k,1,2,5\nl,3,4,6\n", {.target = "2"}, 0, "cannot also be its target, group or weight"},
        {"k,1,2,5\nl,3,4,6\n", {.group = "3"}, 0, "cannot also be its target, group or weight"},
        {"k,1,2,5\nl,3,4,6\n", {.target = "1,4"}, 0, "2 target columns, but the model has 1"},
        {"1,2\n3,4\n", {.optional = 1}, 0, NULL},
        {"1,2,5\n3,4,6\n", {0}, 1, NULL}, /* a target is needed: it cannot be the missing column */
        {"1,2,5\n3,4,6\n", {.target = "3"}, 1, NULL},
        {"9,1,2\n9,3,4\n",
         {.optional = 1},
         0,
         "3 columns may be those of the training file without the target, or the inputs with it; give all 4 columns"},
        {"1,2,3,4,5\n1,2,3,4,5\n", {0}, 0, "or the 4 columns of its training file; remove the others"},
    };
    CHECK_FILES("k,1,2,5\nl,3,4,6\n", ((manner){.ignore = "1"}), files, 1);
    CHECK_FILES("k,1,2,5\nl,3,4,6\n", ((manner){.inputs = "2,3"}), files, 1);
    CHECK_FILES("id,a,b,y\nk,1,2,5\nl,3,4,6\n", ((manner){.named = 1, .ignore = "id"}), files, 1);
}

/* The inputs are the same columns whether the file has the target or what was left out: nothing to refuse. */
static void test_column_left_out_behind(void **state)
{
    (void)state;
    static const later_file files[] = {
        {"1,2,9,5\n3,4,9,6\n", {0}, 1, NULL},
        {"1,2,5\n3,4,6\n", {.optional = 1}, 1, NULL},
        {"1,2,\n3,4,\n", {.optional = 1}, 0, NULL},
    };
    CHECK_FILES("1,2,9,5\n3,4,9,6\n", ((manner){.ignore = "3"}), files, 1);
}

static void test_several_targets(void **state)
{
    (void)state;
    static const later_file files[] = {
        {"7,1,9,5,2\n8,3,9,6,4\n", {0}, 2, NULL},           {"1,9,2\n3,9,4\n", {.optional = 1}, 0, NULL},
        {"1,2\n3,4\n", {.optional = 1}, 0, NULL},           {"7,1,5,2\n8,3,6,4\n", {0}, 2, NULL},
        {"7,1,5,2\n8,3,6,4\n", {.target = "3,1"}, 2, NULL},
    };
    CHECK_FILES("7,1,9,5,2\n8,3,9,6,4\n", ((manner){.target = "4,1", .ignore = "3"}), files, 2);
    CHECK_FILES("z,a,c,y,b\n7,1,9,5,2\n8,3,9,6,4\n", ((manner){.named = 1, .target = "y,z", .ignore = "c"}), files, 2);
}

static void test_group_and_weight(void **state)
{
    (void)state;
    static const later_file files[] = {
        {"3,7,1,k,5,2\n4,8,3,k,6,4\n", {0}, 1, NULL},
        {"3,7,1,k,2\n4,8,3,k,4\n", {.optional = 1}, 0, NULL},
        {"3,7,1,5,2\n4,8,3,6,4\n", {0}, 1, NULL}, /* nothing but what was left out is absent */
        {"1,5,2\n3,6,4\n", {0}, 1, NULL},
        {"1,2\n3,4\n", {.optional = 1}, 0, NULL},
    };
    broad_data *trained = NULL, *data = NULL;
    static const manner how = {.group = "1", .weight = "2", .target = "5", .ignore = "4"},
                        named = {.named = 1, .group = "g", .weight = "w", .target = "y", .ignore = "k"};
    CHECK_FILES("3,7,1,k,5,2\n4,8,3,k,6,4\n", how, files, 1);
    CHECK_FILES("g,w,a,k,y,b\n3,7,1,k,5,2\n4,8,3,k,6,4\n", named, files, 1);

    assert_ok(read_rows(&trained, "g,w,a,k,y,b\n3,7,1,k,5,2\n4,8,3,k,6,4\n", &named, NULL));
    broad__columns columns = columns_of(trained);
    for (size_t i = 0; i < 3; i += 2) {
        assert_ok(read_rows(&data, files[i].text, &files[i].how, &columns));
        assert_true(data->groups && data->groups[0] != data->groups[1]);
        assert_true(data->weights && data->weights[0] == 7 && data->weights[1] == 8);
        broad_data_free(data);
    }
    broad_data_free(trained);
}

/* The targets are elsewhere: those of the training file are passed over. */
static void test_labels_apart(void **state)
{
    (void)state;
    char folder[HELPER_PATH], labels[HELPER_PATH];
    temporary_folder(folder);
    join_path(labels, folder, "labels");
    write_text(labels, "5\n6\n");
    const later_file files[] = {
        {"k,0,1,2\nl,0,3,4\n", {.labels = labels}, 1, NULL},
        {"k,1,2\nl,3,4\n", {.labels = labels}, 1, NULL},
        {"1,2\n3,4\n", {.labels = labels}, 1, NULL},
    };
    CHECK_FILES("k,5,1,2\nl,6,3,4\n", ((manner){.ignore = "1", .target = "2"}), files, 1);
    const later_file without[] = {
        {"k,1,2\nl,3,4\n", {.labels = labels}, 1, NULL},
        {"k,1,2\nl,3,4\n", {.optional = 1}, 0, NULL},
        {"1,2,5\n3,4,6\n", {0}, 1, NULL},
    };
    CHECK_FILES("k,1,2\nl,3,4\n", ((manner){.ignore = "1", .labels = labels}), without, 1);
    remove_folder(folder);
}

/* A column of categories is one column, whatever its levels, and is found again. */
static void test_categories(void **state)
{
    (void)state;
    static const manner how = {.target = "2", .ignore = "1"}, plain = {0};
    static const char text[] = "k,1,red,3\nl,2,blue,4\nm,3,red,5\nn,4,blue,6\n";
    broad_data *trained = NULL, *data = NULL;
    assert_ok(read_rows(&trained, text, &how, NULL));
    assert_int_equal(trained->inputs, 3);
    broad__columns columns = columns_of(trained);
    assert_ok(read_rows(&data, text, &plain, &columns));
    assert_memory_equal(data->x, trained->x, 12 * sizeof *data->x);
    assert_memory_equal(data->values, trained->values, 4 * sizeof *data->values);
    broad_data_free(data);
    broad_data_free(trained);
}

/* Inputs, then targets: there is nothing to remember. */
static void test_nothing_to_remember(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        manner how;
        size_t places;
    } rows[] = {
        {"1,2,5\n3,4,6\n", {0}, 0},
        {"a,b,y\n1,2,5\n3,4,6\n", {.named = 1}, 0},
        {"1,2,5\n3,4,6\n", {.target = "2,3"}, 0},
        {"1,2,5,\n3,4,6,\n", {0}, 0},
        {"1,2,5\n3,4,6\n", {.target = "3,2"}, 3}, /* 1 input, then target 2, then target 1 */
        {"1,2,5\n3,4,6\n", {.target = "1"}, 2},
        {"1,2,5\n3,4,6\n", {.weight = "2"}, 3},
        {"2 1:3 2:4\n5 1:6 2:7\n", {0}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        broad_data *data = NULL;
        if (read_rows(&data, rows[i].text, &rows[i].how, NULL) < 0)
            fail_msg("'%s': %s", rows[i].text, broad_error_message());
        if (data->places.count != rows[i].places)
            fail_msg("'%s': %zu places, not %zu", rows[i].text, data->places.count, rows[i].places);
        broad_data_free(data);
    }
}

/* More targets than the model has are refused by name, too. */
static void test_too_many_targets(void **state)
{
    (void)state;
    static const later_file files[] = {
        {"a,b,y,z\n1,2,5,7\n3,4,6,8\n", {.named = 1, .target = "y,z"}, 0, "2 target columns, but the model has 1"},
        {"a,b,y,z\n1,2,5,7\n3,4,6,8\n", {.named = 1, .target = "y"}, 1, NULL},
    };
    CHECK_FILES("a,b,y\n1,2,5\n3,4,6\n", ((manner){.named = 1}), files, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_before_inputs),
        cmocka_unit_test(test_column_left_out),
        cmocka_unit_test(test_column_left_out_behind),
        cmocka_unit_test(test_several_targets),
        cmocka_unit_test(test_group_and_weight),
        cmocka_unit_test(test_labels_apart),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_nothing_to_remember),
        cmocka_unit_test(test_too_many_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
