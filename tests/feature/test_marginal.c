/* What each input tells of the targets by itself: by the means of classes, and what must not matter. */
#include "plain.h"

#include "feature/marginal.h"

enum { ROWS = 400 };

/* Of one input and one target. */
static double told(const double *x, const double *y, size_t rows)
{
    double out = NAN;
    assert_ok(broad__marginal(&out, x, 1, y, 1, rows));
    assert_true(out >= 0 && out <= 1);
    return out;
}

/* An input with few values: the adjusted R^2 of the means of its classes, by plain sums. */
static double by_classes(const double *x, const double *y, size_t rows, size_t classes)
{
    double sum[8] = {0}, count[8] = {0}, mean = 0, total = 0, within = 0;
    for (size_t i = 0; i < rows; i++) sum[(size_t)x[i]] += y[i], count[(size_t)x[i]]++, mean += y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++) {
        double from_class = y[i] - sum[(size_t)x[i]] / count[(size_t)x[i]];
        total += (y[i] - mean) * (y[i] - mean);
        within += from_class * from_class;
    }
    return 1 - within / (double)(rows - classes) / (total / (double)(rows - 1));
}

static void few_values_are_classes(void **state)
{
    (void)state;
    problem_random r = {3};
    double x[ROWS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = floor(4 * problem_uniform(&r));
        y[i] = 5 + (x[i] == 2) + 0.5 * problem_normal(&r);
    }
    double expected = by_classes(x, y, ROWS, 4);
    assert_true(expected > 0.3 && expected < 0.7);
    assert_true(relative_difference(told(x, y, ROWS), expected, 0) < 1e-12);
}

/* A slope, a bump that has none on the whole, a step; and nothing. */
static void forms_do_not_matter(void **state)
{
    (void)state;
    problem_random r = {4};
    double x[ROWS], y[4][ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 2 * problem_uniform(&r) - 1;
        y[0][i] = 3 * x[i];
        y[1][i] = cos(3 * x[i]);
        y[2][i] = x[i] > 0.4;
        y[3][i] = problem_normal(&r);
    }
    for (size_t k = 0; k < 3; k++) assert_true(told(x, y[k], ROWS) > 0.9);
    assert_true(told(x, y[3], ROWS) < 0.05);
}

/* Units, a curved scale, a constant added to the targets, and a second target that nothing moves. */
static void units_do_not_matter(void **state)
{
    (void)state;
    problem_random r = {5};
    double x[ROWS], curved[ROWS], y[ROWS], two[2 * ROWS], lifted[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = problem_normal(&r);
        curved[i] = 1e6 * exp(x[i]);
        y[i] = sin(2 * x[i]) + 0.3 * problem_normal(&r);
        lifted[i] = y[i] + 100;
        two[2 * i] = y[i], two[2 * i + 1] = 7;
    }
    double plain = told(x, y, ROWS), out = 0;
    assert_true(plain > 0.5 && plain == told(curved, y, ROWS));
    assert_true(relative_difference(plain, told(x, lifted, ROWS), 0) < 1e-9);
    assert_ok(broad__marginal(&out, x, 1, two, 2, ROWS));
    assert_true(relative_difference(plain, out, 0) < 1e-9);
}

/* Missing values tell as much as others do. */
static void missing_values_have_a_bin(void **state)
{
    (void)state;
    problem_random r = {6};
    double x[ROWS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = i % 20 ? problem_normal(&r) : NAN;
        y[i] = i % 20 == 0;
    }
    assert_true(told(x, y, ROWS) > 0.99);
}

static void nothing_tells_nothing(void **state)
{
    (void)state;
    double same[5] = {2, 2, 2, 2, 2}, some[5] = {1, 2, 3, 4, 5}, none[5] = {NAN, NAN, NAN, NAN, NAN};
    assert_true(told(same, some, 5) == 0);
    assert_true(told(none, some, 5) == 0);
    assert_true(told(some, same, 5) == 0);
    assert_true(told(some, some, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_are_classes), cmocka_unit_test(forms_do_not_matter),
        cmocka_unit_test(units_do_not_matter),    cmocka_unit_test(missing_values_have_a_bin),
        cmocka_unit_test(nothing_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
