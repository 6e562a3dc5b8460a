/* With AVX2; empty on other processors. */
#include "data/format/csv_rows.h"

#if defined(__x86_64__)

#include "data/format/csv_rows_body.h"

size_t broad__csv_fill_rows_avx2(broad__filler *filler, const char **next, const char *to, size_t first, size_t max)
{
    return fill_rows(filler, next, to, first, max);
}

#endif
