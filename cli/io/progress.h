/* The bar of a training run, and interrupts. */
#ifndef BROAD_CLI_IO_PROGRESS_H
#define BROAD_CLI_IO_PROGRESS_H

#include "arguments.h"

typedef struct cli_progress {
    const char *label;
    int visible, drawn;
    size_t stop_at; /* the run ends at this number of layers; 0: it does not */
    size_t first;   /* layers there were at the start */
    double start, layers_start, last;
} cli_progress;

/* Hooks itself into the options, which must not outlive it. The bar is drawn if standard error is a terminal. Until
 * cli_signals_release(), SIGINT and SIGTERM end the run early, and a second one ends the process. */
void cli_progress_begin(cli_progress *out, broad_options *options, const char *label, const cli_arguments *arguments);
void cli_progress_end(cli_progress *progress); /* wipes the bar */
/* One line over the last one: the label, a bar of which this part is full, and the text, cut to fit. */
void cli_bar(const char *label, double part, const char *text);
void cli_bar_wipe(void);
void cli_format_duration(char *out, size_t bytes, double seconds); /* "12.3 s", "1:05", "2:00:01" */
/* The same without a bar. Returns whether they were not caught already, and are to be released by the caller. */
int cli_signals_catch(void);
void cli_signals_release(void);
/* For calls other than training: this many threads, and an end once a signal asks for it; a call that begins after the
 * signal, to report on the model that was saved, is not ended by it. Valid until this thread asks again. */
const broad_run_options *cli_watch(size_t threads);
/* The signal that asked to stop, 0 if none did. */
int cli_interrupted(void);

#endif
