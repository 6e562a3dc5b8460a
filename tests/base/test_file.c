/* Whole reads, and replacement of a file: every call that can fail is made to fail in turn. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"

static size_t entries_seen;

static int count_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path, (void)status, (void)kind, (void)place;
    entries_seen++;
    return 0;
}

/* Files in the folder: a temporary file left behind would show. */
static size_t count_files(void)
{
    entries_seen = 0;
    nftw(folder, count_entry, 16, FTW_PHYS);
    return entries_seen - 1;
}

static void assert_content(const char *path, const char *expected)
{
    char *content = read_file(NULL, path);
    assert_string_equal(content, expected);
    free(content);
}

static int replace(const char *path, const char *text)
{
    broad__replacement file;
    int status = broad__replace_begin(&file, path);
    if (!status) status = broad__replace_write(&file, text, strlen(text));
    if (!status) status = broad__replace_commit(&file);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static void test_read(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    void *bytes = NULL;
    size_t count = 0;
    join_path(path, folder, "data");
    write_file(path, "a\0b", 3);
    assert_ok(broad__file_read(&bytes, &count, path, 3));
    assert_int_equal(count, 3);
    assert_memory_equal(bytes, "a\0b", 3);
    broad__free(bytes);

    write_file(path, "", 0);
    assert_ok(broad__file_read(&bytes, &count, path, 0));
    assert_int_equal(count, 0);
    broad__free(bytes);

    char start[4];
    write_file(path, "abcdefgh", 8);
    assert_ok(broad__file_read_start(start, &count, path, sizeof start));
    assert_int_equal(count, 4);
    assert_memory_equal(start, "abcd", 4);
    write_file(path, "ab", 2);
    assert_ok(broad__file_read_start(start, &count, path, sizeof start));
    assert_int_equal(count, 2);
}

static void test_read_refuses(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    void *bytes = NULL;
    size_t count = 0;
    join_path(path, folder, "none");
    assert_fails(broad__file_read(&bytes, &count, path, 10), BROAD_NO_INPUT, "No such file");
    assert_non_null(strstr(broad_error_message(), path));
    assert_fails(broad__file_read(&bytes, &count, folder, 10), BROAD_NO_INPUT, "is a folder");
    assert_fails(broad__file_read(&bytes, &count, "/dev/zero", 10), BROAD_NO_INPUT, "no regular file");
    join_path(path, folder, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(broad__file_read(&bytes, &count, path, 10), BROAD_NO_INPUT, "no regular file");
    join_path(path, folder, "long");
    write_text(path, "12345678901");
    assert_fails(broad__file_read(&bytes, &count, path, 10), BROAD_BAD_DATA, "has 11 bytes, and 10 is the most");
    assert_null(bytes);
}

/* ---- replacing ------------------------------------------------------------------------------------------------- */

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static void test_replace(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    join_path(path, folder, "out");
    mode_t old = umask(027);
    assert_ok(replace(path, "one"));
    umask(old);
    assert_content(path, "one");
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_ok(replace(path, "two"));
    assert_content(path, "two");
    assert_int_equal(mode_of(path), 0604);
    assert_int_equal(count_files(), 1);
}

static void test_replace_link(void **state)
{
    (void)state;
    char path[HELPER_PATH], link[HELPER_PATH], dangling[HELPER_PATH];
    struct stat about;
    join_path(path, folder, "target");
    join_path(link, folder, "link");
    join_path(dangling, folder, "dangling");
    write_text(path, "old");
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(symlink("nowhere", dangling), 0);
    assert_ok(replace(link, "new"));
    assert_content(path, "new");
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_fails(replace(dangling, "new"), BROAD_CANNOT_WRITE, "is a link to something that does not exist");
    assert_int_equal(count_files(), 3);
}

static void test_replace_refuses(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    assert_fails(replace("", "x"), BROAD_CANNOT_WRITE, "is not the name of a file");
    assert_fails(replace(folder, "x"), BROAD_CANNOT_WRITE, "is a folder");
    assert_fails(replace("/dev/null", "x"), BROAD_CANNOT_WRITE, "no regular file");
    join_path(path, folder, "a/");
    assert_fails(replace(path, "x"), BROAD_CANNOT_WRITE, "is not the name of a file");
    join_path(path, folder, "none/out");
    assert_fails(replace(path, "x"), BROAD_CANNOT_WRITE, "No such file");
    join_path(path, folder, "file");
    write_text(path, "old");
    join_path(path, folder, "file/out");
    assert_fails(replace(path, "x"), BROAD_CANNOT_WRITE, "Not a directory");
    char name[300] = {0};
    memset(name, 'n', 255);
    join_path(path, folder, name);
    assert_ok(replace(path, "x"));
    name[255] = 'n';
    join_path(path, folder, name);
    assert_fails(replace(path, "x"), BROAD_CANNOT_WRITE, "File name too long");
    assert_int_equal(count_files(), 2);
}

static void test_replace_protected(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    if (geteuid() == 0) skip();
    join_path(path, folder, "out");
    write_text(path, "old");
    assert_int_equal(chmod(path, 0444), 0);
    assert_fails(replace(path, "x"), BROAD_CANNOT_WRITE, "is protected");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_fails(replace(path, "x"), BROAD_CANNOT_WRITE, "Permission denied");
    assert_int_equal(chmod(folder, 0755), 0);
    assert_content(path, "old");
}

static void test_replace_here(void **state)
{
    (void)state;
    char before[HELPER_PATH];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_ok(replace("here", "one"));
    assert_ok(replace("here", "two"));
    assert_content("here", "two");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(count_files(), 1);
}

static void test_abandon(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    broad__replacement file;
    join_path(path, folder, "out");
    write_text(path, "old");
    assert_ok(broad__replace_begin(&file, path));
    assert_ok(broad__replace_write(&file, "new", 3));
    assert_int_equal(count_files(), 2);
    broad__replace_abandon(&file);
    broad__replace_abandon(&file);
    assert_int_equal(count_files(), 1);
    assert_content(path, "old");
    assert_fails(broad__replace_commit(&file), BROAD_BUG, "committed");
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

static broad__file_calls genuine;
static size_t calls_made, fail_at, interrupted;
static const char *failed_call;
static size_t write_most; /* bytes that one write takes */

static int fault(const char *call, int number)
{
    if (++calls_made != fail_at) return 0;
    failed_call = call;
    errno = number;
    return 1;
}

static int faulty_make_temporary(char *template_path, mode_t mode)
{
    return fault("make_temporary", EACCES) ? -1 : genuine.make_temporary(template_path, mode);
}

/* Every other write is interrupted before it has done anything. */
static ssize_t faulty_write(int fd, const void *bytes, size_t count)
{
    if (++interrupted % 2) {
        errno = EINTR;
        return -1;
    }
    if (fault("write", ENOSPC)) return -1;
    return genuine.write(fd, bytes, count < write_most ? count : write_most);
}

static int faulty_sync(int fd)
{
    struct stat about;
    fstat(fd, &about);
    return fault(S_ISDIR(about.st_mode) ? "sync of the folder" : "sync", EIO) ? -1 : genuine.sync(fd);
}

/* The descriptor is gone even when close() reports an error. */
static int faulty_close(int fd)
{
    int bad = fault("close", EIO);
    int result = genuine.close(fd);
    if (bad) errno = EIO;
    return bad ? -1 : result;
}

static int faulty_rename(const char *from, const char *to)
{
    return fault("rename", EXDEV) ? -1 : genuine.rename(from, to);
}

typedef struct fault_row {
    const char *call;
    int status;
    const char *fragment, *content;
    size_t seen;
} fault_row;

static void check_fault(fault_row *rows, size_t count, const char *path, int status)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].call, failed_call) != 0) continue;
        rows[i].seen++;
        assert_int_equal(status, rows[i].status);
        if (!strstr(broad_error_message(), rows[i].fragment)) fail_msg("%s: %s", failed_call, broad_error_message());
        assert_content(path, rows[i].content);
        assert_int_equal(count_files(), 1);
        return;
    }
    fail_msg("%s is not expected to fail", failed_call);
}

static void test_every_call_fails(void **state)
{
    (void)state;
    fault_row rows[] = {
        {"make_temporary", BROAD_CANNOT_WRITE, "Permission denied", "old", 0},
        {"write", BROAD_IO, "No space left", "old", 0},
        {"sync", BROAD_IO, "syncing failed", "old", 0},
        {"close", BROAD_IO, "closing failed", "old", 0},
        {"rename", BROAD_CANNOT_WRITE, "cannot be replaced", "old", 0},
        {"sync of the folder", BROAD_IO, "was replaced, but its folder", "fresh content", 0},
    };
    size_t count = sizeof rows / sizeof rows[0];
    char path[HELPER_PATH];
    join_path(path, folder, "out");
    genuine = broad__file_calls_used;
    broad__file_calls_used =
        (broad__file_calls){faulty_make_temporary, faulty_write, faulty_sync, faulty_close, faulty_rename, NULL};
    write_most = 3;
    for (fail_at = 1;; fail_at++) {
        write_text(path, "old");
        calls_made = 0;
        failed_call = NULL;
        int status = replace(path, "fresh content");
        if (!failed_call) {
            assert_ok(status);
            break;
        }
        check_fault(rows, count, path, status);
    }
    broad__file_calls_used = genuine;
    assert_content(path, "fresh content");
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i].seen, strcmp(rows[i].call, "write") == 0 ? 5 : 1); /* 13 bytes in threes */
}

/* ---- what is replaced is looked at ---- */

static int late;      /* another program puts its file there before this call; 0: never */
static char seen[64]; /* what look() has found */
static int refuse, unknown, renames;

static int look(void *context, const char *path)
{
    char *content = read_file(NULL, path);
    snprintf(context, sizeof seen, "%s", content);
    free(content);
    return refuse ? broad__fail(BROAD_IO, "it cannot be kept") : BROAD_OK;
}

static int late_rename_as(const char *from, const char *to, unsigned flags)
{
    if (++renames == late) write_text(to, "theirs");
    errno = EINVAL;
    return unknown ? -1 : genuine.rename_as(from, to, flags);
}

static int replace_looking(const char *path)
{
    broad__replacement file;
    int status = broad__replace_begin(&file, path);
    seen[0] = 0;
    renames = 0;
    if (!status) status = broad__replace_write(&file, "ours", 4);
    return status ? status : broad__replace_commit_looking(&file, look, seen);
}

static void check_looking(const char *path, int old)
{
    const char *there = late ? "theirs" : old ? "old" : "";
    unlink(path);
    if (old) write_text(path, "old");
    int status = replace_looking(path);
    assert_string_equal(seen, there);
    assert_int_equal(status, refuse && there[0] ? BROAD_IO : BROAD_OK);
    assert_content(path, status ? there : "ours");
    assert_int_equal(count_files(), 1);
}

/* Another program writes when everything is prepared: its file is seen, whether there was one before or not, and stays where it
 * cannot be kept; the same on a file system that cannot exchange files. */
static void test_what_is_replaced(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    join_path(path, folder, "out");
    genuine = broad__file_calls_used;
    broad__file_calls_used.rename_as = late_rename_as;
    for (refuse = 0; refuse < 2; refuse++)
        for (unknown = 0; unknown < 2; unknown++)
            for (int old = 0; old < 2; old++)
                for (late = 0; late <= (old || unknown ? 1 : 2); late++) check_looking(path, old);
    broad__file_calls_used = genuine;
}

/* A full disk, as the system itself reports it. */
static void test_disk_full(void **state)
{
    (void)state;
    broad__replacement file = {.fd = open("/dev/full", O_WRONLY)};
    if (file.fd < 0) skip();
    char path[HELPER_PATH];
    join_path(path, folder, "out");
    file.path = broad__copy_text(path);
    file.temporary = broad__copy_text(path);
    assert_fails(broad__replace_write(&file, "x", 1), BROAD_IO, "No space left");
    assert_null(file.temporary);
}

/* ---- what killed runs have left -------------------------------------------------------------------------------- */

static int is_there(const char *name)
{
    char path[HELPER_PATH];
    join_path(path, folder, name);
    return access(path, F_OK) == 0;
}

static void leave(const char *name)
{
    char path[HELPER_PATH];
    join_path(path, folder, name);
    write_file(path, "x", 1);
}

static void test_leftovers(void **state)
{
    (void)state;
    static const char *const others[] = {".model.abcde",  ".model.abcdefg", ".model2.abcdef",   "model.abcdef",
                                         ".model.ab-def", ".model",         ".model.abcdef.old"};
    enum { OTHERS = sizeof others / sizeof others[0] };
    char path[HELPER_PATH];
    broad__replacement slow;
    join_path(path, folder, "model");
    assert_ok(broad__replace_begin(&slow, path)); /* another writer, which is still at work */
    assert_ok(broad__replace_write(&slow, "slow", 4));
    for (size_t i = 0; i < OTHERS; i++) leave(others[i]);
    leave(".model.abcdef");
    leave(".model.ABC123");
    assert_ok(replace(path, "new"));
    assert_false(is_there(".model.abcdef"));
    assert_false(is_there(".model.ABC123"));
    for (size_t i = 0; i < OTHERS; i++) assert_true(is_there(others[i]));
    assert_int_equal(access(slow.temporary, F_OK), 0);
    assert_ok(broad__replace_commit(&slow));
    assert_content(path, "slow");
    /* Folders of that name are none of its business, and a folder of many files is not searched. */
    char made[HELPER_PATH];
    join_path(made, folder, ".model.folder");
    assert_int_equal(mkdir(made, 0777), 0);
    leave(".model.abcdef");
    assert_ok(broad__replace_begin(&slow, path));
    assert_ok(broad__replace_commit_among_many(&slow));
    assert_true(is_there(".model.abcdef") && is_there(".model.folder"));
    assert_ok(replace(path, "new"));
    assert_true(!is_there(".model.abcdef") && is_there(".model.folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_read_refuses, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_replace, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_replace_link, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_replace_refuses, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_replace_protected, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_replace_here, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_abandon, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_every_call_fails, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_what_is_replaced, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_leftovers, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_disk_full, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
