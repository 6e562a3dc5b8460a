/* Tables from arrays, fingerprints, scaling. */
#include "data_helper.h"

#include "base/hash.h"
#include "data/transform/scale.h"
#include "model/model.h"

static broad_arrays small_arrays(void)
{
    static const double x[] = {1, 2, -1, 3, 4, -1, 5, 6, -1, 7, 8, -1};
    static const char *const labels[] = {"b", "a", "b", "c"};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 4;
    arrays.inputs = 2;
    arrays.row_stride = 3;
    arrays.x = x;
    arrays.labels = labels;
    return arrays;
}

static void test_from_arrays(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int64_t numbers[] = {10, -2, 9, 10};
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char *const names[] = {"u", "v"}, *const groups[] = {"p", "q", "p", "p"};
    broad_arrays arrays = small_arrays();
    broad_data *data;
    static const double weights[] = {1, 0.5, 3, 1e-3};
    arrays.names = names;
    arrays.groups = groups;
    arrays.weights = weights;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_memory_equal(data->x, x, sizeof x);
    assert_int_equal(broad_data_outputs(data), 3);
    assert_int_equal(broad_data_class(data, 0), 1);
    assert_string_equal(broad_data_output_name(data, 2), "c");
    assert_string_equal(broad_data_input_name(data, 1), "v");
    assert_int_equal(broad_data_format(data), BROAD_FORMAT_MEMORY);
    assert_true(broad_data_row(data, 2)[1] == 6);
    assert_int_equal(data->groups[0], data->groups[3]);
    assert_int_not_equal(data->groups[0], data->groups[1]);
    for (size_t i = 0; i < 4; i++) assert_true(broad_data_weight(data, i) == weights[i]);
    assert_string_equal(data->weight_name, "weight");
    broad_data_free(data);

    arrays.labels = NULL;
    arrays.classes = numbers;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_string_equal(broad_data_output_name(data, 0), "-2");
    assert_string_equal(broad_data_output_name(data, 1), "9");
    assert_int_equal(broad_data_class(data, 3), 2);
    broad_data_free(data);

    arrays.classes = NULL;
    arrays.values = values;
    arrays.outputs = 2;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_int_equal(broad_data_task(data), BROAD_TASK_REGRESS);
    assert_true(broad_data_value(data, 1, 1) == 4);
    broad_data_free(data);

    arrays.values = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_int_equal(broad_data_task(data), BROAD_TASK_AUTO);
    assert_int_equal(broad_data_outputs(data), 0);
    broad_data_free(data);
    broad_data_free(NULL);
}

static void test_bad_arrays(void **state)
{
    (void)state;
    static const double infinite[] = {1, INFINITY}, hole[] = {1, 2, 3, NAN};
    static const int64_t classes[4] = {0};
    static const char *const one[] = {"a", "a", "a", "a"}, *const absent[] = {"a", NULL, "b", "c"},
                             *const empty[] = {"a", "", "b", "c"}, *const names[] = {"a", "\xFF"};
    broad_data *data;
    broad_arrays good = small_arrays(), arrays = good;
    arrays.size = 0;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "_init");
    arrays = good;
    arrays.rows = 0;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "needs rows");
    arrays = good;
    arrays.row_stride = 1;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "stride");
    arrays = good;
    arrays.classes = classes;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "one of labels");
    arrays = good;
    arrays.labels = one;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_BAD_DATA, "only one class, 'a'");
    arrays.labels = absent;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "row 2: the label is NULL");
    arrays.labels = empty;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_BAD_DATA, "a label is empty");
    arrays = good;
    arrays.names = names;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "name of input 2");
    arrays = good;
    arrays.labels = NULL;
    arrays.values = hole;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_USAGE, "outputs");
    arrays.outputs = 1;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_BAD_DATA, "row 4: the target is not finite");
    arrays = good;
    arrays.rows = 1;
    arrays.labels = NULL;
    arrays.x = infinite;
    assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_BAD_DATA, "row 1, input 2 is not finite");
    arrays = good;
    static const double weights[][4] = {{1, 0, 1, 1}, {1, -1, 1, 1}, {1, NAN, 1, 1}, {1, INFINITY, 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        arrays.weights = weights[i];
        assert_fails(broad_data_from_arrays(&data, &arrays), BROAD_BAD_DATA, "row 2: the weight ");
    }
    assert_null(data);
}

static void test_targets(void **state)
{
    (void)state;
    broad_arrays arrays = small_arrays();
    broad_data *data;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    static const double expected[12] = {0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    double found[12];
    memset(found, 7, sizeof found);
    broad__table_targets(found, data);
    assert_memory_equal(found, expected, sizeof expected);
    broad_data_free(data);
}

static void test_fingerprint(void **state)
{
    (void)state;
    broad_arrays arrays = small_arrays();
    broad_data *data;
    char whole[33], other[33], part[33];
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_ok(broad__table_fingerprint(whole, data, 0, 4));
    assert_int_equal(strlen(whole), 32);
    assert_ok(broad__table_fingerprint(other, data, 0, 4));
    assert_string_equal(whole, other);
    assert_ok(broad__table_fingerprint(other, data, 0, 3));
    assert_string_not_equal(whole, other);
    data->x[7] += 1e-12;
    assert_ok(broad__table_fingerprint(other, data, 0, 4));
    assert_string_not_equal(whole, other);
    data->x[7] -= 1e-12;
    data->x[7] = 8;
    data->classes[3] = 0;
    assert_ok(broad__table_fingerprint(other, data, 0, 4));
    assert_string_not_equal(whole, other);
    /* Rows 1 and 2 of the whole are rows 0 and 1 of a part. */
    broad_data *rows;
    assert_ok(broad__table_rows(&rows, data, (const size_t[]){1, 2}, 2));
    assert_ok(broad__table_fingerprint(other, data, 1, 2));
    assert_ok(broad__table_fingerprint(part, rows, 0, 2));
    assert_string_equal(part, other);
    assert_ok(broad__table_rows(&rows, (broad_data_free(rows), data), (const size_t[]){2, 1}, 2));
    assert_ok(broad__table_fingerprint(part, rows, 0, 2));
    assert_string_not_equal(part, other);
    broad_data_free(rows);
    broad_data_free(data);
}

/* By hand from the numbers; weights change it only where there are any. */
static void test_fingerprint_and_weights(void **state)
{
    (void)state;
    broad_arrays arrays = small_arrays();
    static const double weights[] = {1, 2, 3, 4}, ones[] = {1, 1, 1, 1};
    struct {
        uint64_t shape[4];
        double x[8];
        uint64_t classes[4];
        double weights[4];
    } plain = {{4, 2, 0, BROAD_TASK_CLASSIFY}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 0, 1, 2}, {1, 2, 3, 4}};
    broad_data *data;
    char found[33], expected[33], other[33];
    assert_ok(broad_data_from_arrays(&data, &arrays));
    for (size_t i = 0; i < 4; i++) assert_int_equal(data->classes[i], plain.classes[i]);
    assert_ok(broad__table_fingerprint(found, data, 0, 4));
    broad_data_free(data);
    broad__hash_text(expected, &plain, sizeof plain - sizeof plain.weights);
    assert_string_equal(found, expected);
    arrays.weights = weights;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_ok(broad__table_fingerprint(found, data, 0, 4));
    broad__hash_text(expected, &plain, sizeof plain);
    assert_string_equal(found, expected);

    /* Rows keep their weights when they are picked, split and joined. */
    broad_data *rows, *train, *test, *both;
    assert_ok(broad_data_pick(&rows, data, (const size_t[]){2, 1}, 2));
    assert_true(rows->weights[0] == 3 && rows->weights[1] == 2);
    assert_string_equal(rows->weight_name, "weight");
    broad_split split;
    broad_split_init(&split);
    split.holdout = 0.5;
    assert_ok(broad_data_split(&train, &test, data, &split));
    for (size_t i = 0; i < train->rows; i++) assert_true(train->weights[i] == (train->x[2 * i] + 1) / 2);
    for (size_t i = 0; i < test->rows; i++) assert_true(test->weights[i] == (test->x[2 * i] + 1) / 2);
    assert_ok(broad_data_append(&both, data, rows));
    static const double joined[] = {1, 2, 3, 4, 3, 2};
    assert_memory_equal(both->weights, joined, sizeof joined);
    assert_ok(broad__table_fingerprint(found, both, 4, 2));
    assert_ok(broad__table_fingerprint(other, rows, 0, 2));
    assert_string_equal(found, other);
    broad_data_free(both);
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(rows);
    assert_fails(broad_data_pick(&rows, data, (const size_t[]){1, 4}, 2), BROAD_USAGE, "row index 4 is out of range");
    assert_fails(broad_data_pick(&rows, data, (const size_t[]){1}, 0), BROAD_USAGE, "no rows are given");

    /* Weights that are all 1 are weights too; rows with and without do not mix. */
    broad_data *without;
    arrays.weights = NULL;
    assert_ok(broad_data_from_arrays(&without, &arrays));
    assert_fails(broad_data_append(&both, data, without), BROAD_BAD_DATA, "have weights and those of the other do not");
    assert_fails(broad_data_append(&both, without, data), BROAD_BAD_DATA, "give weights to both or neither");
    broad_data_free(data);
    arrays.weights = ones;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_ok(broad__table_fingerprint(found, data, 0, 4));
    assert_ok(broad__table_fingerprint(other, without, 0, 4));
    assert_string_not_equal(found, other);
    broad_data_free(without);
    broad_data_free(data);
}

static void test_training_part(void **state)
{
    (void)state;
    broad_arrays arrays = small_arrays();
    static const double values[] = {1, 2, 3, 4};
    arrays.labels = NULL;
    arrays.values = values;
    arrays.outputs = 1;
    broad_data *data, *train, *test, *part;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    broad_split split;
    broad_split_init(&split);
    split.holdout = 0.5;
    split.seed = 3;
    assert_ok(broad_data_split(&train, &test, data, &split));
    struct broad_model model = {
        .rows = train->rows, .split_holdout = train->split_holdout, .split_seed = train->split_seed};
    assert_ok(broad_data_training_part(&part, data, &model));
    assert_int_equal(part->rows, 2);
    assert_memory_equal(part->x, train->x, 4 * sizeof(double));
    broad_data_free(part);
    assert_ok(broad_data_training_part(&part, train, &model)); /* already the training part */
    assert_memory_equal(part->x, train->x, 4 * sizeof(double));
    broad_data_free(part);
    model.split_holdout = 0;
    assert_ok(broad_data_training_part(&part, data, &model));
    assert_int_equal(part->rows, 4);
    broad_data_free(part);
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(data);
}

typedef struct columns_scaled {
    double shift[70], factor[70], fill[70];
} columns_scaled;

static void scale_fit(columns_scaled *out, broad_scale how, const double *x, size_t rows, size_t columns)
{
    broad__scaling_arrays arrays = {.shift = out->shift, .factor = out->factor, .fill = out->fill};
    assert_ok(broad__scaling_fit(&arrays, how, &(broad__column_rows){.x = x, .rows = rows, .columns = columns}));
}

static broad__scaling scaling_of(const columns_scaled *s, size_t columns, const double *fill)
{
    return (broad__scaling){BROAD_SCALE_STANDARD, columns, columns, s->shift, s->factor, fill, NULL};
}

/* Zeros of either sign and all NaNs count as one, wherever they stand. */
static void test_fingerprint_odd(void **state)
{
    (void)state;
    enum { ROWS = 3000, COLUMNS = 3 };
    static double x[ROWS * COLUMNS], y[ROWS * COLUMNS];
    static const size_t odd[] = {0, 4095, 4096, 8999};
    for (size_t i = 0; i < ROWS * COLUMNS; i++) y[i] = x[i] = (double)(i % 97);
    for (size_t k = 0; k < 4; k++) {
        x[odd[k]] = k % 2 ? (double)NAN : 0.0;
        y[odd[k]] = k % 2 ? -(double)NAN : -0.0;
        broad_data a = {.rows = ROWS, .inputs = COLUMNS, .x = x}, b = {.rows = ROWS, .inputs = COLUMNS, .x = y};
        char of_a[33], of_b[33], plain[33];
        broad__hash *hash = broad__hash_open();
        assert_non_null(hash);
        broad__hash_add(hash, (uint64_t[]){ROWS, COLUMNS, 0, BROAD_TASK_AUTO}, 4 * sizeof(uint64_t));
        broad__hash_add(hash, x, sizeof x);
        broad__hash_close(plain, hash);
        assert_ok(broad__table_fingerprint(of_a, &a, 0, ROWS));
        assert_ok(broad__table_fingerprint(of_b, &b, 0, ROWS));
        assert_string_equal(of_a, plain);
        assert_string_equal(of_b, plain);
    }
}

static void test_scale_standard(void **state)
{
    (void)state;
    /* 70 columns: more than one block; column j has mean 1e6 + j and spread j + 1, far from zero. */
    enum { ROWS = 101, COLUMNS = 70 };
    static double x[ROWS * COLUMNS], scaled[ROWS * COLUMNS];
    columns_scaled s;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = 1e6 + (double)j + (double)(j + 1) * ((double)i - 50) / 25;
    x[3] = NAN;
    scale_fit(&s, BROAD_SCALE_STANDARD, x, ROWS, COLUMNS);
    broad__scaling scaling = scaling_of(&s, COLUMNS, s.fill);
    broad__scaling_apply(scaled, &scaling, x, ROWS, COLUMNS);
    for (size_t j = 0; j < COLUMNS; j++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < ROWS; i++) mean += scaled[i * COLUMNS + j] / ROWS;
        for (size_t i = 0; i < ROWS; i++) squares += scaled[i * COLUMNS + j] * scaled[i * COLUMNS + j] / ROWS;
        assert_true(fabs(mean) < 1e-9);
        assert_true(fabs(squares - (j == 3 ? 100.0 / 101 : 1)) < 1e-8);
    }
    assert_true(fabs(scaled[3]) < 1e-12); /* the missing value became the mean */
    assert_true(fabs(s.fill[5] - 1000005) < 1e-9);
    broad__scaling_apply(x, &scaling, x, ROWS, COLUMNS); /* in place */
    assert_memory_equal(x, scaled, sizeof x);
}

/* In whatever parts the columns come, each sum is the plain one, row by row, to the last bit. */
static void test_column_sums(void **state)
{
    (void)state;
    enum { ROWS = 70, COLUMNS = 1103 };
    static double x[ROWS * COLUMNS];
    static broad__column_sums sums[COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++) x[i] = sin((double)i) * exp(cos((double)(i % 1009)) * 20);
    x[40 * COLUMNS + 700] = x[3] = x[69 * COLUMNS + 1102] = NAN;
    broad__column_rows rows = {.x = x, .rows = ROWS, .columns = COLUMNS};
    for (size_t part = 1; part <= 2 * COLUMNS; part = 7 * part + 20) {
        for (size_t first = 0; first < COLUMNS; first += part)
            broad__column_sums_part(sums, &rows, 1, first, first + part < COLUMNS ? first + part : COLUMNS);
        for (size_t j = 0; j < COLUMNS; j++) {
            broad__column_sums s = {.min = INFINITY, .max = -INFINITY};
            for (size_t i = 0; i < ROWS; i++) {
                double value = x[i * COLUMNS + j];
                if (isnan(value)) continue;
                s.sum += value, s.count++;
                s.min = fmin(s.min, value), s.max = fmax(s.max, value);
            }
            for (size_t i = 0; i < ROWS; i++) {
                long double distance = x[i * COLUMNS + j] - s.sum / (long double)s.count;
                if (!isnan(x[i * COLUMNS + j])) s.squares += distance * distance;
            }
            if (sums[j].sum != s.sum || sums[j].squares != s.squares || sums[j].count != s.count ||
                sums[j].min != s.min || sums[j].max != s.max)
                fail_msg("parts of %zu: column %zu is wrong", part, j);
        }
    }
}

static void test_scale_others(void **state)
{
    (void)state;
    /* columns: ordinary, constant, empty, huge, tiny */
    double x[] = {1, 5, NAN, -1.7e308, 0, 3, 5, NAN, 1.7e308, 5e-324};
    double out[10];
    columns_scaled s;
    static const broad_scale scales[] = {BROAD_SCALE_NONE, BROAD_SCALE_MINMAX, BROAD_SCALE_STANDARD};
    for (int k = 0; k < 3; k++) {
        scale_fit(&s, scales[k], x, 2, 5);
        broad__scaling scaling = scaling_of(&s, 5, s.fill);
        broad__scaling_apply(out, &scaling, x, 2, 5);
        for (int i = 0; i < 10; i++) assert_true(isfinite(out[i]) && isfinite(s.factor[i % 5]) && s.factor[i % 5] > 0);
        assert_true(s.fill[0] == 2 && s.fill[1] == 5 && s.fill[2] == 0);
        assert_true(s.factor[1] == 1 && s.factor[2] == 1);
    }
    scale_fit(&s, BROAD_SCALE_MINMAX, x, 2, 5);
    broad__scaling in_place = scaling_of(&s, 5, NULL);
    broad__scaling_apply(x, &in_place, x, 2, 5);
    assert_true(x[0] == 0 && x[5] == 1 && x[1] == 0);
    for (size_t i = 0; i < 10; i++) assert_true(isfinite(x[i]));
    double strided[] = {1, 2, 9, 3, 4, 9}, flat[4];
    broad__scaling same = scaling_of(&(columns_scaled){.factor = {1, 1}}, 2, NULL);
    broad__scaling_apply(flat, &same, strided, 2, 3);
    assert_true(flat[2] == 3 && flat[3] == 4);
}

static void fail_each(const broad_arrays *arrays)
{
    memory_watch watch;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        broad_data *data = NULL, *train = NULL, *test = NULL;
        broad_split split;
        broad_split_init(&split);
        watch_start(&watch, n);
        int status = broad_data_from_arrays(&data, arrays);
        if (status == BROAD_OK) status = broad_data_split(&train, &test, data, &split);
        broad_data_free(data);
        broad_data_free(train);
        broad_data_free(test);
        watch_stop();
        assert_int_equal(watch.live, 0);
        if (status == BROAD_OK) break;
        assert_int_equal(status, BROAD_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
}

/* Rows that are joined keep their groups, and those of the second table are others than those of the first. */
static void test_joined_groups(void **state)
{
    (void)state;
    static const char *const groups[] = {"p", "q", "p", "p"};
    broad_arrays arrays = small_arrays();
    for (int which = 0; which < 4; which++) { /* bit 0: groups in the first, bit 1: in the second */
        broad_data *a, *b, *both, *three;
        arrays.groups = which & 1 ? groups : NULL;
        assert_ok(broad_data_from_arrays(&a, &arrays));
        arrays.groups = which & 2 ? groups : NULL;
        assert_ok(broad_data_from_arrays(&b, &arrays));
        assert_ok(broad_data_append(&both, a, b));
        assert_ok(broad_data_append(&three, both, a));
        assert_int_equal(both->groups != NULL, which != 0);
        if (which) assert_string_equal(both->group_name, "group");
        for (size_t i = 0; which && i < 12; i++)
            for (size_t k = 0; k < 12; k++) {
                int grouped = i / 4 == 1 ? which & 2 : which & 1;
                int together = i == k || (i / 4 == k / 4 && grouped && strcmp(groups[i % 4], groups[k % 4]) == 0);
                assert_int_equal(three->groups[i] == three->groups[k], together);
                if (i < 8 && k < 8) assert_int_equal(both->groups[i] == both->groups[k], together);
            }
        broad_data_free(a), broad_data_free(b), broad_data_free(both), broad_data_free(three);
    }
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    static const double values[] = {1, 2, 3, 4};
    static const char *const groups[] = {"p", "q", "p", "p"};
    static const int64_t classes[] = {1, 1, 2, 2};
    broad_arrays arrays = small_arrays();
    arrays.labels = NULL;
    arrays.classes = classes;
    fail_each(&arrays);
    arrays.classes = NULL;
    arrays.values = values;
    arrays.outputs = 1;
    fail_each(&arrays);
    arrays.groups = groups;
    arrays.weights = values;
    fail_each(&arrays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_arrays),
        cmocka_unit_test(test_bad_arrays),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_fingerprint_and_weights),
        cmocka_unit_test(test_training_part),
        cmocka_unit_test(test_fingerprint_odd),
        cmocka_unit_test(test_scale_standard),
        cmocka_unit_test(test_column_sums),
        cmocka_unit_test(test_scale_others),
        cmocka_unit_test(test_joined_groups),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
