/*
 * Sixteen nodes of several windows at a time. Lanes are nodes, and each node's sum runs over the inputs in order without
 * fused steps, so SSE2, AVX2 and AVX-512 give the same bits; they differ in how many windows share a load of weights.
 */
#include <stdint.h>
#include <string.h>

#include "image/windows_work.h"

#define INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(BROAD__WINDOW_LANES * sizeof(float))));
typedef int32_t lane_bits __attribute__((vector_size(BROAD__WINDOW_LANES * sizeof(int32_t))));

/* From turns t: with r = |t - nearest integer| <= 1/2, cos(2 pi t) = -sin(2 pi (r - 1/4)). Taylor of the sine to the 11th
 * power, truncation below 6e-8. Adding and subtracting 1.5 * 2^23 rounds to the nearest integer. */
INLINE void cosine(lanes *turns)
{
    lanes t = *turns;
    t -= (t + 0x1.8p23F) - 0x1.8p23F;
    lanes s = (lanes)((lane_bits)t & 0x7FFFFFFF) - 0.25F;
    lanes square = s * s;
    lanes p = 15.094642576822984F * square - 42.058693944897634F;
    p = p * square + 76.70585975306136F;
    p = p * square - 81.60524927607504F;
    p = p * square + 41.341702240399755F;
    p = p * square - 6.283185307179586F;
    *turns = p * s;
}

/* `together` windows, a constant once this is inlined, so that the sums stay in registers. */
INLINE void panel(float (*out)[BROAD__WINDOW_LANES], const float *z, size_t count,
                  const float (*weight)[BROAD__WINDOW_LANES], const float *bias, size_t together)
{
    for (size_t first = 0; first < count; first += together) {
        lanes sum[BROAD__WINDOW_TOGETHER], w;
        const float *from = z + first * BROAD__WINDOW_INPUTS;
        memcpy(&w, bias, sizeof w);
        for (size_t i = 0; i < together; i++) sum[i] = w;
        for (size_t input = 0; input < BROAD__WINDOW_INPUTS; input++) {
            memcpy(&w, weight[input], sizeof w);
            for (size_t i = 0; i < together; i++) sum[i] += from[i * BROAD__WINDOW_INPUTS + input] * w;
        }
        for (size_t i = 0; i < together; i++) {
            cosine(&sum[i]);
            memcpy(out[first + i], &sum[i], sizeof w);
        }
    }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void panel_avx512(float (*out)[BROAD__WINDOW_LANES], const float *z,
                                                            size_t count, const float (*weight)[BROAD__WINDOW_LANES],
                                                            const float *bias)
{
    panel(out, z, count, weight, bias, 8);
}

__attribute__((target("avx2"))) static void panel_avx2(float (*out)[BROAD__WINDOW_LANES], const float *z, size_t count,
                                                       const float (*weight)[BROAD__WINDOW_LANES], const float *bias)
{
    panel(out, z, count, weight, bias, 4);
}
#endif

static void panel_any(float (*out)[BROAD__WINDOW_LANES], const float *z, size_t count,
                      const float (*weight)[BROAD__WINDOW_LANES], const float *bias)
{
    panel(out, z, count, weight, bias, 2);
}

size_t broad__window_kernels(broad__window_kernel *out[BROAD__WINDOW_KERNELS])
{
    size_t count = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) out[count++] = panel_avx512;
    if (__builtin_cpu_supports("avx2")) out[count++] = panel_avx2;
#endif
    out[count++] = panel_any;
    return count;
}
