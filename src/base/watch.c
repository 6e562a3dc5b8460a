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

/* ---- how much is done ------------------------------------------------------------------------------------------ */

static double counted(broad__work *work) { return (double)atomic_load_explicit(&work->done, memory_order_relaxed); }

static double part_done(broad__work *work)
{
    if (!(work->phase > 0)) return work->from;
    double part = (counted(work) - work->before) / work->phase;
    return work->from + (work->until - work->from) * (part < 1 ? part : 1);
}

void broad__watch_expect(double flops)
{
    if (!current || helping) return;
    broad__work *work = &current->work;
    work->from = work->until = part_done(work);
    work->phase = 0;
    work->rest = flops;
}

void broad__watch_phase(double flops)
{
    if (!current || helping) return;
    broad__work *work = &current->work;
    work->from = work->phase > 0 ? work->until : work->from;
    if (flops < work->rest) work->until = work->from + (1 - work->from) * flops / work->rest;
    else work->until = flops > 0 ? 1 : work->from;
    work->rest -= flops < work->rest ? flops : work->rest;
    work->phase = flops;
    work->before = counted(work);
}

void broad__watch_count(double flops)
{
    if (current) atomic_fetch_add_explicit(&current->work.done, (uint64_t)flops, memory_order_relaxed);
}

double broad__watch_counted(void) { return current ? counted(&current->work) : 0; }

void broad__watch_keep(broad__work *out)
{
    if (current) *out = current->work;
}

void broad__watch_take(const broad__work *work)
{
    if (current) current->work = *work;
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

/* The progress function may call the library itself: nothing of that is watched by this watch. */
static int call(broad__watch *watch, const broad_progress *state)
{
    broad_progress told = *state;
    if (told.part == 0) told.part = part_done(&watch->work);
    current = NULL;
    int asked = watch->progress(&told, watch->context);
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
    int asked = watch->progress && call(watch, state);
    if (!watch->agree) return asked;
    return watch->agree(asked || watch->asked == BROAD__WATCH_ASKED);
}

static int is_watched(const broad__watch *watch) { return watch->progress || watch->limit > 0; }

static void stop(broad__watch *watch, broad__watch_end end)
{
    if (watch->agree) watch->asked = end;
    else atomic_store(&watch->stopped, end);
}

static void report(broad__watch *watch, size_t step, size_t steps)
{
    double now = broad__seconds();
    watch->unseen = 0;
    if (watch->limit > 0 && now >= watch->limit) {
        stop(watch, BROAD__WATCH_LATE);
        return;
    }
    if (!watch->progress) return;
    if (watch->last > 0 && now - watch->last < broad__watch_interval) return;
    watch->last = now;
    double part = steps ? (double)step / (double)steps : 0;
    broad_progress progress = watch->state;
    progress.done += (size_t)(part * (double)watch->span);
    if (watch->span && progress.total) progress.part = (double)progress.done / (double)progress.total;
    if (call(watch, &progress)) stop(watch, BROAD__WATCH_ASKED);
}

int broad__watch_asked(void) { return current && !helping ? current->asked : BROAD__WATCH_GOES_ON; }

void broad__watch_agreed(int end)
{
    if (current && end) atomic_store(&current->stopped, end);
}

int broad__watch_stopped(void) { return current && atomic_load_explicit(&current->stopped, memory_order_relaxed); }

int broad__watch_late(void)
{
    return current && atomic_load_explicit(&current->stopped, memory_order_relaxed) == BROAD__WATCH_LATE;
}

double broad__watch_limit(double limit)
{
    if (!current) return 0;
    double before = current->limit;
    if (!(before > 0) || limit < before) current->limit = limit;
    return before;
}

int broad__watch_forgive(double before)
{
    if (!current) return 0;
    int late = broad__watch_late();
    current->limit = before;
    if (current->asked == BROAD__WATCH_LATE) current->asked = BROAD__WATCH_GOES_ON;
    if (late) atomic_store(&current->stopped, BROAD__WATCH_GOES_ON);
    return late;
}

int broad__watch_check(int status)
{
    if (!broad__watch_stopped()) return status;
    if (broad__watch_late()) return broad__fail(BROAD_INTERRUPTED, "the time is up (%s)", current->state.stage);
    return broad__fail(BROAD_INTERRUPTED, "stopped by the progress function (%s)", current->state.stage);
}

int broad__watch_stop(void)
{
    if (current) atomic_store(&current->stopped, BROAD__WATCH_ASKED);
    return broad__watch_check(BROAD_OK);
}

int broad__watch_poll(size_t step, size_t steps)
{
    if (current && is_watched(current) && !helping && !broad__watch_stopped()) report(current, step, steps);
    return broad__watch_check(BROAD_OK);
}

int broad__watch_look(double flops)
{
    broad__watch *watch = current;
    if (!watch) return 0;
    if (!helping && is_watched(watch) && (watch->unseen += flops) >= WORK_UNSEEN && !broad__watch_stopped())
        report(watch, 0, 0);
    return broad__watch_stopped();
}
