#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "cli.h"

static char message[4096];

int cli_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

void cli_message_clear(void) { message[0] = 0; }

const char *cli_message(void) { return message[0] ? message : broad_error_message(); }

void cli_note(const cli_arguments *arguments, const char *format, ...)
{
    if (cli_given(arguments, "quiet")) return;
    va_list list;
    va_start(list, format);
    fputs("broad: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
