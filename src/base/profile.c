#include "base/profile.h"

/* Sums of whole numbers do not depend on the order in which threads add to them. */
static void add(atomic_uint_fast64_t *sum, double value)
{
    if (value > 0) atomic_fetch_add_explicit(sum, (uint64_t)(value + 0.5), memory_order_relaxed);
}

void broad__profile_add(broad_profile *profile, broad__profile_stage stage, double seconds, double flops, double bytes)
{
    broad__stage_sums *sums = &profile->stages[stage];
    add(&sums->calls, 1);
    add(&sums->nanoseconds, 1e9 * seconds);
    add(&sums->flops, flops);
    add(&sums->bytes, bytes);
}

/* ---- scopes ---------------------------------------------------------------------------------------------------- */

static _Thread_local broad__profile_scope here;

broad__profile_scope broad__profile_here(void) { return here; }

broad__profile_scope broad__profile_enter(broad_profile *profile)
{
    broad__profile_scope before = here;
    if (profile) here = (broad__profile_scope){profile, BROAD__PHASE_LAYER};
    return before;
}

broad__profile_scope broad__profile_phase(broad__phase phase)
{
    broad__profile_scope before = here;
    if (here.phase != BROAD__PHASE_PILOT && here.phase != BROAD__PHASE_WHOLE) here.phase = phase;
    return before;
}

void broad__profile_leave(broad__profile_scope before) { here = before; }

broad__profile_span broad__profile_start(void)
{
    broad__profile_span span = {here, 0, 0};
    if (here.profile) span.began = broad__seconds(), span.began_here = broad__thread_seconds();
    here.phase = BROAD__PHASE_WHOLE;
    return span;
}

void broad__profile_stop(broad__profile_span span, broad__profile_stage stage, double flops, double bytes)
{
    here = span.before;
    if (!here.profile || here.phase == BROAD__PHASE_WHOLE) return;
    int waits = stage == BROAD__STAGE_READ || stage == BROAD__STAGE_LOAD || stage == BROAD__STAGE_SAVE;
    double seconds = waits ? broad__seconds() - span.began : broad__thread_seconds() - span.began_here;
    broad__profile_add(here.profile, stage, seconds, flops, bytes);
}
