/* Rows in the order of what they hold: the same however they lie, any number of them, as good as random. */
#include "data_helper.h"

#include "problem.h"

#include "data/row_order.h"

enum { ROWS = 500, INPUTS = 3 };

typedef struct rows_of {
    double x[ROWS * INPUTS], weights[ROWS];
    const char *labels[ROWS];
} rows_of;

/* Many zeros, missing values, and rows that differ in their label or weight alone. */
static void fill(rows_of *out)
{
    static const char *const names[] = {"a", "b", "c"};
    problem_random r = {3};
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < INPUTS; j++) out->x[i * INPUTS + j] = floor(4 * problem_uniform(&r));
        if (i % 7 == 0) out->x[i * INPUTS + 1] = (double)NAN;
        out->labels[i] = names[(size_t)(3 * problem_uniform(&r))];
        out->weights[i] = 1 + floor(2 * problem_uniform(&r));
    }
}

static broad_data *table_of(const rows_of *rows, const size_t *place)
{
    rows_of moved;
    for (size_t i = 0; i < ROWS; i++) {
        memcpy(moved.x + i * INPUTS, rows->x + place[i] * INPUTS, INPUTS * sizeof(double));
        for (size_t j = 0; j < INPUTS; j++)
            if (i % 2 && moved.x[i * INPUTS + j] == 0) moved.x[i * INPUTS + j] = -0.0;
        moved.labels[i] = rows->labels[place[i]];
        moved.weights[i] = rows->weights[place[i]];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = INPUTS, arrays.x = moved.x, arrays.missing = BROAD_MISSING_MEAN;
    arrays.labels = moved.labels, arrays.weights = moved.weights;
    broad_data *table;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    return table;
}

static void assert_same_row(const broad_data *a, size_t row, const broad_data *b, size_t other)
{
    for (size_t j = 0; j < INPUTS; j++) {
        double x = a->x[row * INPUTS + j], y = b->x[other * INPUTS + j];
        assert_true(x == y || (isnan(x) && isnan(y)));
    }
    assert_string_equal(a->output_names[a->classes[row]], b->output_names[b->classes[other]]);
    assert_true(a->weights[row] == b->weights[other]);
}

static void place_does_not_matter(void **state)
{
    (void)state;
    static rows_of rows;
    size_t straight[ROWS], mixed[ROWS], first[ROWS], second[ROWS];
    fill(&rows);
    for (size_t i = 0; i < ROWS; i++) straight[i] = i, mixed[i] = (i * 37 + 11) % ROWS;
    broad_data *a = table_of(&rows, straight), *b = table_of(&rows, mixed);
    assert_ok(broad__row_order(first, ROWS, a, 0, ROWS));
    assert_ok(broad__row_order(second, ROWS, b, 0, ROWS));
    for (size_t i = 0; i < ROWS; i++) assert_same_row(a, first[i], b, second[i]);
    /* Equal rows lie together, and every row is there. */
    unsigned char seen[ROWS] = {0};
    for (size_t i = 0; i < ROWS; i++) assert_false(seen[first[i]]++);
    /* Some of them: the first of all. */
    for (size_t count = 1; count < ROWS; count += 29) {
        assert_ok(broad__row_order(second, count, a, 0, ROWS));
        assert_memory_equal(first, second, count * sizeof *first);
    }
    assert_ok(broad__row_order(second, 0, a, 0, 0));
    broad_data_free(a), broad_data_free(b);
}

/* Rows of a part are numbered from its beginning; half of them come from its first half. */
static void parts_and_chance(void **state)
{
    (void)state;
    enum { MANY = 4000, FIRST = 500, COUNT = 1000 };
    double *x = malloc(MANY * sizeof *x);
    size_t order[COUNT], early = 0;
    for (size_t i = 0; i < MANY; i++) x[i] = (double)i;
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = MANY, arrays.inputs = 1, arrays.x = x, arrays.values = x, arrays.outputs = 1;
    broad_data *table;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    assert_ok(broad__row_order(order, COUNT, table, FIRST, MANY - FIRST));
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(order[i] < MANY - FIRST);
        early += order[i] < (MANY - FIRST) / 2;
    }
    print_message("%zu of %d from the first half\n", early, COUNT);
    assert_true(early > 430 && early < 570); /* 500 +- 4.4 standard deviations of 16, drawn once and for all */
    broad_data_free(table);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(place_does_not_matter), cmocka_unit_test(parts_and_chance)};
    return cmocka_run_group_tests_name("row_order", tests, NULL, NULL);
}
