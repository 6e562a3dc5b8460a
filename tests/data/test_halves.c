/* Halves of a table: every row once, units whole, as many units in each, the same from the same seed. */
#include "data_helper.h"

#include "problem.h"

#include "data/halves.h"

enum { ROWS_MAX = 150, NAME = 8 };

typedef struct shape {
    size_t rows, groups; /* groups 0: no group column */
    int copies;          /* every third row has the inputs of an earlier one */
} shape;

/* Target of a row is its number. */
static broad_data *table_of(const shape *s, problem_random *r)
{
    static char names[ROWS_MAX][NAME];
    const char *group_at[ROWS_MAX];
    double x[ROWS_MAX * 2], y[ROWS_MAX];
    for (size_t i = 0; i < s->rows; i++) {
        size_t like = s->copies && i % 3 == 2 ? (size_t)(problem_uniform(r) * (double)i) : i;
        x[2 * i] = like < i ? x[2 * like] : problem_normal(r);
        x[2 * i + 1] = like < i ? x[2 * like + 1] : problem_normal(r);
        y[i] = (double)i;
        snprintf(names[i], NAME, "g%zu", (size_t)(problem_uniform(r) * (double)s->groups) % 1000);
        group_at[i] = names[i];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = s->rows, arrays.inputs = 2, arrays.outputs = 1;
    arrays.x = x, arrays.values = y;
    if (s->groups) arrays.groups = group_at;
    broad_data *table;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    return table;
}

/* half[i]: 1 or 2, as the halves say; each row is in one of them, once, as it was and in its order. */
static void read_halves(int *half, broad_data *const halves[2], const broad_data *table)
{
    memset(half, 0, table->rows * sizeof *half);
    for (int h = 0; h < 2; h++)
        for (size_t i = 0; halves[h] && i < halves[h]->rows; i++) {
            size_t row = (size_t)halves[h]->values[i];
            assert_int_equal(half[row], 0);
            half[row] = h + 1;
            assert_memory_equal(halves[h]->x + 2 * i, table->x + 2 * row, 2 * sizeof(double));
            if (i) assert_true(halves[h]->values[i - 1] < halves[h]->values[i]);
            if (table->groups) assert_int_equal(halves[h]->groups[i], table->groups[row]);
        }
    for (size_t i = 0; i < table->rows; i++) assert_true(half[i]);
}

static int one_unit(const broad_data *table, size_t a, size_t b)
{
    if (table->groups) return table->groups[a] == table->groups[b];
    return table->x[2 * a] == table->x[2 * b] && table->x[2 * a + 1] == table->x[2 * b + 1];
}

static void check_units(const int *half, const broad_data *table)
{
    size_t units[3] = {0};
    for (size_t i = 0; i < table->rows; i++) {
        size_t first = 0;
        while (!one_unit(table, first, i)) first++;
        assert_int_equal(half[first], half[i]);
        if (first == i) units[half[i]]++;
    }
    assert_true(units[1] <= units[2] + 1 && units[2] <= units[1] + 1);
}

static void halves_have_whole_units(void **state)
{
    (void)state;
    static const shape shapes[] = {{150, 0, 0}, {150, 0, 1}, {149, 40, 0}, {150, 7, 1}, {31, 2, 0}, {2, 0, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            problem_random r = {100 * s + seed};
            int half[ROWS_MAX], again[ROWS_MAX];
            unsigned char told[ROWS_MAX];
            broad_data *table = table_of(&shapes[s], &r), *halves[2], *same[2];
            assert_ok(broad__halves_make(halves, told, table, seed));
            assert_ok(broad__halves_make(same, NULL, table, seed));
            read_halves(half, halves, table);
            read_halves(again, same, table);
            assert_memory_equal(half, again, table->rows * sizeof *half);
            for (size_t i = 0; i < table->rows; i++) assert_int_equal(told[i] + 1, half[i]);
            check_units(half, table);
            for (int h = 0; h < 2; h++) broad__table_free(halves[h]), broad__table_free(same[h]);
            broad_data_free(table);
        }
}

/* Pairs of rows as they come are parted, so that what is sorted is in both halves alike; which one is where is drawn. */
static void halves_are_even_and_drawn(void **state)
{
    (void)state;
    problem_random r = {4};
    int half[ROWS_MAX], other[ROWS_MAX];
    size_t firsts = 0;
    broad_data *table = table_of(&(shape){150, 0, 0}, &r), *halves[2], *more[2];
    assert_ok(broad__halves_make(halves, NULL, table, 1));
    assert_ok(broad__halves_make(more, NULL, table, 2));
    read_halves(half, halves, table);
    read_halves(other, more, table);
    for (size_t i = 0; i < 150; i += 2) {
        assert_int_equal(half[i] + half[i + 1], 3);
        firsts += half[i] == 1;
    }
    assert_true(firsts > 20 && firsts < 55); /* of 75 */
    assert_memory_not_equal(half, other, sizeof half);
    for (int h = 0; h < 2; h++) broad__table_free(halves[h]), broad__table_free(more[h]);
    broad_data_free(table);
}

/* One unit is one half, and the other is not there. */
static void one_unit_is_one_half(void **state)
{
    (void)state;
    static const shape shapes[] = {{1, 0, 0}, {30, 1, 0}};
    for (size_t s = 0; s < 2; s++) {
        problem_random r = {4};
        broad_data *table = table_of(&shapes[s], &r), *halves[2];
        assert_ok(broad__halves_make(halves, NULL, table, 3));
        assert_true((halves[0] == NULL) != (halves[1] == NULL));
        assert_int_equal((halves[0] ? halves[0] : halves[1])->rows, shapes[s].rows);
        broad__table_free(halves[0]), broad__table_free(halves[1]);
        broad_data_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_have_whole_units),
        cmocka_unit_test(halves_are_even_and_drawn),
        cmocka_unit_test(one_unit_is_one_half),
    };
    return cmocka_run_group_tests_name("halves", tests, NULL, NULL);
}
