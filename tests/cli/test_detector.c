/* Detectors as real processes: what they answer, and every way in which they fail to. */
#include "data_helper.h"
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "data/photo/boxes.h"
#include "io/detector.h"

/* Answers every name with one box; the shell's read and printf buffer nothing. */
#define ANSWER_ALL                                                                                                     \
    "while IFS= read -r f; do printf '{\"file\": \"%s\", \"boxes\": [[1, 2, 30, 40.5, 0.75]]}\\n' \"$f\"; done"

static cli_detector *started(const char *command, double seconds)
{
    cli_detector *detector = NULL;
    assert_ok(cli_detector_start(&detector, command, seconds));
    return detector;
}

/* Asks once, expects the failure, and that nothing more can be asked. */
static void expect_failure(const char *command, double seconds, const char *message)
{
    cli_detector *detector = started(command, seconds);
    broad_box_list list = {0};
    int status = cli_detector_ask(&list, detector, "a.jpg");
    if (status != BROAD_FAILED) fail_msg("%s: status %d: %s", command, status, broad_error_message());
    if (!strstr(broad_error_message(), message))
        fail_msg("%s: no \"%s\" in \"%s\"", command, message, broad_error_message());
    if (strncmp(broad_error_message(), "a.jpg: the detector ", 20) != 0) fail_msg("%s", broad_error_message());
    assert_fails(cli_detector_ask(&list, detector, "b.jpg"), BROAD_FAILED, message); /* the cause, once more */
    broad__box_list_clear(&list);
    cli_detector_stop(detector);
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *entries = opendir("/proc/self/fd");
    if (!entries) return 0;
    while (readdir(entries)) count++;
    closedir(entries);
    return count;
}

static void expect_no_children(void)
{
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_answers(void **state)
{
    (void)state;
    size_t files = open_files();
    cli_detector *detector = started(ANSWER_ALL, 20);
    broad_box_list list = {0};
    enum { PHOTOS = 500 };
    for (int i = 0; i < PHOTOS; i++) {
        char name[64];
        snprintf(name, sizeof name, "some folder/photo %d \xC3\xA4.jpg", i);
        assert_ok(cli_detector_ask(&list, detector, name));
    }
    assert_int_equal(list.count, PHOTOS);
    const broad__box *box = &list.items[PHOTOS - 1];
    assert_true(box->left == 1 && box->top == 2 && box->right == 30 && box->bottom == 40.5 && box->score == 0.75);
    assert_int_equal(box->relative, 0);
    broad__box_list_clear(&list);
    cli_detector_stop(detector);
    cli_detector_stop(NULL);
    assert_int_equal(open_files(), files);
    expect_no_children();
}

static void test_shapes(void **state)
{
    (void)state;
    /* No score, no box, several boxes; a refusal does not end it. */
    cli_detector *detector =
        started("while read -r f; do printf '{\"boxes\": %s, \"file\": \"%s\"}\\n' \"$f\" \"$f\"; done", 20);
    broad_box_list list = {0};
    assert_ok(cli_detector_ask(&list, detector, "[]"));
    assert_int_equal(list.count, 0);
    assert_ok(cli_detector_ask(&list, detector, "[[1,2,3,4],[-5,6.5,1e3,8,-0.5]]"));
    assert_int_equal(list.count, 2);
    assert_true(isnan(list.items[0].score) && list.items[1].score == -0.5 && list.items[1].right == 1000);
    cli_detector_stop(detector);

    detector = started(
        "while read -r f; do case $f in bad*) echo \"{\\\"file\\\": \\\"$f\\\", \\\"error\\\": \\\"torn\\\"}\" ;; "
        "*) echo \"{\\\"file\\\": \\\"$f\\\", \\\"boxes\\\": []}\" ;; esac; done",
        20);
    assert_fails(cli_detector_ask(&list, detector, "bad.jpg"), BROAD_BAD_DATA, "bad.jpg: the detector says: torn");
    assert_ok(cli_detector_ask(&list, detector, "good.jpg"));
    assert_fails(cli_detector_ask(&list, detector, "a\nb.jpg"), BROAD_BAD_DATA,
                 "'a?b.jpg': the name contains a line break");
    assert_fails(cli_detector_ask(&list, detector, "\xFF.jpg"), BROAD_BAD_DATA, "is not UTF-8");
    assert_ok(cli_detector_ask(&list, detector, "good.jpg"));
    assert_int_equal(list.count, 2);
    cli_detector_stop(detector);
    broad__box_list_clear(&list);
}

static void test_partial(void **state)
{
    (void)state;
    cli_detector *detector =
        started("while read -r f; do echo hello >&2; printf '{\"file\": '; sleep 0.05; printf '\"%s\", ' \"$f\"; "
                "sleep 0.05; printf '\"boxes\": []}\\r\\n'; done",
                20);
    broad_box_list list = {0};
    for (int i = 0; i < 3; i++) assert_ok(cli_detector_ask(&list, detector, "a.jpg"));
    cli_detector_stop(detector);
    assert_int_equal(list.count, 0);
    broad__box_list_clear(&list);
}

static void test_failures(void **state)
{
    (void)state;
    static const struct {
        const char *command, *message;
    } cases[] = {
        {"no-such-program-anywhere", "/bin/sh does not find the command (status 127); its last words: "},
        {"no-such-program-anywhere", "no-such-program-anywhere"},
        {"exit 3", "has ended with status 3"},
        {"true", "has ended with status 0"},
        {"echo 'no weights' >&2; echo 'give up' >&2; exit 1",
         "has ended with status 1; its last words: no weights|give up"},
        {"kill -9 $$", "was ended by signal 9"},
        {"read f; kill -SEGV $$", "was ended by signal 11"},
        {"echo loading the model; " ANSWER_ALL, "has printed 'loading the model': it is no JSON"},
        {"echo loading the model; " ANSWER_ALL, "everything else to standard error"},
        {"read f; echo; " ANSWER_ALL, "has printed '': it is no JSON"},
        {"read f; echo 3", "it is no JSON"},
        {"read f; echo '[3]'", "has printed '[3]': it is no object such as {\"file\""},
        {"read f; echo '{\"boxes\": []}'", "it names no \"file\""},
        {"read f; echo '{\"file\": \"b.jpg\", \"boxes\": []}'", "it is about the file 'b.jpg'"},
        {"read f; echo '{\"file\": \"a.jpg\"}'", "it has no list \"boxes\""},
        {"read f; echo '{\"file\": \"a.jpg\", \"error\": 3}'", "its \"error\" must be text"},
        {"read f; echo '{\"file\": \"a.jpg\", \"boxes\": [3]}'", "boxes[0] must be four or five numbers"},
        {"read f; echo '{\"file\": \"a.jpg\", \"boxes\": [[1,2,3,4],[1,2,3]]}'",
         "boxes[1] must be four or five numbers"},
        {"read f; echo '{\"file\": \"a.jpg\", \"boxes\": [[1,2,3,4,5,6]]}'", "boxes[0] must be four or five numbers"},
        {"read f; echo '{\"file\": \"a.jpg\", \"boxes\": [[1,2,3,\"4\"]]}'", "boxes[0][3] is no number"},
        {"read f; echo '{\"file\": \"a.jpg\", \"boxes\": [[1,2,NaN,4]]}'", "it is no JSON"},
        {"read f; echo '{\"file\": \"a.jpg\", \"boxes\": [[3,2,3,4]]}'", "boxes[0]: the box has no width"},
        {"read f; printf '{\"file\": \"a.jpg\", \"boxes\": []}'", "has ended with status 0"}, /* no end of line */
        {"exec <&-; exec >&-; sleep 5", "has closed its output"},
        {"yes", "has printed 'y': it is no JSON"},
        {"tr '\\0' x </dev/zero", "prints a line of more than 1 MiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_failure(cases[i].command, 20, cases[i].message);
    expect_no_children();
}

static void test_time(void **state)
{
    (void)state;
    size_t files = open_files();
    double before = broad__seconds();
    expect_failure("sleep 100", 0.2, "has not answered within 0.2 seconds; give it more time");
    expect_failure("echo thinking >&2; trap '' TERM; while :; do sleep 0.1; done", 0.2, "its last words: thinking");
    expect_failure("yes >&2", 0.3, "has not answered within 0.3 seconds");
    expect_failure("while :; do printf '{\"file\"'; sleep 0.01; done", 0.3, "has not answered within 0.3 seconds");
    assert_true(broad__seconds() - before < 20);
    expect_no_children();
    assert_int_equal(open_files(), files);
}

/* A question that does not fit into the pipe of a program that does not read. */
static void test_long_name(void **state)
{
    (void)state;
    enum { LONG = 1 << 18 };
    char *name = malloc(LONG);
    assert_non_null(name);
    memset(name, 'x', LONG - 1);
    name[LONG - 1] = 0;
    broad_box_list list = {0};
    cli_detector *detector = started("sleep 100", 0.3);
    assert_fails(cli_detector_ask(&list, detector, name), BROAD_FAILED, "has not answered within 0.3 seconds");
    cli_detector_stop(detector);
    detector = started("exec <&-; sleep 0.1; exit 4", 20); /* writing fails: no SIGPIPE ends this test */
    assert_fails(cli_detector_ask(&list, detector, name), BROAD_FAILED, "has ended with status 4");
    cli_detector_stop(detector);
    free(name);
    sigset_t pending;
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
    broad__box_list_clear(&list);
}

static int lives(const char *path)
{
    FILE *file = fopen(path, "r");
    int process = 0;
    if (!file) return 0;
    int read = fscanf(file, "%d", &process);
    fclose(file);
    return read == 1 && kill(process, 0) == 0;
}

/* What it has started ends with it, and it may finish its work once its input is closed. */
static void test_stop(void **state)
{
    (void)state;
    char command[3 * HELPER_PATH], path[HELPER_PATH], done[HELPER_PATH];
    join_path(path, folder, "child");
    join_path(done, folder, "done");
    snprintf(command, sizeof command, "sleep 100 & echo $! >'%s'; %s; sleep 0.2; echo done >'%s'", path, ANSWER_ALL,
             done);
    cli_detector *detector = started(command, 20);
    broad_box_list list = {0};
    assert_ok(cli_detector_ask(&list, detector, "a.jpg"));
    assert_true(lives(path));
    cli_detector_stop(detector);
    assert_int_equal(access(done, F_OK), 0);
    for (int i = 0; i < 200 && lives(path); i++) usleep(10000);
    assert_false(lives(path));
    broad__box_list_clear(&list);

    double before = broad__seconds();
    cli_detector_stop(started("trap '' TERM; while :; do sleep 0.1; done", 20)); /* deaf to all but SIGKILL */
    assert_true(broad__seconds() - before < 10);
    cli_detector_stop(started("exit 0", 20));
    expect_no_children();
}

/* Two at a time must not hold each other's pipes open. */
static void test_two(void **state)
{
    (void)state;
    broad_box_list list = {0};
    cli_detector *one = started(ANSWER_ALL, 20), *other = started(ANSWER_ALL, 20);
    assert_ok(cli_detector_ask(&list, one, "a.jpg"));
    assert_ok(cli_detector_ask(&list, other, "a.jpg"));
    double before = broad__seconds();
    cli_detector_stop(one);
    assert_true(broad__seconds() - before < 0.9); /* else its input was still open somewhere, and it had to be ended */
    assert_ok(cli_detector_ask(&list, other, "b.jpg"));
    cli_detector_stop(other);
    broad__box_list_clear(&list);
}

/* Numbers 0 to 2 may be free, and then are those of the pipes. */
static void test_low_numbers(void **state)
{
    (void)state;
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    close(STDIN_FILENO);
    broad_box_list list = {0};
    cli_detector *detector = NULL;
    int status = cli_detector_start(&detector, ANSWER_ALL, 20);
    if (status == BROAD_OK) status = cli_detector_ask(&list, detector, "a.jpg");
    cli_detector_stop(detector);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    assert_ok(status);
    assert_int_equal(list.count, 1);
    broad__box_list_clear(&list);
}

static void test_usage(void **state)
{
    (void)state;
    cli_detector *detector = NULL;
    assert_fails(cli_detector_start(&detector, "", 1), BROAD_USAGE, "command is empty");
    assert_fails(cli_detector_start(&detector, "true", 0), BROAD_USAGE, "above 0 and not 0");
    assert_fails(cli_detector_start(&detector, "true", NAN), BROAD_USAGE, "above 0");
    assert_null(detector);
}

static void test_memory(void **state)
{
    (void)state;
    for (size_t n = 1; n < 50; n++) {
        memory_watch watch;
        cli_detector *detector = NULL;
        broad_box_list list = {0};
        watch_start(&watch, n);
        int status = cli_detector_start(&detector, ANSWER_ALL, 20);
        if (status == BROAD_OK) status = cli_detector_ask(&list, detector, "a.jpg");
        cli_detector_stop(detector);
        broad__box_list_clear(&list);
        watch_stop();
        assert_int_equal(watch.live, 0);
        expect_no_children();
        if (status == BROAD_OK) return;
        assert_int_equal(status, BROAD_NO_MEMORY);
    }
    fail_msg("it always fails");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test_setup_teardown(test_stop, make_folder, drop_folder),
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_low_numbers),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
