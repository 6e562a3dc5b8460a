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

/* ---- pairs --------------------------------------------------------------------------------------------------------- */

enum { PAIR_INPUTS = 6 };

/* Two inputs of four values each that count only together, x0 and x4; x1 by itself; the others say nothing. */
static void fill_pairs(double *x, double *y, size_t rows, double together, problem_random *r)
{
    for (size_t i = 0; i < rows; i++) {
        double *row = x + i * PAIR_INPUTS;
        for (size_t j = 0; j < PAIR_INPUTS; j++) row[j] = floor(4 * problem_uniform(r));
        int odd = (int)row[0] % 2 != (int)row[4] % 2;
        y[i] = 3 + together * (odd ? 1 : -1) + 0.5 * row[1] + 0.5 * problem_normal(r);
    }
}

/* Two inputs as the classes of one. */
static double by_cells(const double *x, const double *y, size_t rows, size_t a, size_t b)
{
    double sum[16] = {0}, count[16] = {0}, mean = 0, total = 0, within = 0, cells = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t cell = (size_t)(4 * x[i * PAIR_INPUTS + a] + (a == b ? 0 : x[i * PAIR_INPUTS + b]));
        sum[cell] += y[i], count[cell]++, mean += y[i] / (double)rows;
    }
    for (size_t i = 0; i < rows; i++) {
        size_t cell = (size_t)(4 * x[i * PAIR_INPUTS + a] + (a == b ? 0 : x[i * PAIR_INPUTS + b]));
        double off = y[i] - sum[cell] / count[cell];
        total += (y[i] - mean) * (y[i] - mean), within += off * off;
    }
    for (size_t c = 0; c < 16; c++) cells += count[c] > 0;
    return 1 - within / ((double)rows - cells) / (total / (double)(rows - 1));
}

/* y less the means of the cells of two inputs; returns the part of its square that is left. */
static double rest_of(double *rest, const double *x, const double *y, size_t a, size_t b)
{
    double sum[16] = {0}, count[16] = {0}, mean = 0, total = 0, left = 0;
    for (size_t i = 0; i < ROWS; i++) {
        size_t cell = (size_t)(4 * x[i * PAIR_INPUTS + a] + x[i * PAIR_INPUTS + b]);
        sum[cell] += y[i], count[cell]++, mean += y[i] / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++) {
        size_t cell = (size_t)(4 * x[i * PAIR_INPUTS + a] + x[i * PAIR_INPUTS + b]);
        rest[i] = y[i] - sum[cell] / count[cell];
        total += (y[i] - mean) * (y[i] - mean), left += rest[i] * rest[i];
    }
    return left / total;
}

static void two_inputs_that_count_together_are_found(void **state)
{
    (void)state;
    problem_random r = {21};
    double x[ROWS * PAIR_INPUTS], y[ROWS], out[PAIR_INPUTS], sum;
    fill_pairs(x, y, ROWS, 1, &r);
    assert_ok(broad__marginal_pairs(out, &sum, x, PAIR_INPUTS, y, 1, ROWS));
    double expected =
        by_cells(x, y, ROWS, 0, 4) - fmax(by_cells(x, y, ROWS, 0, 0), 0) - fmax(by_cells(x, y, ROWS, 4, 4), 0);
    print_message("two tell %.3f together\n", expected);
    assert_true(expected > 0.4 && relative_difference(out[0], expected, 0) < 1e-9 && out[4] == out[0]);
    assert_true(out[1] == 0 && out[2] == 0 && out[3] == 0 && out[5] == 0);
    assert_true(relative_difference(sum, by_cells(x, y, ROWS, 0, 4), 0) < 1e-9);
}

/* Each input in one pair of the sum, the strongest first. */
static void pairs_that_share_an_input_count_once(void **state)
{
    (void)state;
    problem_random r = {22};
    double x[ROWS * PAIR_INPUTS], y[ROWS], out[PAIR_INPUTS], sum;
    fill_pairs(x, y, ROWS, 1, &r);
    for (size_t i = 0; i < ROWS; i++) {
        const double *row = x + i * PAIR_INPUTS;
        y[i] += ((int)row[0] % 2 == (int)row[2] % 2 ? 0.6 : -0.6) + ((int)row[3] % 2 == (int)row[5] % 2 ? 0.8 : -0.8);
    }
    assert_ok(broad__marginal_pairs(out, &sum, x, PAIR_INPUTS, y, 1, ROWS));
    assert_true(out[2] > 0 && out[2] < out[0] && out[0] == out[4] && out[3] == out[5] && out[1] == 0);
    double first = by_cells(x, y, ROWS, 0, 4), rest[ROWS], left = rest_of(rest, x, y, 0, 4);
    assert_true(relative_difference(sum, first + left * by_cells(x, rest, ROWS, 3, 5), 0) < 1e-9);
}

/* Two columns that say the same as two others add nothing. */
static void pairs_that_say_the_same_count_once(void **state)
{
    (void)state;
    problem_random r = {23};
    double x[ROWS * PAIR_INPUTS], y[ROWS], out[PAIR_INPUTS], sum;
    fill_pairs(x, y, ROWS, 1, &r);
    for (size_t i = 0; i < ROWS; i++) {
        x[i * PAIR_INPUTS + 2] = x[i * PAIR_INPUTS];
        x[i * PAIR_INPUTS + 5] = x[i * PAIR_INPUTS + 4];
    }
    assert_ok(broad__marginal_pairs(out, &sum, x, PAIR_INPUTS, y, 1, ROWS));
    print_message("%.3f, and %.3f together\n", out[0], sum);
    assert_true(out[0] > 0.4 && out[2] == out[0] && out[5] == out[0]);
    assert_true(relative_difference(sum, by_cells(x, y, ROWS, 0, 4), 0) < 1e-9);
}

/* None by chance, in many tables of many pairs; and none at all where there are too many to look at. */
static void chance_is_no_pair(void **state)
{
    (void)state;
    enum { TABLES = 20, MANY = 40, WIDE = 2000, FEW = 100 };
    double *x = malloc(FEW * WIDE * sizeof *x), y[FEW], *out = malloc(WIDE * sizeof *out), sum = 1;
    for (size_t t = 0; t < TABLES; t++) {
        problem_random r = {t + 40};
        for (size_t i = 0; i < FEW * MANY; i++) x[i] = problem_normal(&r);
        for (size_t i = 0; i < FEW; i++) y[i] = problem_normal(&r);
        assert_ok(broad__marginal_pairs(out, &sum, x, MANY, y, 1, FEW));
        assert_true(sum == 0);
    }
    for (size_t i = 0; i < FEW; i++) {
        for (size_t j = 0; j < WIDE; j++) x[i * WIDE + j] = (double)((i >> (j % 2)) & 1);
        y[i] = (double)((i & 1) ^ (i >> 1 & 1));
    }
    assert_ok(broad__marginal_pairs(out, &sum, x, WIDE, y, 1, FEW));
    assert_true(sum == 0 && out[0] == 0);
    assert_ok(broad__marginal_pairs(out, &sum, x, 1, y, 1, FEW));
    assert_true(sum == 0 && out[0] == 0);
    free(x), free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_are_classes),
        cmocka_unit_test(forms_do_not_matter),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(missing_values_have_a_bin),
        cmocka_unit_test(nothing_tells_nothing),
        cmocka_unit_test(two_inputs_that_count_together_are_found),
        cmocka_unit_test(pairs_that_share_an_input_count_once),
        cmocka_unit_test(pairs_that_say_the_same_count_once),
        cmocka_unit_test(chance_is_no_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
