/* Numbers as text against the C library: the first of %.15g, %.16g and %.17g that reads back as the same number. */
#include "problem.h"

#include "base/real_text.h"

static void assert_text(double value)
{
    char text[BROAD__REAL_BYTES], expected[BROAD__REAL_BYTES];
    size_t length = broad__real_text(text, value);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(expected, sizeof expected, "%.*g", digits, value);
        if (strtod(expected, NULL) == value) break;
    }
    assert_true(length < sizeof text);
    text[length] = 0;
    if (strcmp(text, expected) != 0) fail_msg("%a: '%s' where '%s' was expected", value, text, expected);
}

static void assert_around(double value)
{
    assert_text(value);
    assert_text(-value);
    assert_text(nextafter(value, INFINITY));
    assert_text(nextafter(value, 0));
}

static void numbers_of_every_size(void **state)
{
    (void)state;
    problem_random r = {3};
    for (int i = 0; i < 200000; i++) {
        double size = pow(10, 24 * problem_uniform(&r) - 6);
        assert_text((problem_uniform(&r) - 0.5) * size);
        assert_text(floor(problem_uniform(&r) * size) / 1024);
        assert_text(round(problem_uniform(&r) * 1e4) / 1e4 * (i % 2 ? 1 : 100));
    }
}

static void borders(void **state)
{
    (void)state;
    for (int p = -330; p <= 308; p++) assert_around(pow(10, p));
    for (int p = -1074; p <= 1023; p++) assert_around(ldexp(1, p));
    for (int p = 0; p < 60; p++) assert_around(9.9999999999999995 * pow(10, p - 20));
    for (int i = 0; i < 2000; i++) assert_around(i / 8.0);
    static const double odd[] = {0,        -0.0,
                                 INFINITY, -INFINITY,
                                 0.1,      0.3,
                                 2.0 / 3,  5e-324,
                                 1e15,     1e15 - 1,
                                 0.0001,   1.2345678901234568e17,
                                 1.5e-4,   0.99999999999999989};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) assert_text(odd[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_size),
        cmocka_unit_test(borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
