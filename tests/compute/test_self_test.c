/* The self-test of the device: it passes, sees every operation that is spoilt, and says when memory gives out. */
#include "helper.h"

#include <pthread.h>

#include "compute/cpu/self_test.h"
#include "compute/device.h"

static void self_test_passes_and_can_fail(void **state)
{
    (void)state;
    unsigned count = 0;
    assert_ok(broad__self_test(&count, 0));
    assert_true(count >= 11);
    for (unsigned i = 1; i <= count; i++) assert_fails(broad__self_test(&count, i), BROAD_FAILED, "self-test");
}

static void *no_memory(size_t bytes, void *context)
{
    (void)bytes;
    size_t *left = context;
    return *left && (*left)-- ? malloc(bytes) : NULL;
}

static void release(void *block, void *context)
{
    (void)context;
    free(block);
}

static void self_test_out_of_memory(void **state)
{
    (void)state;
    unsigned count = 0;
    size_t left = 0, n = 0;
    broad_allocator limited = {no_memory, release, &left};
    broad_set_allocator(&limited);
    int status = BROAD_NO_MEMORY;
    for (; status == BROAD_NO_MEMORY && n < 10; n++) {
        left = n;
        status = broad__self_test(&count, 0);
    }
    broad_set_allocator(NULL);
    assert_int_equal(status, BROAD_OK);
    assert_true(n >= 4);
}

/* ---- many callers at once ---------------------------------------------------------------------------------------- */

enum { SIDE = 230, THREADS = 40 };

typedef struct caller {
    const double *a, *expected;
    int wrong;
} caller;

/* a a' = R'R, and X = I R^-1 R'^-1 a a': as much as possible is packed. */
static void compute(double *out, const double *a)
{
    const broad__device *cpu = broad__device_cpu();
    double *square = calloc(SIDE * SIDE, sizeof(double));
    for (size_t i = 0; i < SIDE; i++) square[i * SIDE + i] = 1;
    cpu->outer(square, SIDE, a, SIDE, SIDE, a, SIDE, SIDE, SIDE);
    cpu->factor(square, SIDE);
    memcpy(out, a, SIDE * SIDE * sizeof(double));
    cpu->solve(out, SIDE, square, SIDE);
    free(square);
}

static void *call(void *argument)
{
    caller *c = argument;
    double *own = malloc(SIDE * SIDE * sizeof(double));
    for (int i = 0; i < 3; i++) {
        compute(own, c->a);
        if (memcmp(own, c->expected, SIDE * SIDE * sizeof(double))) c->wrong = 1;
    }
    free(own);
    return NULL;
}

static void many_callers(void **state)
{
    (void)state;
    static double a[SIDE * SIDE], expected[SIDE * SIDE];
    pthread_t handles[THREADS];
    caller callers[THREADS];
    for (size_t i = 0; i < SIDE * SIDE; i++) a[i] = (double)(i * 2654435761u % 1000003u) / 1000003.0 - 0.5;
    compute(expected, a);
    for (size_t i = 0; i < THREADS; i++) {
        callers[i] = (caller){a, expected, 0};
        assert_int_equal(pthread_create(&handles[i], NULL, call, &callers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(handles[i], NULL);
        assert_false(callers[i].wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_test_passes_and_can_fail),
        cmocka_unit_test(self_test_out_of_memory),
        cmocka_unit_test(many_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
