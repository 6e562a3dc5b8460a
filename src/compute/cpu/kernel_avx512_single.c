/* The kernels in single precision by AVX-512; empty on other processors. */
#include "compute/cpu/kernels.h"

#if defined(__x86_64__)

#define KERNEL_SET 512
#include "compute/cpu/kernel_single.h"

const broad__kernels_single broad__kernels_single_avx512 = {kernel_nodes_single};

#endif
