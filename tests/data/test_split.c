/* Cutting a table in two. */
#include "helper.h"

#include "data/split.h"
#include "data/table.h"
#include "rng/philox.h"

/* Input 0 of a row is its number, so that rows can be followed. */
static broad_data *table_of(size_t rows, const char *const *labels, const char *const *groups)
{
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    double *x = malloc(rows * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < rows; i++) x[i] = (double)i;
    arrays.rows = rows;
    arrays.inputs = 1;
    arrays.x = x;
    arrays.labels = labels;
    if (!labels) {
        arrays.values = x;
        arrays.outputs = 1;
    }
    arrays.groups = groups;
    broad_data *table;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    free(x);
    return table;
}

/* Every row is in exactly one part, in the old order, with its own target and group. */
static void check_parts(const broad_data *whole, const broad_data *train, const broad_data *test)
{
    unsigned char *seen = calloc(whole->rows, 1);
    assert_non_null(seen);
    const broad_data *parts[2] = {train, test};
    assert_int_equal(train->rows + test->rows, whole->rows);
    for (int p = 0; p < 2; p++) {
        assert_int_equal(parts[p]->outputs, whole->outputs);
        double before = -1;
        for (size_t i = 0; i < parts[p]->rows; i++) {
            size_t row = (size_t)parts[p]->x[i];
            assert_true(parts[p]->x[i] > before);
            before = parts[p]->x[i];
            assert_int_equal(seen[row]++, 0);
            if (whole->classes) assert_int_equal(parts[p]->classes[i], whole->classes[row]);
            if (whole->values) assert_true(parts[p]->values[i] == whole->values[row]);
            if (whole->groups) assert_int_equal(parts[p]->groups[i], whole->groups[row]);
        }
    }
    free(seen);
}

static void test_random(void **state)
{
    (void)state;
    broad_data *whole = table_of(1001, NULL, NULL), *train, *test, *again, *again_test;
    assert_ok(broad__split(&train, &test, whole, 0.3, 7));
    check_parts(whole, train, test);
    assert_int_equal(test->rows, 300);
    assert_true(train->split_holdout == 0.3);
    assert_int_equal(train->split_seed, 7);
    assert_true(test->split_holdout == 0);
    assert_ok(broad__split(&again, &again_test, whole, 0.3, 7));
    assert_memory_equal(again->x, train->x, train->rows * sizeof(double));
    broad_data_free(again);
    broad_data_free(again_test);
    assert_ok(broad__split(&again, &again_test, whole, 0.3, 8));
    assert_memory_not_equal(again->x, train->x, train->rows * sizeof(double));
    /* Not simply the first or last rows: every tenth of the table gives some. */
    size_t tenth[10] = {0};
    for (size_t i = 0; i < test->rows; i++) tenth[(size_t)test->x[i] / 101]++;
    for (int i = 0; i < 10; i++) assert_in_range(tenth[i], 12, 50);
    broad_data_free(again);
    broad_data_free(again_test);
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(whole);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The rows that are held out are those with the smallest keys, however many rows there are: here the keys are sorted. */
static void test_smallest_keys(void **state)
{
    (void)state;
    static const size_t counts[] = {2, 37, 4095, 4096, 70000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t rows = counts[c], wanted = (rows + 1) / 2;
        const broad__stream stream = {.seed = 9, .purpose = BROAD__FOR_SPLIT};
        double *keys = malloc(rows * sizeof *keys), *sorted = malloc(rows * sizeof *sorted);
        assert_non_null(keys);
        assert_non_null(sorted);
        broad__random_fill(keys, &stream, 0, rows);
        memcpy(sorted, keys, rows * sizeof *keys);
        qsort(sorted, rows, sizeof *sorted, compare_doubles);
        broad_data *whole = table_of(rows, NULL, NULL), *train, *test;
        assert_ok(broad__split(&train, &test, whole, 0.5, 9));
        assert_int_equal(test->rows, wanted);
        for (size_t i = 0; i < test->rows; i++) assert_true(keys[(size_t)test->x[i]] <= sorted[wanted - 1]);
        broad_data_free(train);
        broad_data_free(test);
        broad_data_free(whole);
        free(keys);
        free(sorted);
    }
}

static void test_by_class(void **state)
{
    (void)state;
    /* 50 a, 30 b, 7 c, 2 d, 1 e */
    static const size_t counts[5] = {50, 30, 7, 2, 1};
    static const char *const names[5] = {"a", "b", "c", "d", "e"};
    const char *labels[90];
    size_t rows = 0;
    for (size_t c = 0; c < 5; c++)
        for (size_t i = 0; i < counts[c]; i++) labels[rows++] = names[c];
    broad_data *whole = table_of(rows, labels, NULL);
    for (uint64_t seed = 0; seed < 20; seed++) {
        static const double holdouts[] = {0.1, 0.25, 0.3, 0.5, 0.9};
        double holdout = holdouts[seed % 5];
        broad_data *train, *test;
        assert_ok(broad__split(&train, &test, whole, holdout, seed));
        check_parts(whole, train, test);
        size_t kept[5] = {0}, apart[5] = {0};
        for (size_t i = 0; i < train->rows; i++) kept[train->classes[i]]++;
        for (size_t i = 0; i < test->rows; i++) apart[test->classes[i]]++;
        assert_int_equal(test->rows, (size_t)floor(holdout * 90 + 0.5));
        for (size_t c = 0; c < 5; c++) {
            assert_true(kept[c] >= 1);
            if (holdout < 0.6) assert_true(fabs((double)apart[c] - holdout * (double)counts[c]) < 1.0001);
        }
        broad_data_free(train);
        broad_data_free(test);
    }
    broad_data_free(whole);
}

/* Many classes of one row: they all stay in training and the large class makes up for them. */
static void test_lonely_classes(void **state)
{
    (void)state;
    enum { LONELY = 500, MANY = 1500 };
    static char names[LONELY][8];
    static const char *labels[LONELY + MANY];
    for (size_t i = 0; i < LONELY; i++) {
        snprintf(names[i], sizeof names[i], "c%zu", i);
        labels[i] = names[i];
    }
    for (size_t i = LONELY; i < LONELY + MANY; i++) labels[i] = "many";
    broad_data *whole = table_of(LONELY + MANY, labels, NULL), *train, *test;
    assert_ok(broad__split(&train, &test, whole, 0.25, 1));
    check_parts(whole, train, test);
    assert_int_equal(test->rows, 500);
    for (size_t i = 0; i < test->rows; i++) assert_string_equal(test->output_names[test->classes[i]], "many");
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(whole);
}

static void check_whole_groups(const broad_data *train, const broad_data *test)
{
    for (size_t i = 0; i < train->rows; i++)
        for (size_t j = 0; j < test->rows; j++) assert_int_not_equal(train->groups[i], test->groups[j]);
}

static void test_by_group(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    static char names[ROWS][8];
    const char *groups[ROWS], *labels[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(names[i], sizeof names[i], "g%zu", i * 7 % 40);
        groups[i] = names[i];
        labels[i] = i % 3 ? "a" : "b";
    }
    broad_data *whole = table_of(ROWS, labels, groups);
    for (uint64_t seed = 0; seed < 10; seed++) {
        broad_data *train, *test;
        assert_ok(broad__split(&train, &test, whole, 0.3, seed));
        check_parts(whole, train, test);
        check_whole_groups(train, test);
        assert_in_range(test->rows, 90 - 4, 90 + 4); /* groups have 7 or 8 rows */
        broad_data_free(train);
        broad_data_free(test);
    }
    broad_data_free(whole);
}

/* Every group is larger than what is wanted: the smallest is taken. */
static void test_large_groups(void **state)
{
    (void)state;
    const char *groups[100];
    for (size_t i = 0; i < 100; i++) groups[i] = i < 55 ? "large" : "small";
    broad_data *whole = table_of(100, NULL, groups), *train, *test;
    assert_ok(broad__split(&train, &test, whole, 0.1, 3));
    check_whole_groups(train, test);
    assert_int_equal(test->rows, 45);
    broad_data_free(train);
    broad_data_free(test);
    assert_ok(broad__split(&train, &test, whole, 0.99, 3));
    assert_in_range(test->rows, 45, 55);
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(whole);
}

static void test_errors(void **state)
{
    (void)state;
    static const double wrong[] = {0, 1, -0.1, 1.5, NAN, INFINITY};
    const char *one_group[3] = {"g", "g", "g"}, *lonely[3] = {"a", "b", "c"};
    broad_data *train, *test, *whole = table_of(3, NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(broad__split(&train, &test, whole, wrong[i], 0), BROAD_USAGE, "between 0 and 1");
        assert_null(train);
        assert_null(test);
    }
    assert_fails(broad__split(&train, &test, whole, 0.1, 0), BROAD_BAD_DATA, "holds out nothing");
    assert_fails(broad__split(&train, &test, whole, 0.9, 0), BROAD_BAD_DATA, "leaves nothing to train on");
    broad_data_free(whole);
    whole = table_of(3, NULL, one_group);
    assert_fails(broad__split(&train, &test, whole, 0.5, 0), BROAD_BAD_DATA, "whole groups");
    broad_data_free(whole);
    whole = table_of(3, lonely, NULL);
    assert_fails(broad__split(&train, &test, whole, 0.5, 0), BROAD_BAD_DATA, "holds out nothing");
    broad_data_free(whole);
    broad_split split = {.size = 3};
    assert_fails(broad_data_split(&train, &test, NULL, &split), BROAD_USAGE, "an argument is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),   cmocka_unit_test(test_smallest_keys),
        cmocka_unit_test(test_by_class), cmocka_unit_test(test_lonely_classes),
        cmocka_unit_test(test_by_group), cmocka_unit_test(test_large_groups),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
