/*
 * What SIGINT and SIGTERM do.
 *
 * Between cli_signals_catch() and cli_signals_release(), which may be nested, a signal is noted, and what is under way ends
 * by itself within a moment; a terminal is told so at once, and a second signal ends the process. At any other moment
 * nothing is under way that could be left half done: the process says what it keeps, and ends. So it does on SIGBUS, which
 * a mapped file that was shortened brings about.
 */
#ifndef BROAD_CLI_IO_INTERRUPT_H
#define BROAD_CLI_IO_INTERRUPT_H

#include "broad/broad.h"

void cli_signals_begin(void); /* once, when the tool starts */
void cli_signals_catch(void);
void cli_signals_release(void);
/* From now on a signal ends the process without a word: mpirun sends one to the ranks that are left once one has failed. */
void cli_signals_silence(void);
/* The signal that asked to stop, 0 if none did. */
int cli_interrupted(void);
int cli_interrupted_any(void); /* on any rank; all of them ask, and know it then */

/* What remains if the command is interrupted from now on, such as "m.broad is unchanged". */
void cli_keeps(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *cli_kept(void);

/* For calls other than training: this many threads, and an end once a signal asks for it. A call that begins after the
 * signal, to report on a model that was saved, has a moment left. Valid until this thread asks again. */
const broad_run_options *cli_watch(size_t threads);

#endif
