/* OpenBLAS made safe: its threads, its self-test, its work buffers when memory is short. */
#include "helper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "compute/cpu/blas_guard.h"
#include "compute/device.h"

extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

enum { LIMITS_WORK = !HELPER_SANITIZED }; /* a sanitizer takes terabytes of addresses for itself */

enum { SIDE = 150, SECONDS_MOST = 20 };

/* Runs `work` in a child made by fork; its exit code, or 1000 + the signal that ended it: SIGALRM if it hung. */
static int in_child(int (*work)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MOST);
        _exit(work());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static size_t address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu", &pages) != 1) fail_msg("no /proc/self/statm");
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void leave_address_space(size_t bytes)
{
    size_t limit = address_space() + bytes;
    struct rlimit limits = {limit, limit};
    setrlimit(RLIMIT_AS, &limits);
}

/* ---- memory: first of all, while this process has not used BLAS yet -------------------------------------------- */

static int hold_without_space(void)
{
    leave_address_space((size_t)64 << 20);
    if (broad__blas_hold() != BROAD_NO_MEMORY) return 1;
    return strstr(broad_error_message(), "ulimit -v") ? 0 : 2;
}

/* Large enough that OpenBLAS needs its work buffer. */
static void *multiply(void *argument)
{
    double *block = argument;
    const broad__device *cpu = broad__device_cpu();
    for (int repeat = 0; repeat < 20; repeat++)
        cpu->outer(block + 2 * SIDE * SIDE, SIDE, block, SIDE, SIDE, block + SIDE * SIDE, SIDE, SIDE, SIDE);
    return NULL;
}

static int multiply_in_threads(size_t threads)
{
    pthread_t handles[64];
    double *blocks = calloc(threads * 3 * SIDE * SIDE, sizeof(double));
    if (!blocks) return 3;
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&handles[i], NULL, multiply, blocks + i * 3 * SIDE * SIDE)) return 4;
    for (size_t i = 0; i < threads; i++) pthread_join(handles[i], NULL);
    free(blocks);
    return 0;
}

static int multiply_with_space_for_one_buffer(void)
{
    leave_address_space((size_t)250 << 20);
    if (broad__blas_hold()) return 1;
    int code = multiply_in_threads(4);
    broad__blas_release();
    return code;
}

static void little_memory(void **state)
{
    (void)state;
    if (!LIMITS_WORK) skip();
    assert_int_equal(in_child(hold_without_space), 0);
    assert_int_equal(in_child(multiply_with_space_for_one_buffer), 0);
}

/* Nobody was left behind: a failure is not remembered. */
static int hold_after_failing(void)
{
    struct rlimit before;
    getrlimit(RLIMIT_AS, &before);
    struct rlimit limits = {address_space() + ((size_t)64 << 20), before.rlim_max};
    setrlimit(RLIMIT_AS, &limits);
    if (broad__blas_hold() != BROAD_NO_MEMORY) return 1;
    setrlimit(RLIMIT_AS, &before);
    if (broad__blas_hold()) return 2;
    broad__blas_release();
    return 0;
}

static void memory_comes_back(void **state)
{
    (void)state;
    if (!LIMITS_WORK) skip();
    assert_int_equal(in_child(hold_after_failing), 0);
}

/* ---- self-test ------------------------------------------------------------------------------------------------- */

static void self_test_passes_and_can_fail(void **state)
{
    (void)state;
    unsigned count = 0;
    assert_ok(broad__blas_self_test(&count, 0));
    assert_true(count >= 11);
    for (unsigned i = 1; i <= count; i++) assert_fails(broad__blas_self_test(&count, i), BROAD_FAILED, "self-test");
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
        status = broad__blas_self_test(&count, 0);
    }
    broad_set_allocator(NULL);
    assert_int_equal(status, BROAD_OK);
    assert_true(n >= 4);
}

/* ---- threads --------------------------------------------------------------------------------------------------- */

static void *hold_often(void *argument)
{
    int *wrong = argument;
    for (int i = 0; i < 200; i++) {
        if (broad__blas_hold()) *wrong = 1;
        if (openblas_get_num_threads() != 1) *wrong = 1;
        broad__blas_release();
    }
    return NULL;
}

static void one_thread_while_held(void **state)
{
    (void)state;
    if (!openblas_get_num_threads) skip();
    enum { THREADS = 6 };
    openblas_set_num_threads(2);
    pthread_t handles[THREADS];
    int wrong[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) pthread_create(&handles[i], NULL, hold_often, &wrong[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(handles[i], NULL);
        assert_false(wrong[i]);
    }
    assert_int_equal(openblas_get_num_threads(), 2);
    openblas_set_num_threads(1);
}

static void many_callers(void **state)
{
    (void)state;
    assert_ok(broad__blas_hold());
    assert_int_equal(multiply_in_threads(60), 0);
    broad__blas_release();
}

/* ---- fork ------------------------------------------------------------------------------------------------------ */

static atomic_int stop;

static void *multiply_on_and_on(void *argument)
{
    while (!atomic_load(&stop)) multiply(argument);
    return NULL;
}

static int multiply_alone(void) { return multiply_in_threads(1); }

/* OpenBLAS takes a lock of its own whenever it is entered or left. */
static void fork_between_calls(void **state)
{
    (void)state;
    enum { THREADS = 4, FORKS = 20 };
    pthread_t handles[THREADS];
    double *blocks = calloc(THREADS * 3 * SIDE * SIDE, sizeof(double));
    assert_ok(broad__blas_hold());
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&handles[i], NULL, multiply_on_and_on, blocks + i * 3 * SIDE * SIDE);
    for (int i = 0; i < FORKS; i++) assert_int_equal(in_child(multiply_alone), 0);
    atomic_store(&stop, 1);
    for (size_t i = 0; i < THREADS; i++) pthread_join(handles[i], NULL);
    broad__blas_release();
    free(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_memory),
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(self_test_passes_and_can_fail),
        cmocka_unit_test(self_test_out_of_memory),
        cmocka_unit_test(one_thread_while_held),
        cmocka_unit_test(many_callers),
        cmocka_unit_test(fork_between_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
