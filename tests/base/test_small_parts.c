/* Small parts of the ground floor at their edges: suggestions, quotations, names of values, locks on leftovers, what is mapped or
 * reserved, the limit of a process. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/available.h"
#include "base/enum_names.h"
#include "base/file.h"
#include "base/leftover.h"
#include "base/nearest.h"
#include "base/reserve.h"
#include "base/status.h"
#include "base/utf8.h"

static void suggestions_are_near(void **state)
{
    (void)state;
    static const char *const words[] = {"sigmoid", "Tanh", "relu", "y",
                                        "a word that is far too long to be near to any other one"};
    static const struct {
        const char *word, *nearest;
    } rows[] = {{"sigmod", "sigmoid"}, {"sgimoid", "sigmoid"},
                {"TANH", "Tanh"},      {"sig", "sigmoid"},
                {"x", NULL},           {"", NULL},
                {"R", NULL},           {"ERLU", NULL},
                {"completely", NULL},  {"rleu", "relu"},
                {"re", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *found = broad__nearest(rows[i].word, words, 5);
        if (rows[i].nearest && found) assert_string_equal(found, rows[i].nearest);
        else assert_true(!rows[i].nearest && !found);
    }
    assert_ptr_equal(broad__nearest(words[4], words, 5), words[4]);
    assert_null(broad__nearest("another word that is far too long to be near to any other one", words, 5));
}

static void quotations_are_cut_and_clean(void **state)
{
    (void)state;
    char out[BROAD__QUOTE_BYTES], text[200], expected[BROAD__QUOTE_BYTES];
    broad__utf8_quote(out, "a\tb\x7F\xFFyz\xC3", 8);
    assert_string_equal(out, "'a?b?\?yz?'");
    assert_string_equal(broad__utf8_quote(out, "", 0), "''");
    memset(text, 'x', sizeof text);
    broad__utf8_quote(out, text, sizeof text);
    assert_int_equal(strspn(out + 1, "x"), BROAD__QUOTE_BYTES - 7);
    assert_string_equal(out + strlen(out) - 4, "...'");
    text[BROAD__QUOTE_BYTES - 8] = '\xC3'; /* a letter of two bytes that would not fit whole is left out */
    text[BROAD__QUOTE_BYTES - 7] = '\xBC';
    snprintf(expected, sizeof expected, "'%.*s...'", BROAD__QUOTE_BYTES - 8, text);
    assert_string_equal(broad__utf8_quote(out, text, sizeof text), expected);
}

static void values_have_names_within_their_range(void **state)
{
    (void)state;
    char name[BROAD__ENUM_BYTES];
    static const char *const names[] = {"unknown", "one", "two", "three", "unknown", "unknown"};
    for (int i = 0; i < 6; i++) {
        broad__enum_name(name, "one|two|three", i - 1);
        assert_string_equal(name, names[i]);
    }
    assert_int_equal(broad__enum_count("one|two|three"), 3);
    assert_int_equal(broad__enum_find("one|two|three", "thre"), -1);
    assert_int_equal(broad__enum_find("one|two|three", "three"), 2);
}

static int open_new(const char *name)
{
    char path[HELPER_PATH];
    join_path(path, folder, name);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    return fd;
}

static int there(const char *name)
{
    char path[HELPER_PATH];
    struct stat about;
    join_path(path, folder, name);
    return lstat(path, &about) == 0;
}

static int remove_one(const char *path) { return unlink(path); }

/* What is locked, of another name, or no file stays. */
static void leftovers_that_are_none_stay(void **state)
{
    (void)state;
    static const char *const stay[] = {".model.inUse1",  ".model.Folder", ".model.short",  ".model.tooLong",
                                       ".models.abcdef", "model.abcdef",  ".model.abcdef~"};
    char path[HELPER_PATH], link[HELPER_PATH];
    int used = open_new(stay[0]);
    assert_int_equal(broad__leftover_hold(used), 0);
    join_path(path, folder, stay[1]);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 2; i < sizeof stay / sizeof *stay; i++) close(open_new(stay[i]));
    join_path(link, folder, ".model.aLinkX");
    join_path(path, folder, "model.abcdef");
    assert_int_equal(symlink(path, link), 0);
    close(open_new(".model.abcdef"));
    join_path(path, folder, "model");
    assert_int_equal(broad__leftovers_remove(path, 0, remove_one), 1);
    assert_false(there(".model.abcdef"));
    assert_true(there(".model.aLinkX"));
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) assert_true(there(stay[i]));
    close(used);
    assert_int_equal(broad__leftovers_remove(path, 0, remove_one), 0);
    assert_false(there(stay[0]));
    assert_int_equal(broad__leftovers_remove("/no/such/folder/model", 0, remove_one), 0);
}

static void locks_tell_what_is_being_removed(void **state)
{
    (void)state;
    int first = open_new("file"), second = open_new("file");
    assert_int_equal(broad__leftover_hold(first), 0);
    assert_int_equal(broad__leftover_hold(second), 0); /* a reader beside it */
    assert_int_equal(flock(second, LOCK_UN), 0);
    assert_int_equal(flock(first, LOCK_EX), 0);
    assert_int_equal(broad__leftover_hold(second), -1);
    assert_int_equal(flock(first, LOCK_UN), 0);
    char path[HELPER_PATH];
    join_path(path, folder, "file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(broad__leftover_hold(second), -1);
    close(first);
    close(second);
    assert_int_equal(broad__leftover_hold(second), 0); /* not a file: nothing can be locked */
}

static void files_are_mapped_or_read(void **state)
{
    (void)state;
    char path[HELPER_PATH], bytes[8];
    broad__mapping mapping;
    broad__reading reading;
    join_path(path, folder, "empty");
    write_text(path, "");
    assert_int_equal(broad__file_map(&mapping, path), BROAD_OK);
    assert_int_equal(mapping.count, 0);
    assert_false(mapping.mapped);
    broad__file_unmap(&mapping);
    assert_null(mapping.bytes);
    write_text(path, "12345");
    assert_int_equal(broad__file_map(&mapping, path), BROAD_OK);
    assert_true(mapping.mapped && mapping.count == 5 && memcmp(mapping.bytes, "12345", 5) == 0);
    broad__file_unmap(&mapping);
    assert_int_equal(broad__file_map(&mapping, folder), BROAD_NO_INPUT);
    assert_int_equal(broad__reading_open(&reading, path), BROAD_OK);
    assert_int_equal(broad__reading_take(&reading, bytes, 3), BROAD_OK);
    assert_int_equal(truncate(path, 4), 0);
    assert_int_equal(broad__reading_take(&reading, bytes, 2), BROAD_IO);
    assert_non_null(strstr(broad_error_message(), "changed while it was read"));
    broad__reading_close(&reading);
}

static void replacements_end_once(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    broad__replacement made;
    join_path(path, folder, "file");
    assert_int_equal(broad__replace_begin(&made, path), BROAD_OK);
    assert_int_equal(broad__replace_commit_unsynced(&made), BROAD_OK);
    assert_int_equal(broad__replace_commit_unsynced(&made), BROAD_BUG);
    assert_int_equal(broad__replace_commit(&made), BROAD_BUG);
    assert_true(broad__replace_write(&made, "x", 1) < 0);
}

static void room_is_refused_where_there_is_none(void **state)
{
    (void)state;
    assert_null(broad__reserve_open((size_t)1 << 62));
    assert_non_null(strstr(broad_error_message(), "memory"));
    char *block = broad__reserve_open(1 << 20);
    assert_non_null(block);
    assert_int_equal(broad__reserve_use(block, 5000, 10), BROAD_OK);
    block[5009] = 1;
    assert_int_equal(broad__reserve_use(block, 0, 0), BROAD_OK);
    broad__reserve_free(block, 1 << 20);
}

/* In a process of its own, which a limit is given. */
static void the_limit_of_a_process_counts(void **state)
{
    (void)state;
    pid_t child = fork();
    if (!child) {
        struct rlimit limit;
        double before = broad__memory_available();
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = (rlim_t)1 << 47; /* all that a process can map, which sanitizers do at their start */
        int far = setrlimit(RLIMIT_AS, &limit) || broad__memory_available() <= 0;
        limit.rlim_cur = 64 << 20;
        double left = setrlimit(RLIMIT_AS, &limit) ? -1 : broad__memory_available();
        leave_process(far || !(before > 64 << 20) || left < 0 || left > 64 << 20);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggestions_are_near),
        cmocka_unit_test(quotations_are_cut_and_clean),
        cmocka_unit_test(values_have_names_within_their_range),
        cmocka_unit_test_setup_teardown(leftovers_that_are_none_stay, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(locks_tell_what_is_being_removed, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(files_are_mapped_or_read, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(replacements_end_once, make_folder, drop_folder),
        cmocka_unit_test(room_is_refused_where_there_is_none),
        cmocka_unit_test(the_limit_of_a_process_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
