#if defined(__x86_64__)
#define LANES_AVX2

#include "data/transform/project_body.h"

LANES_CODE void broad__project_avx2(double *out, const double *axes, size_t columns, const double *x, size_t inputs,
                                    size_t rows)
{
    add_products(out, axes, columns, x, inputs, rows);
}
#else
typedef int broad__project_avx2_is_for_x86; /* a file must not be empty */
#endif
