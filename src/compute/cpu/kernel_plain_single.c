/* The kernels in single precision by what every processor of the target has. */
#include "compute/cpu/kernel_single.h"
#include "compute/cpu/kernels.h"

const broad__kernels_single broad__kernels_single_plain = {kernel_nodes_single};
