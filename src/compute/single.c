#include "compute/single.h"

#include <math.h>

#include "base/vector.h"
#include "compute/activation.h"

#define INLINE static inline __attribute__((always_inline))

enum { HIGH = 4, WIDE = 32 }; /* rows and nodes at a time */

/* sums (high x WIDE) for nodes from `first` on, `wide` of them. */
INLINE void chains(float sums[HIGH][WIDE], const broad__nodes *nodes, size_t first, size_t wide, const double *x,
                   size_t x_stride, size_t high)
{
    float weight[WIDE] = {0};
    for (size_t i = 0; i < HIGH; i++)
        for (size_t j = 0; j < WIDE; j++) sums[i][j] = j < wide ? (float)nodes->bias[first + j] : 0;
    for (size_t k = 0; k < nodes->inputs; k++) {
        for (size_t j = 0; j < wide; j++) weight[j] = (float)nodes->weight[k * nodes->nodes + first + j];
        for (size_t i = 0; i < high; i++) {
            float input = (float)x[i * x_stride + k];
            for (size_t j = 0; j < WIDE; j++) sums[i][j] = fmaf(input, weight[j], sums[i][j]);
        }
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void chains_fused(float sums[HIGH][WIDE], const broad__nodes *nodes,
                                                             size_t first, size_t wide, const double *x,
                                                             size_t x_stride, size_t high)
{
    chains(sums, nodes, first, wide, x, x_stride, high);
}
#endif

/* Without such instructions the C library fuses, slowly. */
static void chains_any(float sums[HIGH][WIDE], const broad__nodes *nodes, size_t first, size_t wide, const double *x,
                       size_t x_stride, size_t high)
{
#if defined(__x86_64__)
    if (broad__vector_best() >= BROAD__VECTOR_AVX2) {
        chains_fused(sums, nodes, first, wide, x, x_stride, high);
        return;
    }
#endif
    chains(sums, nodes, first, wide, x, x_stride, high);
}

void broad__nodes_single(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                         size_t rows)
{
    float sums[HIGH][WIDE];
    for (size_t row = 0; row < rows; row += HIGH)
        for (size_t first = 0; first < nodes->nodes; first += WIDE) {
            size_t high = rows - row < HIGH ? rows - row : HIGH;
            size_t wide = nodes->nodes - first < WIDE ? nodes->nodes - first : WIDE;
            chains_any(sums, nodes, first, wide, x + row * x_stride, x_stride, high);
            broad__activate_single(nodes->activation, sums[0], HIGH * WIDE);
            for (size_t i = 0; i < high; i++)
                for (size_t j = 0; j < wide; j++) out[(row + i) * out_stride + first + j] = (double)sums[i][j];
        }
}
