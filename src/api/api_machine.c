/* What this machine has to offer, whether it computes what it should, and how fast. */
#include <stdio.h>

#include "api/api_check.h"
#include "base/memory.h"
#include "base/status.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/self_test.h"
#include "compute/device.h"
#include "compute/device_choice.h"
#include "compute/pool.h"
#include "compute/speed.h"
#include "data/look_speed.h"

static int self_test(broad_machine *out)
{
    unsigned count;
    int status = broad__device_cpu()->hold();
    if (status == BROAD_OK) {
        status = broad__self_test(&count, 0);
        broad__device_cpu()->release();
    }
    out->self_test = status == BROAD_OK;
    return status == BROAD_FAILED ? BROAD_OK : status;
}

int broad_machine_inspect(broad_machine *out, int test)
{
    if (!out) return broad__missing_argument("broad_machine_inspect");
    int checked = broad__struct_check(out, sizeof *out, "broad_machine");
    if (checked < 0) return checked;
    broad_machine full = {
        .processors = broad__processors(),
        .kernels = broad__kernels_used()->name,
    };
    int status = test ? self_test(&full) : BROAD_OK;
    broad__result_give(out, &full, sizeof full);
    return status;
}

int broad_gpu_inspect(broad_gpu *out, int measure)
{
    const char *reason = NULL;
    broad__cuda_facts facts;
    if (!out) return broad__missing_argument("broad_gpu_inspect");
    int status = broad__struct_check(out, sizeof *out, "broad_gpu");
    if (status < 0) return status;
    const broad__cuda_plugin *plugin = broad__cuda_load(&reason);
    if (!plugin) return broad__fail(BROAD_FAILED, "%s", reason);
    status = plugin->inspect(&facts, measure);
    if (status < 0) return status;
    broad_gpu full = {.devices = facts.devices,
                      .memory = facts.memory,
                      .available = facts.available,
                      .gigaflops = facts.gigaflops,
                      .gigabytes = facts.gigabytes};
    snprintf(full.name, sizeof full.name, "%s", facts.name);
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

int broad_machine_measure(broad_speed *out, size_t threads, int quick)
{
    if (!out) return broad__missing_argument("broad_machine_measure");
    broad__pool *pool = NULL;
    broad_speed full;
    int status = broad__struct_check(out, sizeof *out, "broad_speed");
    if (status == BROAD_OK) status = broad__pool_open(&pool, quick ? 1 : threads);
    if (status == BROAD_OK && !quick) status = broad__device_cpu()->hold();
    if (status == BROAD_OK) {
        status = broad__speed_measure(&full, pool, quick);
        if (!quick) broad__device_cpu()->release();
    }
    if (status == BROAD_OK && quick != 1) status = broad__look_speed(&full.hash, &full.sums, &full.search);
    broad__pool_close(pool);
    if (status == BROAD_OK) broad__result_give(out, &full, sizeof full);
    return status;
}
