#include "api/api_check.h"

#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "comm/comm.h"
#include "model/preset.h"

enum {
    NEWER_MOST = 4096
}; /* bytes that a newer struct may have beyond this one; a larger size is what lay in memory */

int broad__missing_argument(const char *function)
{
    return broad__fail(BROAD_USAGE, "%s: an argument is NULL", function);
}

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

int broad__struct_known(const void *given, size_t own)
{
    size_t size = size_of(given);
    return size >= sizeof size && size <= own + NEWER_MOST;
}

int broad__struct_check(const void *given, size_t own, const char *type)
{
    if (broad__struct_known(given, own)) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "%s is not initialised; call %s_init() first", type, type);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void broad__options_give(void *out, size_t size, const void *full, size_t own)
{
    memcpy(out, full, smaller(size, own));
    if (size > own) memset((char *)out + own, 0, size - own);
    memcpy(out, &size, smaller(size, sizeof size));
}

void broad__result_give(void *out, const void *full, size_t own) { broad__options_give(out, size_of(out), full, own); }

int broad__options_take(void *full, size_t own, const void *given, const char *type)
{
    if (!given) return BROAD_OK;
    int status = broad__struct_check(given, own, type);
    if (status < 0) return status;
    size_t size = size_of(given);
    for (size_t i = own; i < size; i++)
        if (((const char *)given)[i])
            return broad__fail(BROAD_USAGE, "%s has fields that this library (%s) does not know; use a newer one", type,
                               broad_version());
    memcpy((char *)full + sizeof size, (const char *)given + sizeof size, smaller(size, own) - sizeof size);
    return BROAD_OK;
}

/* What a program that does not know the field means: nodes as its preset always drew them, and what is best in auto. */
static void set_older_metric(broad_options *full, const broad_options *given)
{
    if (size_of(given) > offsetof(broad_options, metric)) return;
    if (full->preset == BROAD_PRESET_PAPER) full->metric = BROAD_LEARNED_NO;
}

int broad__training_options_take(broad_options *full, const broad_options *given)
{
    broad__options_default(full);
    int status = broad__options_take(full, sizeof *full, given, "broad_options");
    if (status == BROAD_OK && given) set_older_metric(full, given);
    return status == BROAD_OK ? broad__comm_check(full->comm) : status;
}

void broad_result_init(void *out, size_t size)
{
    if (!out) return;
    memset(out, 0, size);
    memcpy(out, &size, smaller(size, sizeof size));
}

void broad_run_options_init_sized(broad_run_options *out, size_t size)
{
    broad_run_options full = {.size = sizeof full};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

void broad_comm_init_sized(broad_comm *out, size_t size)
{
    broad_comm full = {.size = sizeof full, .ranks = 1};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

void broad__training_begin(broad__training *training, const char *stage, const broad_options *run)
{
    *training = (broad__training){.scope = broad__profile_enter(run->profile)};
    training->watch =
        (broad__watch){.state = {.stage = stage}, .progress = run->progress, .context = run->progress_context};
    training->before = broad__watch_enter(&training->watch);
    training->comm_before = broad__comm_enter(run->comm);
    if (broad__comm_ranks() > 1) training->watch.agree = broad__comm_most;
}

int broad__training_end(const broad__training *training, int status)
{
    status = broad__comm_whole(status);
    broad__comm_leave(training->comm_before);
    broad__watch_leave(training->before);
    broad__profile_leave(training->scope);
    return status;
}

int broad__call_begin(broad__call *call, const char *stage, const broad_run_options *run)
{
    *call = (broad__call){.run = {.size = sizeof call->run}};
    int status = broad__options_take(&call->run, sizeof call->run, run, "broad_run_options");
    if (status == BROAD_OK) status = broad__comm_check(call->run.comm);
    if (status < 0) return status;
    call->watch = (broad__watch){
        .state = {.stage = stage}, .progress = call->run.progress, .context = call->run.progress_context};
    call->before = broad__watch_enter(&call->watch);
    call->comm_before = broad__comm_enter(call->run.comm);
    if (broad__comm_ranks() > 1) call->watch.agree = broad__comm_most;
    return BROAD_OK;
}

int broad__call_end(const broad__call *call, int status)
{
    status = broad__comm_whole(broad__watch_check(status));
    broad__comm_leave(call->comm_before);
    broad__watch_leave(call->before);
    return status;
}
