/* What is at the edge of what the base can do: sizes that no memory has, folders that are not there, calls that are interrupted. */
#include "helper.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/smallest.h"
#include "base/spill.h"
#include "folder.h"

/* ---- sizes ---- */

static void sizes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    size_t product = 7, room = 0;
    double *block = NULL;
    assert_int_equal(broad__multiply(&product, SIZE_MAX / 2, 3), -1);
    assert_null(broad__alloc(SIZE_MAX / 2 + 1));
    assert_non_null(strstr(broad_error_message(), "memory"));
    assert_null(broad__alloc_array(SIZE_MAX / 2, 3));
    assert_null(broad__alloc_doubles(SIZE_MAX / 4, 5));
    assert_null(broad__alloc_doubles(SIZE_MAX / 8, 2));
    assert_fails(broad__grow(&block, &room, 9, sizeof *block, 8), BROAD_NO_MEMORY, "more than 8 elements");
    assert_null(block);
    assert_ok(broad__grow(&block, &room, 8, sizeof *block, 8));
    assert_true(room >= 8);
    broad__free(block);
}

/* ---- spilled arrays ---- */

static void with_folder(const char *path, void (*what)(void))
{
    const char *now = getenv("TMPDIR");
    char *before = now ? strdup(now) : NULL;
    if (path) setenv("TMPDIR", path, 1);
    else unsetenv("TMPDIR");
    what();
    if (before) setenv("TMPDIR", before, 1);
    else unsetenv("TMPDIR");
    free(before);
}

static void usual_folder(void) { assert_string_equal(broad__spill_folder(), "/var/tmp"); }

static void no_folder(void)
{
    broad__spill *spill = NULL;
    assert_true(isinf(broad__spill_room()));
    if (broad__spill_open(&spill, 1 << 20) == BROAD_OK) {
        assert_null(broad__spill_alloc(spill, 1 << 16, sizeof(double)));
        broad__spill_close(spill);
    }
    assert_true(broad_error_message()[0]);
}

static void some_folder(void)
{
    broad__spill *spill = NULL;
    assert_ok(broad__spill_open(&spill, 1 << 20));
    assert_int_equal(broad__spill_memory(spill), 1 << 20);
    assert_null(broad__spill_alloc(spill, SIZE_MAX / 2, 8));
    assert_null(broad__spill_alloc(spill, SIZE_MAX / 2 + 1, 1));
    assert_null(broad__spill_alloc(NULL, SIZE_MAX / 2, 8));
    double *first = broad__spill_alloc(spill, 10, sizeof(double)),
           *second = broad__spill_alloc(spill, 10, sizeof(double));
    assert_true(first && second && first[9] == 0);
    broad__spill_free(spill, first);
    broad__spill_free(spill, NULL);
    broad__spill_close(spill); /* with the second */
}

static void folders_of_spilled_arrays(void **state)
{
    (void)state;
    char longest[6000];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/', longest[sizeof longest - 1] = 0;
    with_folder(NULL, usual_folder);
    with_folder("", usual_folder);
    with_folder("/nonexistent/folder", no_folder);
    with_folder(longest, no_folder);
    with_folder("/tmp", some_folder);
}

/* ---- calls ---- */

static broad__file_calls genuine;
static int error_given, syncs;

static int close_that_fails(int fd)
{
    genuine.close(fd);
    errno = error_given;
    return -1;
}

/* Of the file it succeeds, of its folder it does not. */
static int sync_that_fails(int fd)
{
    if (syncs++ % 2 == 0) return genuine.sync(fd);
    errno = error_given;
    return -1;
}

static int replace(const char *path, const char *text)
{
    broad__replacement file;
    int status = broad__replace_begin(&file, path);
    if (status == BROAD_OK) status = broad__replace_write(&file, text, strlen(text));
    if (status != BROAD_OK) return status;
    return broad__replace_commit(&file);
}

/* Calls that were interrupted, and systems that cannot do a thing, lose nothing; others say what was lost. */
static void calls_that_fail_harmlessly(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    join_path(path, folder, "file");
    genuine = broad__file_calls_used;
    static const struct {
        int error, closes, status;
    } cases[] = {
        {EINTR, 1, BROAD_OK}, {EIO, 1, BROAD_IO}, {EINVAL, 0, BROAD_OK}, {ENOTSUP, 0, BROAD_OK}, {EIO, 0, BROAD_IO}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        error_given = cases[i].error, syncs = 0;
        if (cases[i].closes) broad__file_calls_used.close = close_that_fails;
        else broad__file_calls_used.sync = sync_that_fails;
        int status = replace(path, "new");
        broad__file_calls_used = genuine;
        if (status != cases[i].status) fail_msg("case %zu: %d", i, status);
        void *bytes = NULL;
        size_t count = 0;
        if (status == BROAD_OK) {
            assert_ok(broad__file_read(&bytes, &count, path, 100));
            assert_int_equal(count, 3);
            broad__free(bytes);
        }
    }
}

/* ---- the smallest ---- */

/* Against sorting all of them by hand; keys and weights are often equal. */
static void the_smallest_of_many(void **state)
{
    (void)state;
    enum { SHOWN = 300, COUNT = 17 };
    broad__keyed_row all[SHOWN];
    broad__smallest s;
    size_t found[COUNT];
    assert_ok(broad__smallest_open(&s, COUNT));
    for (size_t i = 0; i < SHOWN; i++) {
        all[i] = (broad__keyed_row){i * 7919 % 23, (double)(i * 31 % 3), (i * 101) % SHOWN};
        broad__smallest_show(&s, all[i].key, all[i].weight, all[i].row);
    }
    broad__smallest_close(found, &s);
    for (size_t n = 0; n < COUNT; n++) {
        size_t least = n; /* the smallest of the rest comes to place n */
        for (size_t i = n + 1; i < SHOWN; i++) {
            const broad__keyed_row *a = &all[i], *b = &all[least];
            if (a->key < b->key ||
                (a->key == b->key && (a->weight < b->weight || (a->weight == b->weight && a->row < b->row))))
                least = i;
        }
        broad__keyed_row taken = all[least];
        all[least] = all[n], all[n] = taken;
        assert_int_equal(found[n], taken.row);
    }
    assert_ok(broad__smallest_open(&s, 0));
    broad__smallest_show(&s, 1, 1, 1);
    broad__smallest_close(NULL, &s);
    broad__keyed_rows_sort(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(folders_of_spilled_arrays),
        cmocka_unit_test_setup_teardown(calls_that_fail_harmlessly, make_folder, drop_folder),
        cmocka_unit_test(the_smallest_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
