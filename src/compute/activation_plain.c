#include "compute/activation_simd.h"
#include "compute/activation_variants.h"

void broad__activate_plain(broad_activation activation, double *values, size_t count)
{
    run_any(activation, values, count);
}

void broad__activate_plain_single(broad_activation activation, float *values, size_t count)
{
    run_any_single(activation, values, count);
}
