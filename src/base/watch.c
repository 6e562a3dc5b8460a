#include "base/watch.h"

#include "base/clock.h"
#include "base/status.h"

static _Thread_local broad__watch *current;

broad__watch *broad__watch_enter(broad__watch *watch)
{
    broad__watch *before = current;
    current = watch;
    return before;
}

void broad__watch_leave(broad__watch *before) { current = before; }

void broad__watch_part(size_t done, size_t span, size_t total)
{
    if (!current) return;
    current->done = done;
    current->span = span;
    current->total = total;
}

static void report(broad__watch *watch, size_t step, size_t steps)
{
    double now = broad__seconds();
    if (watch->last > 0 && now - watch->last < BROAD__WATCH_SECONDS) return;
    watch->last = now;
    double part = steps ? (double)step / (double)steps : 0;
    broad_progress progress = {.stage = watch->stage, .total = watch->total};
    progress.done = watch->done + (size_t)(part * (double)watch->span);
    watch->stopped = watch->progress(&progress, watch->context) != 0;
}

int broad__watch_poll(size_t step, size_t steps)
{
    broad__watch *watch = current;
    if (!watch || !watch->progress) return BROAD_OK;
    if (!watch->stopped) report(watch, step, steps);
    return watch->stopped ? broad__fail(BROAD_INTERRUPTED, "stopped by the progress function (%s)", watch->stage)
                          : BROAD_OK;
}
