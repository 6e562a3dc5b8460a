/* Sums over shards against a tree that is walked by recursion, bit by bit, for any number of threads. */
#include "helper.h"

#include <string.h>

#include "base/memory.h"
#include "compute/shards.h"
#include "layer/shard_sums.h"

enum { NUMBERS = 37 };

/* Numbers whose sum depends on the order of the additions. */
static double number_at(size_t row, size_t k)
{
    return (double)((row * 7919 + k * 31) % 1009) / (double)(1 + (row + k) % 97);
}

static void add_rows(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    (void)context, (void)worker;
    for (size_t row = first; row < end; row++)
        for (size_t k = 0; k < NUMBERS; k++) sums[k] += number_at(row, k);
}

/* Sum k of the shards from `first` on: of the `width` of them, a power of two, as many as there are. */
static double tree(size_t first, size_t width, size_t rows, size_t k)
{
    size_t begin, end, half = width / 2;
    if (width > 1) {
        double left = tree(first, half, rows, k);
        return first + half < broad__shard_count(rows) ? left + tree(first + half, half, rows, k) : left;
    }
    double sum = 0;
    broad__shard_rows(&begin, &end, first, rows);
    for (size_t row = begin; row < end; row++) sum += number_at(row, k);
    return sum;
}

static void check_sums(size_t rows, size_t threads)
{
    broad__residual residual = {.rows = rows, .outputs = 1, .at = broad__device_reference()};
    double *sums = NULL, expected[NUMBERS];
    assert_int_equal(broad__pool_open(&residual.pool, threads), BROAD_OK);
    for (size_t k = 0; k < NUMBERS; k++) expected[k] = tree(0, 1024, rows, k);
    for (int repeat = 0; repeat < 20; repeat++) {
        assert_int_equal(broad__shard_sums(&sums, &residual, NUMBERS, add_rows, NULL), BROAD_OK);
        assert_memory_equal(sums, expected, sizeof expected);
    }
    broad__free(residual.shard_sums);
    broad__pool_close(residual.pool);
}

static void sums_are_those_of_the_tree(void **state)
{
    (void)state;
    const size_t rows[] = {1, 256, 257, 600, 1793, 5000, 8192, 9000, 20000}, threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) check_sums(rows[i], threads[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_of_the_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
