/*
 * Everything on this side is non-blocking and waits in one poll() with a deadline: a program that reads nothing, prints without
 * end or hangs costs no more than its time. The child keeps our process group, so that keys of the terminal reach both.
 */
#include "page/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/progress.h"

enum { OUTPUT_MOST = 1 << 26, PIECE = 1 << 14, WORDS_SHOWN = 120, PIPES = 3 };

#define SECONDS_AT_MOST 20.0

extern char **environ;

typedef struct plotter {
    pid_t process;
    int to, from, words;
    const char *script;
    size_t left; /* of the script */
    FILE *answer;
    size_t answered;
    char said[WORDS_SHOWN + 1]; /* to standard error, the first of it */
    size_t said_count;
} plotter;

static void close_end(int *end)
{
    if (*end >= 0) close(*end);
    *end = -1;
}

/* ---- starting ---- */

/* Above 2, so that putting them in their places in the child cannot overwrite one another. */
static int make_pipe(int out[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC)) return -1;
    for (int i = 0; i < 2; i++) {
        out[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(low[i]);
    }
    return out[0] < 0 || out[1] < 0 ? -1 : 0;
}

/* 0, or the system's number for what is wrong. */
static int spawn(pid_t *out, const int ends[PIPES])
{
    posix_spawn_file_actions_t actions;
    char name[] = "gnuplot", plain[] = "--default-settings";
    char *const words[] = {name, plain, NULL};
    int wrong = posix_spawn_file_actions_init(&actions);
    if (wrong) return wrong;
    for (int i = 0; i < PIPES && !wrong; i++) wrong = posix_spawn_file_actions_adddup2(&actions, ends[i], i);
    if (!wrong) wrong = posix_spawnp(out, name, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return wrong;
}

static int start(plotter *made)
{
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, wrong = 0;
    for (int i = 0; i < PIPES && !wrong; i++)
        if (make_pipe(pipes[i])) wrong = errno;
    int *const ours[PIPES] = {&pipes[0][1], &pipes[1][0], &pipes[2][0]};
    const int theirs[PIPES] = {pipes[0][0], pipes[1][1], pipes[2][1]};
    for (int i = 0; i < PIPES && !wrong; i++)
        if (fcntl(*ours[i], F_SETFL, O_NONBLOCK)) wrong = errno;
    if (!wrong) wrong = spawn(&made->process, theirs);
    if (!wrong) {
        made->to = *ours[0];
        made->from = *ours[1];
        made->words = *ours[2];
        for (int i = 0; i < PIPES; i++) *ours[i] = -1;
    }
    for (int i = 0; i < PIPES; i++)
        for (int j = 0; j < 2; j++) close_end(&pipes[i][j]);
    return wrong;
}

/* ---- talking ---- */

static int is_over(ssize_t got) { return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR); }

static void tell(plotter *p)
{
    ssize_t put = p->left ? write(p->to, p->script, p->left) : 0;
    if (put > 0) {
        p->script += put;
        p->left -= (size_t)put;
    }
    if (p->left == 0 || is_over(put)) close_end(&p->to);
}

static void hear(plotter *p)
{
    char piece[PIECE];
    ssize_t got = read(p->from, piece, sizeof piece);
    if (got > 0) p->answered += fwrite(piece, 1, (size_t)got, p->answer);
    if (is_over(got) || p->answered > OUTPUT_MOST) close_end(&p->from);
}

static void hear_words(plotter *p)
{
    char piece[PIECE];
    ssize_t got = read(p->words, piece, sizeof piece);
    for (ssize_t i = 0; i < got && p->said_count < WORDS_SHOWN; i++)
        p->said[p->said_count++] = (unsigned char)piece[i] < ' ' ? ' ' : piece[i];
    if (is_over(got)) close_end(&p->words);
}

/* Until it closes its output. 0: the time is over, or somebody has asked to stop. */
static int talk(plotter *p)
{
    double deadline = broad__seconds() + SECONDS_AT_MOST;
    int interrupted = cli_interrupted(); /* a run that was is told about as any other */
    while (p->from >= 0) {
        struct pollfd ends[PIPES] = {
            {.fd = p->to, .events = POLLOUT}, {.fd = p->from, .events = POLLIN}, {.fd = p->words, .events = POLLIN}};
        if (broad__seconds() > deadline || cli_interrupted() != interrupted) return 0;
        if (poll(ends, PIPES, 100) <= 0) continue;
        if (ends[0].revents) tell(p);
        if (ends[1].revents) hear(p);
        if (ends[2].revents) hear_words(p);
    }
    return 1;
}

/* Its exit status, or -1. One that has closed its output but does not end is ended. */
static int finish(plotter *p, int in_time)
{
    int status = 0;
    close_end(&p->to);
    close_end(&p->from);
    close_end(&p->words);
    pid_t done = 0;
    for (double deadline = broad__seconds() + 1; in_time && !done && broad__seconds() < deadline;) {
        done = waitpid(p->process, &status, WNOHANG);
        if (!done) poll(NULL, 0, 2);
    }
    if (!done) {
        kill(p->process, SIGKILL);
        while (waitpid(p->process, &status, 0) < 0 && errno == EINTR) {}
        return -1;
    }
    return done > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What came of it; SIGPIPE, which a program that reads nothing would raise here, is not wanted meanwhile. */
static int converse(plotter *p, char why[CLI_GNUPLOT_WHY])
{
    struct sigaction before, ignored = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignored, &before);
    int in_time = talk(p), code = finish(p, in_time);
    sigaction(SIGPIPE, &before, NULL);
    if (!in_time) snprintf(why, CLI_GNUPLOT_WHY, "gnuplot took longer than %.0f seconds", SECONDS_AT_MOST);
    else if (code || !p->answered)
        snprintf(why, CLI_GNUPLOT_WHY, "gnuplot failed%s%s; is it one of version 5 or later? (Debian: gnuplot-nox)",
                 p->said_count ? ": " : "", p->said);
    return in_time && code == 0 && p->answered > 0;
}

int cli_gnuplot_run(char **out, char why[CLI_GNUPLOT_WHY], const char *script)
{
    plotter p = {.to = -1, .from = -1, .words = -1, .script = script, .left = strlen(script)};
    char *answer = NULL;
    size_t bytes = 0;
    p.answer = open_memstream(&answer, &bytes);
    if (!p.answer) {
        snprintf(why, CLI_GNUPLOT_WHY, "out of memory");
        return 0;
    }
    int wrong = start(&p), done = 0;
    if (wrong == ENOENT) snprintf(why, CLI_GNUPLOT_WHY, "gnuplot is not installed (Debian: gnuplot-nox)");
    else if (wrong) snprintf(why, CLI_GNUPLOT_WHY, "gnuplot cannot be started: %s", strerror(wrong));
    else done = converse(&p, why);
    if (fclose(p.answer) && done) {
        snprintf(why, CLI_GNUPLOT_WHY, "out of memory");
        done = 0;
    }
    if (done) *out = answer;
    else free(answer);
    return done;
}
