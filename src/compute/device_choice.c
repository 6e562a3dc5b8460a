#include "compute/device_choice.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/plugin.h"
#include "base/status.h"

static const broad__cuda_plugin *cuda;
static char cuda_reason[BROAD__PLUGIN_REASON];
static broad__device absent;

static int fail(int status, const char *text) { return broad__fail(status, "%s", text); }

static int hold_absent(void)
{
    return broad__fail(BROAD_FAILED, "there is no CUDA device to use: %s; leave out --device cuda to use the processor",
                       cuda_reason);
}

static void load(void)
{
    static broad__cuda_host host;
    host = (broad__cuda_host){BROAD__CUDA_ABI, broad__device_cpu(), fail};
    void *found = broad__plugin_symbol(cuda_reason, "libbroad-cuda.so", "broad_cuda_open");
    broad__cuda_opener open;
    memcpy(&open, &found, sizeof open);
    if (found) cuda = open(&host);
    if (found && !cuda) snprintf(cuda_reason, sizeof cuda_reason, "%s", broad_error_message());
    if (cuda && cuda->abi != BROAD__CUDA_ABI) {
        snprintf(cuda_reason, sizeof cuda_reason, "libbroad-cuda.so is of another version");
        cuda = NULL;
    }
    absent = *broad__device_cpu();
    absent.hold = hold_absent;
}

const broad__cuda_plugin *broad__cuda_load(const char **reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *reason = cuda_reason;
    return cuda;
}

const broad__device *broad__device_named(broad_device device)
{
    const char *reason = NULL;
    if (device == BROAD_DEVICE_CPU) return broad__device_cpu();
    return broad__cuda_load(&reason) ? cuda->device : &absent;
}

const broad__device *broad__device_choose(const broad_options *options)
{
    return broad__device_named(options ? options->device : BROAD_DEVICE_CPU);
}
