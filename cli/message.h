/* What the tool says: the message of a failure, and text for a terminal. */
#ifndef BROAD_CLI_MESSAGE_H
#define BROAD_CLI_MESSAGE_H

#include <stdarg.h>
#include <stdio.h>

#include "broad/broad.h"

/* The tool and the library share one message per thread, that of the latest failure. The arguments may include it. */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Names, labels and messages come from files of unknown origin. In what is printed below, control characters and bytes
 * that are not UTF-8 appear as \x1b, so that no file can send commands to a terminal. Lines end where the format says, and nowhere
 * else.
 */

/* `left` bytes of text; control characters among `keep` pass. */
void cli_put_plain(FILE *to, const char *text, size_t left, const char *keep);
/* printf() for results that people read. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One line "broad: ..." on standard error. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_say_list(const char *format, va_list list) __attribute__((format(printf, 1, 0)));

/* The ending of a regular noun after a count: "" for 1, otherwise "s". */
const char *cli_plural(size_t count);

#endif
