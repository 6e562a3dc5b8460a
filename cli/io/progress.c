#include "io/progress.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/common.h"

void cli_format_duration(char *out, size_t bytes, double seconds)
{
    unsigned long whole = broad__whole(seconds + 0.5, LONG_MAX);
    if (seconds < 60) snprintf(out, bytes, "%.1f s", seconds);
    else if (whole < 3600) snprintf(out, bytes, "%lu:%02lu", whole / 60, whole % 60);
    else snprintf(out, bytes, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
}

static size_t terminal_width(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) || window.ws_col == 0) return 80;
    return window.ws_col;
}

/* A terminal without escapes has no bar. */
static int has_escapes(void)
{
    const char *terminal = getenv("TERM");
    return !terminal || strcmp(terminal, "dumb");
}

const char *cli_bar_end(void) { return has_escapes() ? "\r\033[K" : ""; }

void cli_bar(const char *label, double part, const char *text)
{
    if (!has_escapes()) return;
    size_t used = strlen(label) + strlen(text) + 6, columns = terminal_width(), width = 0;
    if (columns > used + 8) width = columns - used < 30 ? columns - used : 30;
    fprintf(stderr, "\r\033[K%s ", label);
    if (width) fputc('[', stderr);
    for (size_t i = 0; i < width; i++) fputc((double)i < part * (double)width - 0.5 ? '#' : '.', stderr);
    if (width) fputs("] ", stderr);
    fprintf(stderr, "%.*s", (int)(columns > strlen(label) + 3 ? columns - strlen(label) - 3 : 0), text);
    fflush(stderr);
}

void cli_bar_wipe(void) { fputs(cli_bar_end(), stderr); }

/* Known from a tenth of the work on, and never more than a moment ago has passed since. */
void cli_bar_left(char *out, size_t bytes, double part, double seconds)
{
    out[0] = 0;
    if (part < 0.1 || part > 1) return;
    char left[32];
    cli_format_duration(left, sizeof left, seconds * (1 - part) / part);
    snprintf(out, bytes, ", left %s", left);
}

/* Layers are a limit: growth may end before it, by itself. */
static int is_layers(const broad_progress *state) { return state->stage && strcmp(state->stage, "layers") == 0; }

static void draw(cli_progress *progress, const broad_progress *state, double now)
{
    char elapsed[32], left[48], text[160], stage[64];
    if (state->part > progress->part) progress->part = state->part;
    cli_format_duration(elapsed, sizeof elapsed, now - progress->start);
    cli_bar_left(left, sizeof left, progress->part, now - progress->start);
    snprintf(stage, sizeof stage, "%s", state->stage ? state->stage : "");
    if (state->total > 1)
        snprintf(stage, sizeof stage, is_layers(state) ? "%s %zu of at most %zu" : "%s %zu/%zu", state->stage,
                 state->done, state->total);
    snprintf(text, sizeof text, "%s, %s%s", stage, elapsed, left);
    cli_bar(progress->label, progress->part, text);
    progress->drawn = 1;
    progress->last = now;
}

static int on_progress(const broad_progress *state, void *context)
{
    cli_progress *progress = context;
    double now = broad__seconds();
    if (progress->visible && now - progress->last > 0.1) draw(progress, state, now);
    int stop = is_layers(state) && state->draws == 0 && progress->stop_at && state->done >= progress->stop_at;
    if (stop) progress->stop_at = 0; /* asked again while the residual is brought up to date: that is to be finished */
    return stop || cli_interrupted() != 0;
}

void cli_progress_begin(cli_progress *out, broad_options *options, const char *label, const cli_arguments *arguments)
{
    memset(out, 0, sizeof *out);
    out->label = label;
    out->visible = isatty(STDERR_FILENO) && !cli_given(arguments, "quiet");
    out->start = broad__seconds();
    options->progress = on_progress;
    options->progress_context = out;
    cli_signals_catch();
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->drawn) cli_bar_wipe();
    progress->drawn = 0;
}
