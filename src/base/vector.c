#include "base/vector.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/enum_names.h"

static broad__vector vector_of_processor(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return BROAD__VECTOR_PLAIN;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return BROAD__VECTOR_AVX512;
    return BROAD__VECTOR_AVX2;
#else
    return BROAD__VECTOR_PLAIN;
#endif
}

static broad__vector vector_wanted(void)
{
    const char *word = getenv("BROAD_KERNELS");
    int wanted = word ? broad__enum_find("plain|avx2|avx512", word) : -1;
    broad__vector have = vector_of_processor();
    return wanted >= 0 && wanted < (int)have ? (broad__vector)wanted : have;
}

broad__vector broad__vector_best(void)
{
    static _Atomic int known; /* 1 + the answer; every thread writes the same */
    int value = atomic_load_explicit(&known, memory_order_relaxed);
    if (!value) {
        value = 1 + (int)vector_wanted();
        atomic_store_explicit(&known, value, memory_order_relaxed);
    }
    return (broad__vector)(value - 1);
}

int broad__fused(void)
{
#if defined(__x86_64__)
    return broad__vector_best() != BROAD__VECTOR_PLAIN;
#elif defined(__FP_FAST_FMAF)
    return 1;
#else
    return 0;
#endif
}
