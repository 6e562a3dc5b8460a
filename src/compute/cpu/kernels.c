#include "compute/cpu/kernels.h"

#include <string.h>

#include "base/vector.h"

#if defined(__x86_64__)
static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

const broad__kernels *broad__kernels_named(const char *name)
{
#if defined(__x86_64__)
    if (strcmp(name, broad__kernels_avx512.name) == 0) return has_avx512() ? &broad__kernels_avx512 : NULL;
    if (strcmp(name, broad__kernels_avx2.name) == 0) return has_avx2() ? &broad__kernels_avx2 : NULL;
#endif
#if !defined(__wasm__)
    if (strcmp(name, broad__kernels_exact.name) == 0) return &broad__kernels_exact;
#endif
    return strcmp(name, broad__kernels_plain.name) == 0 ? &broad__kernels_plain : NULL;
}

const broad__kernels *broad__kernels_used(void)
{
#if defined(__x86_64__)
    broad__vector vector = broad__vector_best();
    if (vector == BROAD__VECTOR_AVX512) return &broad__kernels_avx512;
    if (vector == BROAD__VECTOR_AVX2) return &broad__kernels_avx2;
#endif
    return &broad__kernels_plain;
}

const broad__kernels *broad__kernels_predicting(void)
{
#if !defined(__wasm__)
    if (!broad__fused()) return &broad__kernels_exact;
#endif
    return broad__kernels_used();
}
