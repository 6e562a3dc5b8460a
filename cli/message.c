#include "message.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"

enum { MESSAGE_BYTES = 4096 };

int cli_fail(int status, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return broad__fail(status, "%s", text);
}

/* C0, DEL and C1, which terminals obey. */
static int is_control(const unsigned char *at, size_t bytes)
{
    return bytes == 1 ? at[0] < 0x20 || at[0] == 0x7f : bytes == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

void cli_put_plain(FILE *to, const char *text, size_t left, const char *keep)
{
    for (size_t bytes; left > 0; text += bytes, left -= bytes) {
        bytes = broad__utf8_length(text, left);
        int kept = text[0] && strchr(keep, text[0]);
        int plain = bytes && (kept || !is_control((const unsigned char *)text, bytes));
        if (!bytes) bytes = 1;
        if (plain) fwrite(text, 1, bytes, to);
        for (size_t i = 0; !plain && i < bytes; i++) fprintf(to, "\\x%02x", (unsigned char)text[i]);
    }
}

static void put_formatted(FILE *to, const char *format, va_list list)
{
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0) return;
    cli_put_plain(to, text, strlen(text), "");
    free(text);
}

/* The text with tabs in the place of the format's line ends; those of the values stay. */
static char *without_line_ends(const char *format, va_list list)
{
    char *changed = strdup(format), *text = NULL;
    for (char *at = changed ? strchr(changed, '\n') : NULL; at; at = strchr(at, '\n')) *at = '\t';
    if (!changed || vasprintf(&text, changed, list) < 0) text = NULL;
    free(changed);
    return text;
}

/* Where it differs from the text without them, there is a line end of the format. */
static void put_lines(const char *text, const char *changed)
{
    size_t count = strlen(text);
    for (size_t at = 0, end; at <= count; at = end + 1) {
        for (end = at; end < count && text[end] == changed[end];) end++;
        cli_put_plain(stdout, text + at, end - at, "");
        if (end < count) fputc('\n', stdout);
    }
}

void cli_print(const char *format, ...)
{
    va_list list, again;
    char *text = NULL;
    va_start(list, format);
    va_copy(again, list);
    char *changed = without_line_ends(format, again);
    if (changed && vasprintf(&text, format, list) < 0) text = NULL;
    if (changed && text) put_lines(text, changed);
    va_end(again);
    va_end(list);
    free(changed);
    free(text);
}

void cli_say_list(const char *format, va_list list)
{
    fputs("broad: ", stderr);
    put_formatted(stderr, format, list);
    fputc('\n', stderr);
}

void cli_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    cli_say_list(format, list);
    va_end(list);
}

const char *cli_plural(size_t count) { return count == 1 ? "" : "s"; }
