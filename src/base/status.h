/* Status and the thread's last message. */
#ifndef BROAD_BASE_STATUS_H
#define BROAD_BASE_STATUS_H

#include "broad/broad.h"

/* Records the message and returns the status, so that a failing line reads `return broad__fail(...)`. */
int broad__fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int broad__fail_memory(size_t bytes);
/* Gives the failure that is being passed on a reason; the next failure has none. Returns the status. */
int broad__fail_because(int status, broad_reason reason);

/* A failure on one thread, to be reported on another. */
typedef struct broad__failure {
    int status;
    broad_reason reason;
    char message[2048];
} broad__failure;

void broad__failure_take(broad__failure *out, int status); /* with this thread's message */
int broad__failure_pass(const broad__failure *failure);    /* which becomes this thread's. Returns the status. */

/* Puts "context: " before the message of a failure that is being passed on. Returns the status. */
int broad__fail_in(int status, const char *context);

#endif
