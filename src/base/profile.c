#include "base/profile.h"

/* Sums of whole numbers do not depend on the order in which threads add to them. */
static void add(atomic_uint_fast64_t *sum, double value)
{
    if (value > 0) atomic_fetch_add_explicit(sum, (uint64_t)(value + 0.5), memory_order_relaxed);
}

static _Thread_local broad__profile_scope here;
static _Thread_local double counted; /* seconds of stages on this thread */

void broad__profile_add(broad_profile *profile, broad__profile_stage stage, double seconds, double flops, double bytes)
{
    counted += seconds;
    broad__stage_sums *sums = &profile->stages[stage];
    add(&sums->calls, 1);
    add(&sums->nanoseconds, 1e9 * seconds);
    add(&sums->flops, flops);
    add(&sums->bytes, bytes);
}

/* ---- scopes ---------------------------------------------------------------------------------------------------- */

/* Whose the work between operations is. */
static const broad__profile_stage between[BROAD__PHASE_COUNT] = {
    [BROAD__PHASE_LAYER] = BROAD__STAGE_SEARCH,        [BROAD__PHASE_FEATURES] = BROAD__STAGE_FEATURES,
    [BROAD__PHASE_JOINT] = BROAD__STAGE_JOINT_FILL,    [BROAD__PHASE_FACTOR] = BROAD__STAGE_JOINT_FACTOR,
    [BROAD__PHASE_REFINE] = BROAD__STAGE_JOINT_REFINE, [BROAD__PHASE_LOO] = BROAD__STAGE_JOINT_LOO,
    [BROAD__PHASE_PILOT] = BROAD__STAGE_PILOT,
};

/* To the phase that ends: what no stage has counted since `began`. */
static void charge(double began, double counted_before)
{
    if (!here.profile || here.phase == BROAD__PHASE_OTHER || here.phase == BROAD__PHASE_WHOLE) return;
    double seconds = broad__thread_seconds() - began - (counted - counted_before);
    if (!(seconds > 0)) return;
    counted += seconds;
    add(&here.profile->stages[between[here.phase]].nanoseconds, 1e9 * seconds);
}

/* The scope as it is, to come back to. */
static broad__profile_scope mark(void)
{
    broad__profile_scope before = here;
    if (here.profile) before.began = broad__thread_seconds(), before.counted = counted;
    return before;
}

broad__profile_scope broad__profile_here(void) { return here; }

broad__profile_scope broad__profile_enter(broad_profile *profile)
{
    broad__profile_scope before = mark();
    if (profile) here = (broad__profile_scope){profile, BROAD__PHASE_OTHER, 0, 0};
    return before;
}

broad__profile_scope broad__profile_phase(broad__phase phase)
{
    broad__profile_scope before = mark();
    if (here.phase != BROAD__PHASE_PILOT && here.phase != BROAD__PHASE_WHOLE) here.phase = phase;
    return before;
}

void broad__profile_leave(broad__profile_scope before)
{
    if (before.profile && before.profile == here.profile && before.phase != here.phase) {
        charge(before.began, before.counted);
        if (here.phase == BROAD__PHASE_LAYER) add(&here.profile->stages[BROAD__STAGE_SEARCH].calls, 1);
    }
    here = before;
}

broad__profile_span broad__profile_start(void)
{
    broad__profile_span span = {.before = here};
    if (here.profile) {
        span.began = broad__seconds();
        span.began_here = broad__thread_seconds();
        span.helped = atomic_load(&here.profile->helped);
        span.parts = atomic_load(&here.profile->parts);
    }
    here.phase = BROAD__PHASE_WHOLE;
    return span;
}

void broad__profile_stop(broad__profile_span span, broad__profile_stage stage, double flops, double bytes)
{
    here = span.before;
    if (!here.profile || here.phase == BROAD__PHASE_WHOLE) return;
    if (here.phase == BROAD__PHASE_PILOT && stage != BROAD__STAGE_EXCHANGE) stage = BROAD__STAGE_PILOT;
    int waits = stage == BROAD__STAGE_READ || stage == BROAD__STAGE_LOAD || stage == BROAD__STAGE_SAVE ||
                stage == BROAD__STAGE_EXCHANGE;
    double seconds = broad__thread_seconds() - span.began_here, elapsed = broad__seconds() - span.began;
    double helped = 1e-9 * (double)(atomic_load(&here.profile->helped) - span.helped);
    if (waits && elapsed > seconds) {
        add(&here.profile->blocked, 1e9 * (elapsed - seconds));
        seconds = elapsed;
    }
    double parts = 1e-9 * (double)(atomic_load(&here.profile->parts) - span.parts);
    broad__profile_add(here.profile, stage, seconds + helped - parts, flops, bytes);
}

double broad__profile_part(void) { return here.profile ? broad__thread_seconds() : 0; }

void broad__profile_part_done(double began, broad__profile_stage stage, double bytes)
{
    if (!here.profile) return;
    double seconds = broad__thread_seconds() - began;
    if (here.phase == BROAD__PHASE_WHOLE) add(&here.profile->parts, 1e9 * seconds);
    broad__profile_add(here.profile, stage, seconds, 0, bytes);
}

void broad__profile_help(broad__profile_scope scope)
{
    here = scope;
    if (here.profile) here.began = broad__thread_seconds(), here.counted = counted;
}

void broad__profile_helped(void)
{
    if (here.profile && here.phase == BROAD__PHASE_WHOLE)
        add(&here.profile->helped, 1e9 * (broad__thread_seconds() - here.began));
    else charge(here.began, here.counted);
}

void broad__profile_looked(double seconds)
{
    if (!here.profile || here.phase == BROAD__PHASE_WHOLE) return;
    counted += seconds;
    add(&here.profile->stages[BROAD__STAGE_WAITING].nanoseconds, 1e9 * seconds);
}

void broad__profile_wait(broad_profile *profile, double wall, size_t threads, double processor)
{
    double waited = wall * (double)threads - processor - 1e-9 * (double)atomic_load(&profile->blocked);
    if (waited > 0) broad__profile_add(profile, BROAD__STAGE_WAITING, waited, 0, 0);
}
