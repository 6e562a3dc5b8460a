#include "compute/cpu/kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

static const broad__kernels *best(void)
{
#if defined(__x86_64__)
    if (has_avx512()) return &broad__kernels_avx512;
    if (has_avx2()) return &broad__kernels_avx2;
#endif
    return &broad__kernels_plain;
}

const broad__kernels *broad__kernels_named(const char *name)
{
#if defined(__x86_64__)
    if (strcmp(name, broad__kernels_avx512.name) == 0) return has_avx512() ? &broad__kernels_avx512 : NULL;
    if (strcmp(name, broad__kernels_avx2.name) == 0) return has_avx2() ? &broad__kernels_avx2 : NULL;
#endif
    return strcmp(name, broad__kernels_plain.name) == 0 ? &broad__kernels_plain : NULL;
}

/* Two threads that come first together find the same. */
const broad__kernels *broad__kernels_used(void)
{
    static const broad__kernels *_Atomic kept;
    const broad__kernels *used = atomic_load_explicit(&kept, memory_order_relaxed);
    if (used) return used;
    const char *wanted = getenv("BROAD_KERNELS");
    used = wanted ? broad__kernels_named(wanted) : NULL;
    if (!used) used = best();
    atomic_store_explicit(&kept, used, memory_order_relaxed);
    return used;
}
