#include "base/watch.h"

#include "base/clock.h"
#include "base/status.h"

/* Of the slowest kernels this is some milliseconds. */
static const double WORK_UNSEEN = 4e6;

double broad__watch_interval = 0.05;

static _Thread_local broad__watch *current;
static _Thread_local int helping; /* the watch is another thread's */

broad__watch *broad__watch_enter(broad__watch *watch)
{
    broad__watch *before = current;
    current = watch;
    return before;
}

void broad__watch_leave(broad__watch *before) { current = before; }

broad__watch *broad__watch_here(void) { return current; }

void broad__watch_join(broad__watch *watch)
{
    current = watch;
    helping = 1;
}

void broad__watch_part(size_t done, size_t span, size_t total)
{
    if (!current) return;
    current->state.done = done;
    current->state.total = total;
    current->span = span;
}

/* The progress function may call the library itself: nothing of that is watched by this watch. */
static int call(broad__watch *watch, const broad_progress *state)
{
    current = NULL;
    int asked = watch->progress(state, watch->context);
    current = watch;
    return asked;
}

int broad__watch_tell(const broad_progress *state)
{
    broad__watch *watch = current;
    if (!watch || helping) return 0;
    watch->state = *state;
    watch->span = 0;
    watch->last = broad__seconds();
    return watch->progress && call(watch, state);
}

static void report(broad__watch *watch, size_t step, size_t steps)
{
    double now = broad__seconds();
    watch->work = 0;
    if (watch->last > 0 && now - watch->last < broad__watch_interval) return;
    watch->last = now;
    double part = steps ? (double)step / (double)steps : 0;
    broad_progress progress = watch->state;
    progress.done += (size_t)(part * (double)watch->span);
    if (call(watch, &progress)) atomic_store(&watch->stopped, 1);
}

int broad__watch_stopped(void) { return current && atomic_load_explicit(&current->stopped, memory_order_relaxed); }

int broad__watch_check(int status)
{
    if (!broad__watch_stopped()) return status;
    return broad__fail(BROAD_INTERRUPTED, "stopped by the progress function (%s)", current->state.stage);
}

int broad__watch_stop(void)
{
    if (current) atomic_store(&current->stopped, 1);
    return broad__watch_check(BROAD_OK);
}

int broad__watch_poll(size_t step, size_t steps)
{
    if (current && current->progress && !helping && !broad__watch_stopped()) report(current, step, steps);
    return broad__watch_check(BROAD_OK);
}

int broad__watch_look(double flops)
{
    broad__watch *watch = current;
    if (!watch) return 0;
    if (!helping && watch->progress && (watch->work += flops) >= WORK_UNSEEN && !broad__watch_stopped())
        report(watch, 0, 0);
    return broad__watch_stopped();
}
