/* What this machine has to offer, whether it computes what it should, and how fast. */
#include "base/memory.h"
#include "base/status.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/self_test.h"
#include "compute/device.h"
#include "compute/pool.h"
#include "compute/speed.h"

int broad_machine_inspect(broad_machine *out, int test)
{
    if (!out) return broad__fail(BROAD_USAGE, "broad_machine_inspect: an argument is NULL");
    *out = (broad_machine){
        .processors = broad__processors(),
        .kernels = broad__kernels_used()->name,
    };
    if (!test) return BROAD_OK;
    unsigned count;
    int status = broad__device_cpu()->hold();
    if (status == BROAD_OK) {
        status = broad__self_test(&count, 0);
        broad__device_cpu()->release();
    }
    out->self_test = status == BROAD_OK;
    return status == BROAD_FAILED ? BROAD_OK : status;
}

int broad_machine_measure(broad_speed *out, size_t threads, int quick)
{
    if (!out) return broad__fail(BROAD_USAGE, "broad_machine_measure: an argument is NULL");
    broad__pool *pool = NULL;
    int status = broad__pool_open(&pool, quick ? 1 : threads);
    if (status == BROAD_OK && !quick) status = broad__device_cpu()->hold();
    if (status == BROAD_OK) {
        status = broad__speed_measure(out, pool, quick);
        if (!quick) broad__device_cpu()->release();
    }
    broad__pool_close(pool);
    return status;
}
