/* Folds of a table: properties over many random shapes, and what is refused. */
#include "data_helper.h"

#include "data/folds.h"
#include "rng/philox.h"

enum { ROWS_MAX = 120, NAME = 8 };

typedef struct shape {
    size_t rows, classes, groups, folds; /* classes 0: a regression; groups 0: no group column */
    uint64_t seed;
} shape;

typedef struct dice {
    broad__stream stream;
    uint64_t next;
} dice;

/* A whole number from low to high. */
static size_t roll(dice *d, size_t low, size_t high)
{
    return low + (size_t)(broad__random_at(&d->stream, d->next++) * (double)(high - low + 1));
}

/* Input 0 of a row is its number. Small numbers are more frequent as classes and groups, so that sizes differ. */
static broad_data *table_of(const shape *s, dice *d)
{
    static char labels[ROWS_MAX][NAME], groups[ROWS_MAX][NAME];
    const char *label_at[ROWS_MAX], *group_at[ROWS_MAX];
    double x[ROWS_MAX];
    for (size_t i = 0; i < s->rows; i++) {
        size_t class = s->classes ? roll(d, 0, roll(d, 0, s->classes - 1)) : 0;
        size_t group = s->groups ? roll(d, 0, roll(d, 0, s->groups - 1)) : 0;
        if (i < 2 * s->classes) class = i / 2; /* two rows of each class at least */
        if (i < s->groups) group = i;
        snprintf(labels[i], NAME, "c%zu", class % 1000);
        snprintf(groups[i], NAME, "g%zu", group % 1000);
        label_at[i] = labels[i];
        group_at[i] = groups[i];
        x[i] = (double)i;
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = s->rows;
    arrays.inputs = 1;
    arrays.x = x;
    if (s->classes) arrays.labels = label_at;
    else arrays.values = x;
    arrays.outputs = s->classes ? 0 : 1;
    if (s->groups) arrays.groups = group_at;
    broad_data *table;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    return table;
}

static int cut(broad_data **train, broad_data **test, const broad_data *table, size_t count, size_t index,
               uint64_t seed)
{
    broad_folds folds;
    broad_folds_init(&folds);
    folds.count = count;
    folds.index = index;
    folds.seed = seed;
    return broad_data_fold(train, test, table, &folds);
}

/* Each row of a part once, in the old order, with its own target and group; out[row] = value. */
static void follow_rows(size_t *out, size_t value, const broad_data *part, const broad_data *whole)
{
    double before = -1;
    assert_int_equal(part->outputs, whole->outputs);
    assert_true(part->split_holdout == 0 && part->split_seed == 0);
    for (size_t i = 0; i < part->rows; i++) {
        size_t row = (size_t)part->x[i];
        assert_true(part->x[i] > before);
        before = part->x[i];
        assert_int_equal(out[row], SIZE_MAX);
        out[row] = value;
        if (whole->classes) assert_int_equal(part->classes[i], whole->classes[row]);
        if (whole->values) assert_true(part->values[i] == whole->values[row]);
        if (whole->groups) assert_int_equal(part->groups[i], whole->groups[row]);
    }
}

/* fold_of[row] from the parts themselves; fails unless every row is tested on exactly once, and trained on otherwise. */
static void folds_of(size_t *fold_of, const broad_data *table, const shape *s)
{
    for (size_t i = 0; i < table->rows; i++) fold_of[i] = SIZE_MAX;
    for (size_t f = 0; f < s->folds; f++) {
        broad_data *train, *test;
        size_t sides[ROWS_MAX];
        for (size_t i = 0; i < table->rows; i++) sides[i] = SIZE_MAX;
        assert_ok(cut(&train, &test, table, s->folds, f, s->seed));
        assert_true(train->rows > 0 && test->rows > 0);
        assert_int_equal(train->rows + test->rows, table->rows);
        follow_rows(fold_of, f, test, table);
        follow_rows(sides, 0, test, table);
        follow_rows(sides, 1, train, table);
        broad_data_free(train);
        broad_data_free(test);
    }
    for (size_t i = 0; i < table->rows; i++) assert_true(fold_of[i] < s->folds);
}

/* Largest less smallest number of rows of a fold, among the rows where mine[i] == value, or all where mine is NULL. */
static size_t spread(const size_t *fold_of, size_t rows, size_t folds, const size_t *mine, size_t value)
{
    size_t counts[ROWS_MAX] = {0}, low = SIZE_MAX, high = 0;
    for (size_t i = 0; i < rows; i++)
        if (!mine || mine[i] == value) counts[fold_of[i]]++;
    for (size_t f = 0; f < folds; f++) {
        if (counts[f] < low) low = counts[f];
        if (counts[f] > high) high = counts[f];
    }
    return high - low;
}

static void check_groups(const size_t *fold_of, const broad_data *table, size_t folds)
{
    size_t sizes[ROWS_MAX] = {0}, largest = 0;
    for (size_t i = 0; i < table->rows; i++) {
        if (++sizes[table->groups[i]] > largest) largest = sizes[table->groups[i]];
        for (size_t j = 0; j < i; j++)
            if (table->groups[i] == table->groups[j]) assert_int_equal(fold_of[i], fold_of[j]);
    }
    /* A fold got its last group while it had the fewest rows: it cannot be ahead of another by more than that group. */
    assert_true(spread(fold_of, table->rows, folds, NULL, 0) <= largest);
}

static void check_shape(const shape *s, dice *d)
{
    broad_data *table = table_of(s, d);
    size_t fold_of[ROWS_MAX], again[ROWS_MAX];
    folds_of(fold_of, table, s);
    if (s->groups) check_groups(fold_of, table, s->folds);
    else assert_true(spread(fold_of, s->rows, s->folds, NULL, 0) <= 1);
    for (size_t c = 0; !s->groups && c < s->classes; c++)
        assert_true(spread(fold_of, s->rows, s->folds, table->classes, c) <= 1);
    assert_ok(broad__folds(again, table, s->folds, s->seed));
    assert_memory_equal(again, fold_of, s->rows * sizeof *again);
    broad_data_free(table);
}

static void test_many_shapes(void **state)
{
    (void)state;
    dice d = {.stream = {.seed = 12, .purpose = BROAD__FOR_DEMO}};
    for (size_t i = 0; i < 1500; i++) {
        shape s = {.rows = roll(&d, 2, ROWS_MAX), .seed = i};
        size_t form = roll(&d, 0, 3);
        if (form & 1 && s.rows >= 4) s.classes = roll(&d, 2, s.rows / 2 < 8 ? s.rows / 2 : 8);
        if (form & 2) s.groups = roll(&d, 2, s.rows);
        size_t most = s.groups ? s.groups : s.rows;
        s.folds = roll(&d, 2, roll(&d, 0, 3) ? (most < 10 ? most : 10) : most);
        check_shape(&s, &d);
    }
}

/* Another seed deals otherwise, and neither deal follows the order of the rows. */
static void test_seeds(void **state)
{
    (void)state;
    dice d = {.stream = {.seed = 3, .purpose = BROAD__FOR_DEMO}};
    for (size_t groups = 0; groups <= 40; groups += 40) {
        shape s = {.rows = ROWS_MAX, .groups = groups, .folds = 4};
        broad_data *table = table_of(&s, &d);
        size_t one[ROWS_MAX], other[ROWS_MAX], same = 0, turns = 0;
        assert_ok(broad__folds(one, table, s.folds, 1));
        assert_ok(broad__folds(other, table, s.folds, 2));
        for (size_t i = 0; i < s.rows; i++) same += one[i] == other[i];
        for (size_t i = 1; i < s.rows; i++) turns += one[i] == (one[i - 1] + 1) % s.folds;
        /* A quarter is expected: 30 with a deviation of 5; groups move as wholes and deviate more. */
        assert_in_range(same, 5, groups ? 80 : 55);
        assert_in_range(turns, 5, 60);
        broad_data_free(table);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const lonely[5] = {"a", "a", "a", "b", "b"}, *const alone[5] = {"a", "a", "a", "a", "hermit"};
    static const char *const grouped[5] = {"g", "g", "g", "h", "h"};
    static const double x[5] = {1, 2, 3, 4, 5};
    broad_data *train, *test, *table;
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 5;
    arrays.inputs = 1;
    arrays.x = x;
    arrays.labels = lonely;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    assert_fails(cut(&train, &test, table, 1, 0, 0), BROAD_USAGE, "at least 2 folds");
    assert_true(!train && !test);
    assert_fails(cut(&train, &test, table, 0, 0, 0), BROAD_USAGE, "no fold 0 of 0");
    assert_fails(cut(&train, &test, table, 6, 0, 0), BROAD_BAD_DATA, "6 folds need as many rows, but there are 5");
    assert_fails(cut(&train, &test, table, 3, 3, 0), BROAD_USAGE, "no fold 3 of 3");
    broad_folds wrong = {.size = 1, .count = 2};
    assert_fails(broad_data_fold(&train, &test, table, &wrong), BROAD_USAGE, "broad_folds_init");
    assert_fails(broad_data_fold(&train, &test, NULL, &wrong), BROAD_USAGE, "an argument is NULL");
    broad_data_free(table);

    arrays.labels = alone;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    assert_fails(cut(&train, &test, table, 2, 0, 0), BROAD_BAD_DATA, "class 'hermit' has only one row");
    broad_data_free(table);

    arrays.groups = grouped;
    assert_ok(broad_data_from_arrays(&table, &arrays));
    assert_fails(cut(&train, &test, table, 3, 0, 0), BROAD_BAD_DATA, "column 'group' has 2");
    assert_ok(cut(&train, &test, table, 2, 0, 0)); /* groups decide, whatever the classes are */
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(table);
}

static void test_every_allocation_failed_in_turn(void **state)
{
    (void)state;
    dice d = {.stream = {.seed = 8, .purpose = BROAD__FOR_DEMO}};
    for (size_t groups = 0; groups <= 6; groups += 6) {
        shape s = {.rows = 40, .classes = 3, .groups = groups, .folds = 4};
        broad_data *table = table_of(&s, &d), *train, *test;
        memory_watch watch = {0};
        size_t failed = 0;
        for (size_t n = 1;; n++) {
            watch_start(&watch, n);
            int status = cut(&train, &test, table, s.folds, 1, 5);
            if (status == BROAD_OK) broad_data_free(train), broad_data_free(test);
            watch_stop();
            assert_int_equal(watch.live, 0);
            if (status == BROAD_OK) break;
            assert_int_equal(status, BROAD_NO_MEMORY);
            assert_true(!train && !test);
            failed++;
        }
        assert_true(failed > 10);
        broad_data_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_shapes),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_every_allocation_failed_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
