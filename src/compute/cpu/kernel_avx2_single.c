/* The kernels in single precision by AVX2 and FMA; empty on other processors. */
#include "compute/cpu/kernels.h"

#if defined(__x86_64__)

#define KERNEL_SET 256
#include "compute/cpu/kernel_single.h"

const broad__kernels_single broad__kernels_single_avx2 = {kernel_nodes_single};

#endif
