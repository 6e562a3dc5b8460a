/* Entry points of broad.h: the profile. */
#include "api/api_check.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"

typedef struct stage_row {
    const char *name, *group, *help;
} stage_row;

#define STAGE_ROW(stage, name, group, help) {name, group, help},
static const stage_row stage_rows[BROAD__STAGE_COUNT] = {BROAD__STAGES(STAGE_ROW)};

int broad_profile_open(broad_profile **out)
{
    if (!out) return broad__missing_argument("broad_profile_open");
    *out = broad__alloc(sizeof **out);
    return *out ? BROAD_OK : BROAD_NO_MEMORY;
}

void broad_profile_close(broad_profile *profile) { broad__free(profile); }

size_t broad_profile_stages(void) { return BROAD__STAGE_COUNT; }

static double read_sum(const atomic_uint_fast64_t *sum)
{
    return (double)atomic_load_explicit(sum, memory_order_relaxed);
}

int broad_profile_stage(broad_stage *out, const broad_profile *profile, size_t stage)
{
    if (!out || !profile) return broad__missing_argument("broad_profile_stage");
    int status = broad__struct_check(out, sizeof *out, "broad_stage");
    if (status < 0) return status;
    if (stage >= BROAD__STAGE_COUNT)
        return broad__fail(BROAD_USAGE, "broad_profile_stage: stage %zu is out of range (there are %d)", stage,
                           BROAD__STAGE_COUNT);
    const broad__stage_sums *sums = &profile->stages[stage];
    broad_stage full = {
        .name = stage_rows[stage].name,
        .group = stage_rows[stage].group,
        .help = stage_rows[stage].help,
        .calls = (size_t)read_sum(&sums->calls),
        .seconds = 1e-9 * read_sum(&sums->nanoseconds),
        .flops = read_sum(&sums->flops),
        .bytes = read_sum(&sums->bytes),
    };
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}
