/* Spilled arrays: content that survives the release of its memory, memory that is really released, failures that say why. */
#include "helper.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "base/memory.h"
#include "base/spill.h"

static size_t resident_bytes(void)
{
    size_t whole = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu %zu", &whole, &resident) != 2) fail_msg("no /proc/self/statm");
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t number_at(size_t i) { return (i + 1) * 0x9E3779B97F4A7C15u; }

/* 64 MB written in pieces of 1 MB and a bit never take more than what the kernel maps around one, and read back the
 * same. */
static void test_resident(void **state)
{
    (void)state;
    enum { COUNT = 8 << 20, PIECE = (1 << 17) + 12345 };
    broad__spill *spill;
    assert_ok(broad__spill_open(&spill, 123));
    assert_int_equal(broad__spill_memory(spill), 123);
    uint64_t *numbers = broad__spill_alloc(spill, COUNT, sizeof *numbers);
    assert_non_null(numbers);
    size_t before = resident_bytes(), most = 0, wrong = 0;
    for (int pass = 0; pass < 3; pass++)
        for (size_t first = 0; first < COUNT; first += PIECE) {
            size_t count = COUNT - first < PIECE ? COUNT - first : PIECE;
            for (size_t i = first; i < first + count; i++) {
                wrong += numbers[i] != (pass == 0 ? 0 : number_at(i));
                if (pass == 0) numbers[i] = number_at(i);
            }
            size_t now = resident_bytes();
            if (now > most) most = now;
            broad__spill_done(spill, numbers + first, count * sizeof *numbers);
        }
    assert_int_equal(wrong, 0);
    if (HELPER_SANITIZED) before += (size_t)64 << 20; /* what the sanitizer keeps of its own */
    assert_true(most < before + ((size_t)7 << 20));
    assert_true(resident_bytes() < before + ((size_t)1 << 20));
    broad__spill_free(spill, numbers);
    broad__spill_close(spill);
}

/* Giving back what a neighbour still uses loses nothing. */
static void test_neighbours(void **state)
{
    (void)state;
    broad__spill *spill;
    assert_ok(broad__spill_open(&spill, 1));
    unsigned char *bytes = broad__spill_alloc(spill, 300001, 1), *other = broad__spill_alloc(spill, 0, 8);
    assert_true(bytes && other);
    for (size_t i = 0; i < 300001; i++) bytes[i] = (unsigned char)(i * 7);
    other[0] = 9;
    broad__spill_done(spill, bytes + 70000, 10);
    broad__spill_done(spill, bytes + 299990, 1000000);
    broad__spill_done(spill, other, 1);
    broad__spill_done(spill, &spill, 8); /* none of its blocks: nothing happens */
    size_t wrong = 0;
    for (size_t i = 0; i < 300001; i++) wrong += bytes[i] != (unsigned char)(i * 7);
    assert_int_equal(wrong, 0);
    assert_int_equal(other[0], 9);
    broad__spill_free(spill, NULL);
    broad__spill_close(spill); /* with both blocks */
    broad__spill_close(NULL);
}

static void test_none(void **state)
{
    (void)state;
    assert_true(broad__spill_memory(NULL) == SIZE_MAX);
    double *numbers = broad__spill_alloc(NULL, 10, sizeof *numbers);
    assert_true(numbers && numbers[9] == 0);
    broad__spill_done(NULL, numbers, 80);
    broad__spill_free(NULL, numbers);
    assert_null(broad__spill_alloc(NULL, SIZE_MAX / 2, 8));
}

typedef struct sharing {
    broad__spill *spill;
    uint64_t *common; /* one number in 4 of each thread */
    size_t number, wrong;
} sharing;

static void *share(void *argument)
{
    enum { COUNT = 100000 };
    sharing *s = argument;
    for (size_t round = 0; round < 20; round++) {
        uint64_t *own = broad__spill_alloc(s->spill, COUNT, sizeof *own);
        if (!own) return NULL;
        for (size_t i = 0; i < COUNT; i++) own[i] = s->common[4 * i + s->number] = number_at(i + round);
        broad__spill_done(s->spill, own, COUNT * sizeof *own);
        broad__spill_done(s->spill, s->common, (size_t)4 * COUNT * sizeof *own);
        for (size_t i = 0; i < COUNT; i++)
            s->wrong += own[i] != number_at(i + round) || s->common[4 * i + s->number] != own[i];
        broad__spill_free(s->spill, own);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    broad__spill *spill;
    assert_ok(broad__spill_open(&spill, 1));
    uint64_t *common = broad__spill_alloc(spill, 400000, sizeof *common);
    assert_non_null(common);
    pthread_t threads[4];
    sharing shares[4];
    for (size_t t = 0; t < 4; t++) {
        shares[t] = (sharing){.spill = spill, .common = common, .number = t};
        assert_int_equal(pthread_create(&threads[t], NULL, share, &shares[t]), 0);
    }
    for (size_t t = 0; t < 4; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(shares[t].wrong, 0);
    }
    broad__spill_close(spill);
}

/* A folder that is not there, one that cannot be written to, a disk that is too small. */
static void test_places(void **state)
{
    (void)state;
    char folder[HELPER_PATH], missing[HELPER_PATH];
    broad__spill *spill;
    const char *set = getenv("TMPDIR");
    char *before = set ? strdup(set) : NULL;
    temporary_folder(folder);
    join_path(missing, folder, "missing");
    setenv("TMPDIR", missing, 1);
    assert_fails(broad__spill_open(&spill, 1), BROAD_CANNOT_WRITE, "TMPDIR");
    assert_null(spill);
    setenv("TMPDIR", folder, 1);
    assert_ok(broad__spill_open(&spill, 1));
    assert_null(broad__spill_alloc(spill, (size_t)1 << 60, 1));
    assert_non_null(strstr(broad_error_message(), folder));
    assert_non_null(strstr(broad_error_message(), "GB free"));
    assert_non_null(strstr(broad_error_message(), "set TMPDIR"));
    remove_folder(folder);
    assert_null(broad__spill_alloc(spill, 1, 1));
    broad__spill_close(spill);
    if (before) setenv("TMPDIR", before, 1);
    else unsetenv("TMPDIR");
    free(before);
}

/* Where addresses are short and not the disk, TMPDIR is no remedy. */
static void test_addresses(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* a sanitizer has mapped more than any limit */
    broad__spill *spill;
    struct rlimit before, limit;
    assert_ok(broad__spill_open(&spill, 1));
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)16 << 20;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    void *bytes = broad__spill_alloc(spill, (size_t)64 << 20, 1);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_null(bytes);
    assert_non_null(strstr(broad_error_message(), "67.1 MB more"));
    assert_non_null(strstr(broad_error_message(), "ulimit -v"));
    assert_null(strstr(broad_error_message(), "TMPDIR"));
    broad__spill_close(spill);
}

/* Files without a name leave nothing in the folder. */
static void test_tmpfs(void **state)
{
    (void)state;
    struct statfs facts;
    if (statfs("/dev/shm", &facts) < 0 || facts.f_type != 0x01021994 || access("/dev/shm", W_OK) < 0) skip();
    const char *set = getenv("TMPDIR");
    char *before = set ? strdup(set) : NULL;
    broad__spill *spill;
    setenv("TMPDIR", "/dev/shm", 1);
    assert_ok(broad__spill_open(&spill, 1));
    assert_null(broad__spill_alloc(spill, (size_t)1 << 60, 1));
    assert_non_null(strstr(broad_error_message(), "in memory itself"));
    broad__spill_close(spill);
    if (before) setenv("TMPDIR", before, 1);
    else unsetenv("TMPDIR");
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resident),  cmocka_unit_test(test_neighbours), cmocka_unit_test(test_none),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_places),     cmocka_unit_test(test_tmpfs),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
