/*
 * A program that finds boxes, kept running. Three pipes lead to and from it; everything on this side is non-blocking and waits
 * in one poll() with a deadline, so that a program that reads nothing, prints without end or hangs costs no more than its time.
 * It leads a process group of its own: what it starts ends with it, and the keys of the terminal reach it through us alone.
 */
#include "io/detector.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/utf8.h"
#include "io/detector_answer.h"

enum {
    WORDS_KEPT = 2048,   /* bytes of standard error, the last ones */
    WORDS_SHOWN = 400,   /* of them in a message */
    CAUSE_KEPT = 1536,   /* bytes of a message */
    LINE_MOST = 1 << 20, /* bytes of an answer */
    PIECE = 1 << 14,
    PIECES_AT_ONCE = 64, /* of standard error, before the clock is looked at again */
    PIPES = 3
};

#define SECONDS_TO_LEAVE 1.0   /* after its input is closed, and again after SIGTERM */
#define SECONDS_TO_DIE 10.0    /* after SIGKILL, which a process in the middle of a system call may have to wait for */
#define SECONDS_TO_BE_TOLD 1.0 /* how it ended, after it has closed its output */

struct cli_detector {
    pid_t process; /* 0: it has ended and was waited for */
    int wait_status;
    int lost; /* its end was waited for elsewhere */
    int to, from, words;
    double seconds;
    char *line; /* what it has printed and was not read yet */
    size_t count, room;
    char said[WORDS_KEPT]; /* to standard error */
    size_t said_count;
    int failed;
    char cause[CAUSE_KEPT]; /* the message of that failure, for all who ask later */
};

/* ---- starting -------------------------------------------------------------------------------------------------- */

static int fail_system(const char *what)
{
    char text[128];
    int number = errno;
    return broad__fail(BROAD_FAILED, "the detector cannot be started: %s: %s", what,
                       strerror_r(number, text, sizeof text));
}

static void close_both(int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
    ends[0] = ends[1] = -1;
}

/* Both ends above 2, so that putting them in their places in the child cannot overwrite one another, and closed on exec. */
static int make_pipe(int out[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) < 0) return fail_system("no pipe");
    for (int i = 0; i < 2; i++) out[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int status = out[0] < 0 || out[1] < 0 ? fail_system("no pipe") : BROAD_OK;
    close_both(low);
    if (status < 0) close_both(out);
    return status;
}

/* Signals as a program expects them, whatever the tool has made of its own. */
static int set_attributes(posix_spawnattr_t *out)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    const int reset[] = {SIGPIPE, SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGCHLD};
    for (size_t i = 0; i < sizeof reset / sizeof reset[0]; i++) sigaddset(&usual, reset[i]);
    int wrong = posix_spawnattr_setflags(out, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!wrong) wrong = posix_spawnattr_setpgroup(out, 0);
    if (!wrong) wrong = posix_spawnattr_setsigmask(out, &none);
    if (!wrong) wrong = posix_spawnattr_setsigdefault(out, &usual);
    return wrong;
}

static int spawn(pid_t *out, const char *command, const int ends[PIPES])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char shell[] = "sh", flag[] = "-c";
    char *text = broad__copy_text(command);
    if (!text) return BROAD_NO_MEMORY;
    char *const words[] = {shell, flag, text, NULL};
    int wrong = posix_spawn_file_actions_init(&actions);
    int have_actions = !wrong;
    if (!wrong) wrong = posix_spawnattr_init(&attributes);
    int have_attributes = have_actions && !wrong;
    for (int i = 0; i < PIPES && !wrong; i++) wrong = posix_spawn_file_actions_adddup2(&actions, ends[i], i);
    if (!wrong) wrong = set_attributes(&attributes);
    if (!wrong) wrong = posix_spawn(out, "/bin/sh", &actions, &attributes, words, environ);
    if (have_actions) posix_spawn_file_actions_destroy(&actions);
    if (have_attributes) posix_spawnattr_destroy(&attributes);
    broad__free(text);
    errno = wrong;
    return wrong ? fail_system("/bin/sh") : BROAD_OK;
}

static int start(cli_detector *made, const char *command)
{
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int status = BROAD_OK;
    for (int i = 0; i < PIPES && status == BROAD_OK; i++) status = make_pipe(pipes[i]);
    if (status < 0) goto cleanup;
    int *const ours[PIPES] = {&pipes[0][1], &pipes[1][0], &pipes[2][0]};
    const int theirs[PIPES] = {pipes[0][0], pipes[1][1], pipes[2][1]};
    for (int i = 0; i < PIPES && status == BROAD_OK; i++)
        if (fcntl(*ours[i], F_SETFL, O_NONBLOCK) < 0) status = fail_system("no pipe");
    if (status == BROAD_OK) status = spawn(&made->process, command, theirs);
    if (status < 0) goto cleanup;
    made->to = *ours[0];
    made->from = *ours[1];
    made->words = *ours[2];
    for (int i = 0; i < PIPES; i++) *ours[i] = -1;
cleanup:
    for (int i = 0; i < PIPES; i++) close_both(pipes[i]);
    return status;
}

int cli_detector_start(cli_detector **out, const char *command, double seconds)
{
    if (!*command) return broad__fail(BROAD_USAGE, "the detector's command is empty");
    if (!(seconds > 0 && isfinite(seconds)))
        return broad__fail(BROAD_USAGE, "the detector's time must be a number of seconds above 0 and not %g", seconds);
    cli_detector *made = broad__alloc(sizeof *made);
    if (!made) return BROAD_NO_MEMORY;
    *made = (cli_detector){.to = -1, .from = -1, .words = -1, .seconds = seconds};
    int status = start(made, command);
    if (status < 0) broad__free(made);
    else *out = made;
    return status;
}

/* ---- its end --------------------------------------------------------------------------------------------------- */

static void close_end(int *end)
{
    if (*end >= 0) close(*end);
    *end = -1;
}

static void keep_words(cli_detector *detector, const char *bytes, size_t count)
{
    if (count > WORDS_KEPT) {
        bytes += count - WORDS_KEPT;
        count = WORDS_KEPT;
    }
    size_t keep = WORDS_KEPT - count < detector->said_count ? WORDS_KEPT - count : detector->said_count;
    memmove(detector->said, detector->said + detector->said_count - keep, keep);
    memcpy(detector->said + keep, bytes, count);
    detector->said_count = keep + count;
}

static void hear_words(cli_detector *detector)
{
    char piece[PIECE];
    for (int i = 0; i < PIECES_AT_ONCE && detector->words >= 0; i++) {
        ssize_t got = read(detector->words, piece, sizeof piece);
        if (got > 0) keep_words(detector, piece, (size_t)got);
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        if (got == 0 || errno != EAGAIN) close_end(&detector->words);
        return;
    }
}

/* Takes the status of a process that has ended. Its number, which is that of its group, belongs to it until then: what it
 * has left behind can be ended without hitting another process. */
static void take_end(cli_detector *detector)
{
    killpg(detector->process, SIGKILL);
    while (waitpid(detector->process, &detector->wait_status, 0) < 0 && errno == EINTR) {}
    detector->process = 0;
}

/* Whether it has ended; waits for that as long as is said. */
static int has_ended(cli_detector *detector, double seconds)
{
    double deadline = broad__seconds() + seconds;
    while (detector->process) {
        siginfo_t about = {0};
        int got = waitid(P_PID, (id_t)detector->process, &about, WEXITED | WNOHANG | WNOWAIT);
        if (got < 0 && errno == ECHILD) {
            detector->lost = 1;
            detector->process = 0;
        } else if (got == 0 && about.si_pid == detector->process) {
            take_end(detector);
        } else {
            if (broad__seconds() >= deadline) return 0;
            struct pollfd words = {.fd = detector->words, .events = POLLIN};
            poll(&words, 1, 5); /* a program whose words are not read may never end */
        }
        hear_words(detector);
    }
    return 1;
}

static void end_it(cli_detector *detector)
{
    close_end(&detector->to);
    close_end(&detector->from);
    if (!has_ended(detector, detector->failed ? 0 : SECONDS_TO_LEAVE)) {
        killpg(detector->process, SIGTERM);
        if (!has_ended(detector, SECONDS_TO_LEAVE)) killpg(detector->process, SIGKILL);
        has_ended(detector, SECONDS_TO_DIE);
    }
    close_end(&detector->words);
}

void cli_detector_stop(cli_detector *detector)
{
    if (!detector) return;
    end_it(detector);
    broad__free(detector->line);
    broad__free(detector);
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

static void tell_end(char *out, size_t room, const cli_detector *detector)
{
    int status = detector->wait_status;
    if (detector->process) snprintf(out, room, "has closed its output");
    else if (detector->lost) snprintf(out, room, "has ended");
    else if (WIFSIGNALED(status)) snprintf(out, room, "was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        snprintf(out, room, "has ended: /bin/sh does not find the command (status 127)");
    else snprintf(out, room, "has ended with status %d", WEXITSTATUS(status));
}

/* The last words, on one line; "" where there are none. */
static void tell_words(char out[WORDS_SHOWN], const cli_detector *detector)
{
    static const char head[] = "; its last words: ";
    const char *said = detector->said;
    size_t count = detector->said_count, room = WORDS_SHOWN - sizeof head, used = sizeof head - 1;
    out[0] = 0;
    while (count && isspace((unsigned char)*said)) said++, count--;
    while (count && isspace((unsigned char)said[count - 1])) count--;
    if (!count) return;
    if (count > room) said += count - room, count = room;
    while (count && ((unsigned char)*said & 0xC0) == 0x80) said++, count--; /* not from the middle of a character on */
    memcpy(out, head, sizeof head - 1);
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)said[i];
        out[used++] = c == '\n' ? '|' : c < 0x20 || c == 0x7F ? ' ' : (char)c;
    }
    out[used] = 0;
}

/* Ends it, and says what went wrong with `file`. */
static int give_up(cli_detector *detector, const char *file, const char *what)
{
    char words[WORDS_SHOWN];
    detector->failed = 1;
    end_it(detector);
    tell_words(words, detector);
    broad__fail(BROAD_FAILED, "%.300s: the detector %s%s", file, what, words);
    snprintf(detector->cause, sizeof detector->cause, "%s", broad_error_message());
    return BROAD_FAILED;
}

static int give_up_ended(cli_detector *detector, const char *file)
{
    char how[128];
    has_ended(detector, SECONDS_TO_BE_TOLD);
    tell_end(how, sizeof how, detector);
    return give_up(detector, file, how);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

/* SIGPIPE, where it is not ignored, would end the process: it is kept from this thread and taken away again. */
static ssize_t write_quietly(int fd, const char *bytes, size_t count)
{
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    int was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t put = write(fd, bytes, count);
    int number = errno;
    if (put < 0 && number == EPIPE && !was_pending) {
        const struct timespec at_once = {0};
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return put;
}

/* Up to the end of what is there. *ended: it will print nothing more. */
static int hear_answer(cli_detector *detector, int *ended)
{
    for (;;) {
        if (detector->count > LINE_MOST) return BROAD_OK;
        int status =
            broad__grow(&detector->line, &detector->room, detector->count + PIECE, 1, (size_t)LINE_MOST + 2 * PIECE);
        if (status < 0) return status;
        ssize_t got = read(detector->from, detector->line + detector->count, PIECE);
        if (got > 0) detector->count += (size_t)got;
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        *ended = got == 0 || errno != EAGAIN;
        return BROAD_OK;
    }
}

static int wait_for(cli_detector *detector, int writing, double deadline)
{
    struct pollfd ends[PIPES] = {{.fd = writing ? detector->to : -1, .events = POLLOUT},
                                 {.fd = detector->from, .events = POLLIN},
                                 {.fd = detector->words, .events = POLLIN}};
    double left = deadline - broad__seconds();
    if (left <= 0) return 0;
    poll(ends, PIPES, left < 1 ? (int)(left * 1000) + 1 : 1000);
    hear_words(detector);
    return 1;
}

/* *out is the length of the line at the beginning of what it has printed, without its end. */
static int exchange(size_t *out, cli_detector *detector, const char *file, const char *question, size_t count)
{
    double deadline = broad__seconds() + detector->seconds;
    size_t put = 0, seen = 0;
    for (int ended = 0;;) {
        const char *end = detector->count > seen ? memchr(detector->line + seen, '\n', detector->count - seen) : NULL;
        if (end) {
            *out = (size_t)(end - detector->line);
            return BROAD_OK;
        }
        seen = detector->count;
        if (detector->count > LINE_MOST) return give_up(detector, file, "prints a line of more than 1 MiB");
        if (ended) return give_up_ended(detector, file);
        ssize_t more = put < count ? write_quietly(detector->to, question + put, count - put) : 0;
        if (more > 0) put += (size_t)more;
        if (more < 0 && errno != EAGAIN && errno != EINTR) put = count; /* its end shows on the other pipe */
        int status = hear_answer(detector, &ended);
        if (status < 0) return status;
        if (detector->count > seen || ended) continue;
        if (!wait_for(detector, put < count, deadline)) {
            char what[128];
            snprintf(what, sizeof what,
                     "has not answered within %g seconds; give it more time with option detector-seconds",
                     detector->seconds);
            return give_up(detector, file, what);
        }
    }
}

static int judge(broad_box_list *out, cli_detector *detector, const char *file, size_t length)
{
    char shown[BROAD__QUOTE_BYTES], what[700];
    int status = cli_detector_answer(out, detector->line, length, file);
    if (status != BROAD_FAILED) return status;
    snprintf(what, sizeof what, "has printed %s: %.500s", broad__utf8_quote(shown, detector->line, length),
             broad_error_message());
    return give_up(detector, file, what);
}

int cli_detector_ask(broad_box_list *out, cli_detector *detector, const char *file)
{
    size_t count = strlen(file), length = 0;
    char shown[BROAD__QUOTE_BYTES];
    if (detector->failed) return broad__fail(BROAD_FAILED, "%s", detector->cause);
    if (!count || strpbrk(file, "\r\n") || !broad__utf8_valid(file, count))
        return broad__fail(
            BROAD_BAD_DATA,
            "%s: the name contains a line break or is not UTF-8 text, and cannot be given to a detector; "
            "rename the file",
            broad__utf8_quote(shown, file, count));
    char *question = broad__copy_bytes(file, count + 1);
    if (!question) return BROAD_NO_MEMORY;
    question[count] = '\n';
    int status = exchange(&length, detector, file, question, count + 1);
    broad__free(question);
    if (status == BROAD_OK) {
        status = judge(out, detector, file, length);
        detector->count -= length + 1;
        memmove(detector->line, detector->line + length + 1, detector->count);
    }
    /* After a lack of memory, an answer may still be on its way that belongs to this question. */
    if (status == BROAD_NO_MEMORY) {
        detector->failed = 1;
        end_it(detector);
    }
    return status;
}
