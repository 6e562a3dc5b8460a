/* Rows that are copies of one another, against a comparison of all pairs. */
#include "data_helper.h"

#include "folder.h"
#include "problem.h"

#include "base/memory.h"
#include "data/copies.h"

enum { ROWS = 600, INPUTS = 3, KINDS = 40 };

/* Few kinds of inputs, each with few targets: some rows are copies, others differ in the target alone. */
static broad_data *make_table(uint64_t seed, int targets)
{
    static double x[ROWS * INPUTS], y[ROWS];
    problem_random r = {seed};
    double kinds[KINDS * INPUTS];
    for (size_t i = 0; i < KINDS * INPUTS; i++) kinds[i] = problem_uniform(&r);
    for (size_t i = 0; i < ROWS; i++) {
        size_t kind = (size_t)(KINDS * problem_uniform(&r));
        memcpy(x + i * INPUTS, kinds + kind * INPUTS, INPUTS * sizeof(double));
        y[i] = floor(targets * problem_uniform(&r));
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = INPUTS, arrays.x = x, arrays.values = y, arrays.outputs = 1;
    broad_data *table;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    return table;
}

static void as_all_pairs_say(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        broad_data *table = make_table(seed, seed % 2 ? 3 : 20);
        size_t first[ROWS], copies = 0, opposed = 0;
        for (size_t i = 0; i < ROWS; i++) {
            int known = 0;
            first[i] = i;
            for (size_t k = 0; k < i && first[i] == i; k++) {
                if (!broad__inputs_same(table, i, k)) continue;
                known = 1;
                if (table->values[i] == table->values[k]) first[i] = k;
            }
            copies += first[i] != i;
            opposed += first[i] == i && known;
        }
        assert_true(copies > 0 && opposed > 50);
        broad__free(table->groups), broad__free(table->group_name);
        table->groups = NULL, table->group_name = NULL;
        broad__copies found;
        assert_ok(broad__copies_group(&found, table));
        assert_int_equal(found.rows, copies);
        assert_int_equal(found.opposed, opposed);
        assert_non_null(table->groups);
        for (size_t i = 0; i < ROWS; i++) assert_int_equal(table->groups[i], first[i]);
        broad_data_free(table);
    }
}

/* In a table that lies in files, rows are looked for in parts, by their inputs: of these all are in one, whose slots are too few at
 * first. Every row has a target of its own, but for the last ones. */
static void many_targets_of_one_row_of_inputs(void **state)
{
    (void)state;
    enum { MANY = 60000, AGAIN = 7, MEMORY = 1 << 20 };
    char path[HELPER_PATH];
    join_path(path, folder, "same.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,b,y\n", file);
    for (size_t i = 0; i < MANY; i++) fprintf(file, "1.5,-2,%zu.5\n", i < MANY - AGAIN ? i : i - MANY / 2);
    fclose(file);
    broad_read_options options;
    broad_read_options_init(&options);
    options.memory = MEMORY;
    broad_data *table = NULL;
    assert_ok(broad_data_read(&table, path, &options));
    assert_non_null(table->spill);
    broad__copies found;
    if (!table->groups) assert_ok(broad__copies_group(&found, table));
    if (!table->groups) assert_int_equal(found.rows, AGAIN);
    for (size_t i = 0; table->groups && i < MANY; i++)
        assert_int_equal(table->groups[i], i < MANY - AGAIN ? i : i - MANY / 2);
    broad_data_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_all_pairs_say),
                                       cmocka_unit_test(many_targets_of_one_row_of_inputs)};
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
