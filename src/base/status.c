#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = sizeof(((broad__failure *)0)->message) };

static _Thread_local char last_message[MESSAGE_BYTES];
static _Thread_local broad_reason last_reason;

typedef struct status_row {
    int status;
    const char *name;
    const char *text;
} status_row;

#define STATUS_ROW(status, value, name, text) {status, name, text},
static const status_row status_rows[] = {BROAD_STATUS_LIST(STATUS_ROW)};

static const status_row *status_find(int status)
{
    for (size_t i = 0; i < sizeof status_rows / sizeof status_rows[0]; i++)
        if (status_rows[i].status == status) return &status_rows[i];
    return NULL;
}

const char *broad_status_name(int status)
{
    const status_row *row = status_find(status);
    return row ? row->name : "unknown";
}

const char *broad_status_text(int status)
{
    const status_row *row = status_find(status);
    return row ? row->text : "unknown status";
}

const char *broad_error_message(void) { return last_message; }

broad_reason broad_error_reason(void) { return last_reason; }

int broad__fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_message, sizeof last_message, format, arguments);
    va_end(arguments);
    last_reason = BROAD_REASON_NONE;
    return status;
}

int broad_error_set(int status, const char *message) { return broad__fail(status, "%s", message ? message : ""); }

int broad__fail_because(int status, broad_reason reason)
{
    last_reason = reason;
    return status;
}

int broad__fail_memory(size_t bytes)
{
    return broad__fail(BROAD_NO_MEMORY, "out of memory: could not allocate %zu bytes", bytes);
}

void broad__failure_take(broad__failure *out, int status)
{
    out->status = status;
    out->reason = last_reason;
    memcpy(out->message, last_message, sizeof out->message);
}

int broad__failure_pass(const broad__failure *failure)
{
    memcpy(last_message, failure->message, sizeof last_message);
    return broad__fail_because(failure->status, failure->reason);
}

int broad__fail_in(int status, const char *context)
{
    char joined[MESSAGE_BYTES];
    size_t head = strlen(context);
    if (head > sizeof joined / 2) head = sizeof joined / 2;
    size_t tail = strlen(last_message);
    if (tail > sizeof joined - head - 3) tail = sizeof joined - head - 3;
    memcpy(joined, context, head);
    memcpy(joined + head, ": ", 2);
    memcpy(joined + head + 2, last_message, tail);
    joined[head + 2 + tail] = 0;
    memcpy(last_message, joined, head + tail + 3);
    return status;
}
