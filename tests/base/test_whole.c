/* Numbers of any size as an index. */
#include <float.h>

#include "base/common.h"
#include "helper.h"

static void any_number_is_an_index(void **state)
{
    (void)state;
    const struct {
        double number;
        size_t most, expected;
    } cases[] = {{3.99, 10, 3},
                 {10, 10, 10},
                 {11, 10, 10},
                 {-0.5, 10, 0},
                 {-1e300, 10, 0},
                 {(double)NAN, 10, 0},
                 {(double)INFINITY, 10, 10},
                 {-(double)INFINITY, 10, 0},
                 {DBL_MAX, SIZE_MAX, SIZE_MAX},
                 {0x1p53, SIZE_MAX, (size_t)1 << 53},
                 {0x1p64, SIZE_MAX, SIZE_MAX},
                 {5, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(broad__whole(cases[i].number, cases[i].most), cases[i].expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_is_an_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
