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

static void draw(cli_progress *progress, const broad_progress *state, double now)
{
    char elapsed[32], left[32] = "", text[160];
    cli_format_duration(elapsed, sizeof elapsed, now - progress->start);
    if (state->done > progress->first && state->total > state->done) {
        double each = (now - progress->layers_start) / (double)(state->done - progress->first);
        snprintf(left, sizeof left, ", left ");
        cli_format_duration(left + 7, sizeof left - 7, each * (double)(state->total - state->done));
    }
    int used = snprintf(text, sizeof text, "%s %zu/%zu", state->stage ? state->stage : "", state->done, state->total);
    if (state->first_norm > 0 && used > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, ", draw %zu, ||E|| %.4f of the first", state->draws,
                         state->norm / state->first_norm);
    if (used > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, ", %s%s", elapsed, left);
    cli_bar(progress->label, state->total ? (double)state->done / (double)state->total : 0, text);
    progress->drawn = 1;
    progress->last = now;
}

static int on_progress(const broad_progress *state, void *context)
{
    cli_progress *progress = context;
    double now = broad__seconds();
    int layers = state->stage && strcmp(state->stage, "layers") == 0;
    if (progress->layers_start == 0 && layers) {
        progress->layers_start = now;
        if (state->draws > 0) progress->first = state->done;
    }
    if (progress->visible && (now - progress->last > 0.1 || state->done == state->total)) draw(progress, state, now);
    int stop = layers && state->draws == 0 && progress->stop_at && state->done >= progress->stop_at;
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
