#include "io/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/progress.h"
#include "io/ranks.h"

/* After a signal: seconds for what is still to be measured. */
static const double MOMENT = 0.3;

/* Free of locks, so that a handler may use them. */
static atomic_int interrupted, depth;
static atomic_int notice; /* a terminal is told */
static atomic_int silent;
/* The text is written to the one of the two that is not in use. */
static char texts[2][1024] = {"nothing was written"};
static atomic_int text_used;

static void put(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is no one left to tell */
}

static void end_now(int signal_number)
{
    if (silent) _exit(128 + signal_number);
    if (notice) put(cli_bar_end());
    put("broad: interrupted; ");
    put(texts[text_used]);
    put("\n");
    _exit(128 + signal_number);
}

static void on_signal(int signal_number)
{
    int error = errno;
    if (!depth) end_now(signal_number);
    interrupted = signal_number;
    if (notice) {
        put(cli_bar_end());
        put("stopping; press Ctrl-C again to end at once\n");
    }
    errno = error;
}

/* The part of a mapped file that is read has gone. */
static void on_lost_file(int signal_number)
{
    (void)signal_number;
    if (notice) put(cli_bar_end());
    put("broad: a file was shortened, or its disk failed, while it was being read; try again when it is complete; ");
    put(texts[text_used]);
    put("\n");
    _exit(-BROAD_IO);
}

/* SA_RESETHAND: a second interrupt ends the process. */
void cli_signals_begin(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    notice = isatty(STDERR_FILENO);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_lost_file;
    sigaction(SIGBUS, &action, NULL);
}

void cli_signals_catch(void) { depth++; }

void cli_signals_release(void)
{
    if (depth > 0) depth--;
}

void cli_signals_silence(void) { silent = 1; }

int cli_interrupted(void) { return interrupted; }

int cli_interrupted_any(void)
{
    int any = cli_ranks_most(interrupted);
    if (!interrupted) interrupted = any;
    return any;
}

void cli_keeps(const char *format, ...)
{
    int other = !text_used;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(texts[other], sizeof texts[other], format, arguments);
    va_end(arguments);
    text_used = other;
}

const char *cli_kept(void) { return texts[text_used]; }

static int on_watch(const broad_progress *state, void *context)
{
    (void)state;
    const double *until = context;
    return interrupted && !(broad__seconds() < *until);
}

const broad_run_options *cli_watch(size_t threads)
{
    static _Thread_local broad_run_options run;
    static _Thread_local double until; /* of a signal before */
    if (!interrupted) until = 0;
    else if (until == 0) until = broad__seconds() + MOMENT;
    run = (broad_run_options){.size = sizeof run,
                              .threads = cli_ranks_threads(threads),
                              .progress = on_watch,
                              .progress_context = (void *)&until,
                              .comm = cli_comm()};
    return &run;
}
