/* The kernels by AVX2 and FMA; empty on other processors. */
#include "compute/cpu/kernels.h"

#if defined(__x86_64__)

#define KERNEL_SET 256
#include "compute/cpu/kernel_double.h"

const broad__kernels broad__kernels_avx2 = {
    .name = "avx2",
    .nodes = kernel_nodes,
    .gram = kernel_gram,
    .cross = kernel_cross,
    .apply = kernel_apply,
    .single = &broad__kernels_single_avx2,
};

#endif
