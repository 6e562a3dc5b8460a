/* Which BLAS is linked in, which of its kernels run, and which should. */
#include <stddef.h>
#include <strings.h>

#include "compute/device.h"

/* Present in OpenBLAS only. */
extern char *openblas_get_config(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));

const char *broad__blas_name(void) { return openblas_get_config ? openblas_get_config() : ""; }

const char *broad__blas_core(void) { return openblas_get_corename ? openblas_get_corename() : ""; }

const char *broad__blas_build(void)
{
    static const char *const names[] = {"sequential", "pthread", "openmp"};
    int kind = openblas_get_parallel ? openblas_get_parallel() : -1;
    return kind >= 0 && kind <= 2 ? names[kind] : "";
}

/* Kernels by the vector instructions they use; the first of each rank is the one to ask for. */
typedef struct core_rank {
    int rank;
    const char *name;
} core_rank;

static const core_rank core_ranks[] = {
    {3, "SkylakeX"},  {3, "Cooperlake"},  {3, "SapphireRapids"}, {2, "Haswell"},    {2, "Zen"},
    {2, "Excavator"}, {1, "Sandybridge"}, {1, "Bulldozer"},      {1, "Piledriver"}, {1, "Steamroller"},
};

static int rank_of(const char *core)
{
    for (size_t i = 0; i < sizeof core_ranks / sizeof core_ranks[0]; i++)
        if (strcasecmp(core, core_ranks[i].name) == 0) return core_ranks[i].rank;
    return 0;
}

static int rank_of_processor(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return 3;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 2;
    if (__builtin_cpu_supports("avx")) return 1;
#endif
    return 0;
}

const char *broad__blas_best_core(void)
{
    int rank = rank_of_processor();
    const char *core = broad__blas_core();
    if (rank_of(core) >= rank) return core;
    for (size_t i = 0; i < sizeof core_ranks / sizeof core_ranks[0]; i++)
        if (core_ranks[i].rank == rank) return core_ranks[i].name;
    return core;
}
