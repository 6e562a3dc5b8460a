#include "base/profile.h"

#include "base/memory.h"
#include "base/status.h"

typedef struct stage_row {
    const char *name, *group, *help;
} stage_row;

#define STAGE_ROW(stage, name, group, help) {name, group, help},
static const stage_row stage_rows[BROAD__STAGE_COUNT] = {BROAD__STAGES(STAGE_ROW)};

/* Sums of whole numbers do not depend on the order in which threads add to them. */
static void add(atomic_uint_fast64_t *sum, double value)
{
    if (value > 0) atomic_fetch_add_explicit(sum, (uint64_t)(value + 0.5), memory_order_relaxed);
}

static double read_sum(const atomic_uint_fast64_t *sum)
{
    return (double)atomic_load_explicit(sum, memory_order_relaxed);
}

void broad__profile_add(broad_profile *profile, broad__stage stage, double seconds, double flops, double bytes)
{
    broad__stage_sums *sums = &profile->stages[stage];
    add(&sums->calls, 1);
    add(&sums->nanoseconds, 1e9 * seconds);
    add(&sums->flops, flops);
    add(&sums->bytes, bytes);
}

int broad_profile_open(broad_profile **out)
{
    if (!out) return broad__fail(BROAD_USAGE, "broad_profile_open: an argument is NULL");
    *out = broad__alloc(sizeof **out);
    return *out ? BROAD_OK : BROAD_NO_MEMORY;
}

void broad_profile_close(broad_profile *profile) { broad__free(profile); }

size_t broad_profile_stages(void) { return BROAD__STAGE_COUNT; }

int broad_profile_stage(broad_stage *out, const broad_profile *profile, size_t stage)
{
    if (!out || !profile) return broad__fail(BROAD_USAGE, "broad_profile_stage: an argument is NULL");
    if (stage >= BROAD__STAGE_COUNT)
        return broad__fail(BROAD_USAGE, "broad_profile_stage: stage %zu of %d", stage, BROAD__STAGE_COUNT);
    const broad__stage_sums *sums = &profile->stages[stage];
    *out = (broad_stage){
        .name = stage_rows[stage].name,
        .group = stage_rows[stage].group,
        .help = stage_rows[stage].help,
        .calls = (size_t)read_sum(&sums->calls),
        .seconds = 1e-9 * read_sum(&sums->nanoseconds),
        .flops = read_sum(&sums->flops),
        .bytes = read_sum(&sums->bytes),
    };
    return BROAD_OK;
}
