#include "layer/joint_watch.h"

#include "base/clock.h"

static const double TELL_SECONDS = 0.05;

void broad__joint_watch_open(broad__joint_watch *out, broad__joint *j, const broad__joint_task *task, double until,
                             double all)
{
    *out = (broad__joint_watch){.joint = j, .task = task, .from = j->part, .until = until, .all = all > 0 ? all : 1};
    out->told = broad__seconds();
}

static void tell(broad__joint_watch *s)
{
    double done = (double)atomic_load(&s->done) / s->all;
    s->joint->part = s->from + (s->until - s->from) * (done < 1 ? done : 1);
    if (s->task->watch && s->task->watch(s->task->context, s->joint->part)) atomic_store(&s->stopped, 1);
    s->told = broad__seconds();
}

void broad__joint_watch_step(broad__joint_watch *s, size_t amount, size_t worker)
{
    atomic_fetch_add(&s->done, amount);
    if (worker == 0 && !atomic_load(&s->stopped) && broad__seconds() - s->told >= TELL_SECONDS) tell(s);
}

int broad__joint_watch_close(broad__joint_watch *s)
{
    atomic_store(&s->done, (size_t)s->all + 1);
    if (!atomic_load(&s->stopped)) tell(s);
    return atomic_load(&s->stopped);
}
