#include "data/format/csv_rows.h"

size_t broad__csv_fill_rows(broad__filler *filler, const char **next, const char *to, size_t first, size_t most)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return broad__csv_fill_rows_avx2(filler, next, to, first, most);
#endif
    return fill_rows(filler, next, to, first, most);
}
