/* Tables from arrays: whatever the type and the strides, the table is that of a file with the same values. */
#include "helper.h"

enum { ROWS = 40, INPUTS = 3 };

static const char *const level_names[] = {"red", "green", "blue"};
static double x[ROWS][INPUTS], y[ROWS], weights[ROWS];
static const char *groups[ROWS];

/* Values that single precision holds exactly; the second column is codes of colours, the third lacks some values. */
static void make_rows(void)
{
    static const char *const names[] = {"g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8"};
    for (int i = 0; i < ROWS; i++) {
        x[i][0] = (i * 37 % 64) / 8.0;
        x[i][1] = i % 3;
        x[i][2] = i % 9 == 4 ? (double)NAN : (i * 11 % 32) / 4.0 - 3;
        y[i] = x[i][0] - i % 3;
        weights[i] = 1 + i % 4;
        groups[i] = names[i / 5];
    }
}

static broad_data *from_file(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "a,colour,b,w,g,target\n");
    for (int i = 0; i < ROWS; i++) {
        fprintf(file, "%.17g,%s,", x[i][0], level_names[i % 3]);
        if (!isnan(x[i][2])) fprintf(file, "%.17g", x[i][2]);
        fprintf(file, ",%.17g,%s,%.17g\n", weights[i], groups[i], y[i]);
    }
    fclose(file);
    broad_read_options read;
    broad_read_options_init(&read);
    read.target = "target";
    read.weight = "w";
    read.group = "g";
    read.categorical = "colour";
    read.missing = BROAD_MISSING_MEAN;
    read.task = BROAD_TASK_REGRESS;
    broad_data *data = NULL;
    assert_ok(broad_data_read(&data, path, &read));
    return data;
}

static broad_arrays arrays_of(const void *numbers, broad_number type, size_t row_stride, size_t column_stride)
{
    static const char *const names[] = {"a", "colour", "b"};
    static const broad_array_category category = {.input = 1, .count = 3, .levels = level_names};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS;
    arrays.inputs = INPUTS;
    arrays.x = numbers;
    arrays.type = type;
    arrays.row_stride = row_stride;
    arrays.column_stride = column_stride;
    arrays.missing = BROAD_MISSING_MEAN;
    arrays.values = y;
    arrays.outputs = 1;
    arrays.names = names;
    arrays.groups = groups;
    arrays.weights = weights;
    arrays.categories = &category;
    arrays.category_count = 1;
    return arrays;
}

static void same_table(const broad_data *a, const broad_data *b)
{
    assert_int_equal(broad_data_inputs(a), broad_data_inputs(b));
    for (size_t j = 0; j < broad_data_inputs(a); j++)
        assert_string_equal(broad_data_input_name(a, j), broad_data_input_name(b, j));
    for (size_t i = 0; i < ROWS; i++) {
        assert_memory_equal(broad_data_row(a, i), broad_data_row(b, i), broad_data_inputs(a) * sizeof(double));
        assert_true(broad_data_value(a, i, 0) == broad_data_value(b, i, 0));
        assert_true(broad_data_weight(a, i) == broad_data_weight(b, i));
        assert_int_equal(broad_data_group(a, i), broad_data_group(b, i));
    }
}

/* Trained on both, the bytes of the models agree. */
static void same_model(const broad_data *a, const broad_data *b)
{
    double scores[2][ROWS];
    const broad_data *both[] = {a, b};
    for (int k = 0; k < 2; k++) {
        broad_options options;
        broad_model *model = NULL;
        broad_options_init(&options);
        assert_ok(broad_options_set(&options, "features", "2x5"));
        assert_ok(broad_options_set(&options, "enhance", "10x1"));
        assert_ok(broad_fit(&model, NULL, both[k], &options));
        assert_ok(broad_predict_data(scores[k], model, both[k], NULL));
        broad_model_free(model);
    }
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
}

static void arrays_are_like_a_file(void **state)
{
    (void)state;
    static double columns[INPUTS][ROWS];
    static float single[ROWS][INPUTS + 2];
    char path[] = "/tmp/broad_arrays_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    make_rows();
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < INPUTS; j++) columns[j][i] = x[i][j], single[i][j] = (float)x[i][j];
    broad_arrays forms[] = {
        arrays_of(x, BROAD_NUMBER_DOUBLE, 0, 0),
        arrays_of(columns, BROAD_NUMBER_DOUBLE, 1, ROWS),
        arrays_of(single, BROAD_NUMBER_FLOAT, INPUTS + 2, 1),
    };
    broad_data *read = from_file(path);
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        broad_data *data = NULL;
        assert_ok(broad_data_from_arrays(&data, &forms[k]));
        same_table(data, read);
        same_model(data, read);
        broad_data_free(data);
    }
    broad_data_free(read);
    unlink(path);
}

static void bytes_become_numbers(void **state)
{
    (void)state;
    static const uint8_t pixels[2][3] = {{0, 128, 255}, {7, 8, 9}};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 2;
    arrays.inputs = 3;
    arrays.x = pixels;
    arrays.type = BROAD_NUMBER_UINT8;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_true(broad_data_row(data, 0)[2] == 255 && broad_data_row(data, 1)[0] == 7);
    broad_data_free(data);
}

static void borrowed_numbers_stay_where_they_are(void **state)
{
    (void)state;
    static double numbers[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 4;
    arrays.inputs = 2;
    arrays.x = numbers;
    arrays.borrow = 1;
    broad_data *data = NULL, *part = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_ptr_equal(broad_data_row(data, 1), numbers[1]);
    broad_data *both = NULL;
    assert_ok(broad_data_pick(&part, data, (size_t[]){3}, 1));
    assert_ok(broad_data_append(&both, data, part));
    broad_data_free(data);
    assert_true(numbers[3][1] == 8 && broad_data_row(part, 0)[1] == 8 && broad_data_row(both, 4)[1] == 8);
    broad_data_free(part);
    broad_data_free(both); /* what is copied is owned: the leak sanitizer would tell */
    arrays.column_stride = 2;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "can be borrowed");
    arrays.column_stride = 0;
    arrays.type = BROAD_NUMBER_FLOAT;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "can be borrowed");
}

static void bad_arrays_are_refused(void **state)
{
    (void)state;
    make_rows();
    broad_data *data = NULL;
    broad_arrays arrays = arrays_of(x, BROAD_NUMBER_DOUBLE, 0, 0);
    arrays.missing = BROAD_MISSING_ERROR;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_BAD_DATA, "BROAD_MISSING_MEAN");
    arrays = arrays_of(x, BROAD_NUMBER_DOUBLE, 0, 0);
    broad_array_category short_one = {.input = 1, .count = 2, .levels = level_names};
    arrays.categories = &short_one;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_BAD_DATA, "the code 2 is not from 0 to 1");
    short_one.input = 3;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "out of range");
    short_one = (broad_array_category){.input = 1, .count = 2, .levels = (const char *const[]){"red", "red"}};
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "given twice");
    arrays = arrays_of(x, (broad_number)9, 0, 0);
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "broad_number");
    arrays = arrays_of(x, BROAD_NUMBER_DOUBLE, 2, 1);
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "row stride");
    arrays = arrays_of(x, BROAD_NUMBER_DOUBLE, 0, 0);
    arrays.inputs = SIZE_MAX; /* refused before anything is counted */
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "inputs; at most 4194304 are allowed");
    assert_null(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_like_a_file),
        cmocka_unit_test(bytes_become_numbers),
        cmocka_unit_test(borrowed_numbers_stay_where_they_are),
        cmocka_unit_test(bad_arrays_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
