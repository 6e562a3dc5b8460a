/* The kernels by what every processor of the target has. */
#include "compute/cpu/kernel_nodes.h"
#include "compute/cpu/kernel_symmetric.h"
#include "compute/cpu/kernel_triangle.h"
#include "compute/cpu/kernels.h"

const broad__kernels broad__kernels_plain = {
    .name = "plain",
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
    .single = &broad__kernels_single_plain,
};
