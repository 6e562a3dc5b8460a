/* The bar of a training run. */
#ifndef BROAD_CLI_IO_PROGRESS_H
#define BROAD_CLI_IO_PROGRESS_H

#include "arguments.h"
#include "io/interrupt.h"

typedef struct cli_progress {
    const char *label;
    int visible, drawn;
    size_t stop_at; /* the run ends at this number of layers, once; 0: it does not */
    double start, last;
    double part; /* that is shown as done: it never falls */
} cli_progress;

/* Hooks itself into the options, which must not outlive it. The bar is drawn if standard error is a terminal. Until
 * cli_signals_release(), signals end the run early. */
void cli_progress_begin(cli_progress *out, broad_options *options, const char *label, const cli_arguments *arguments);
void cli_progress_end(cli_progress *progress); /* wipes the bar */
/* One line over the last one: the label, a bar of which this part is full, and the text, cut to fit. */
void cli_bar(const char *label, double part, const char *text);
/* ", left 1:05" after so many seconds for this part, or nothing while that is not known. */
void cli_bar_left(char *out, size_t bytes, double part, double seconds);
void cli_bar_wipe(void);
const char *cli_bar_end(void);                                     /* what wipes it; a handler may ask */
void cli_format_duration(char *out, size_t bytes, double seconds); /* "12.3 s", "1:05", "2:00:01" */

#endif
