#if defined(__x86_64__)

#include "data/transform/scale_avx512.h"

#include "data/transform/scale_body.h"

int broad__scale_numbers_avx512(double *to, const double *from, const double *shift, const double *factor, size_t count)
{
    return broad__scale_numbers(to, from, shift, factor, count);
}

#else
typedef int broad__scale_avx512_is_for_x86; /* a file must not be empty */
#endif
