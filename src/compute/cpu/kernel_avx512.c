/* The kernels by AVX-512; empty on other processors. */
#include "compute/cpu/kernels.h"

#if defined(__x86_64__)

#define KERNEL_SET 512
#include "compute/cpu/kernel_nodes.h"
#include "compute/cpu/kernel_symmetric.h"
#include "compute/cpu/kernel_triangle.h"

const broad__kernels broad__kernels_avx512 = {
    .name = "avx512",
    .nodes = kernel_nodes,
    .pack = kernel_pack,
    .gram = kernel_gram,
    .cross = kernel_cross,
    .apply = kernel_apply,
    .apply_ahead = kernel_apply_ahead,
    .product = kernel_product,
    .substitute = kernel_substitute,
    .factor = kernel_factor,
    .symmetric = kernel_symmetric,
    .symmetric_changed = kernel_symmetric_changed,
    .single = &broad__kernels_single_avx512,
};

#endif
