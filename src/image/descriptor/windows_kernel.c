/*
 * Sixteen nodes of several windows at a time. Lanes are nodes, and each node's sum runs over the inputs in order without
 * fused steps, so SSE2, AVX2 and AVX-512 give the same bits.
 */
#include <math.h>
#include <string.h>

#include "image/descriptor/windows_kernel.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = BROAD__WINDOW_LANES, WIDEST = 16, WIDE = 8, NARROW = 4, INPUTS = BROAD__WINDOW_INPUTS };

/* As wide as the registers of AVX-512, of AVX2, and of SSE2 and others: wider ones would be kept in memory. */
typedef float widest __attribute__((vector_size(WIDEST * sizeof(float))));
typedef float wide __attribute__((vector_size(WIDE * sizeof(float))));
typedef float narrow __attribute__((vector_size(NARROW * sizeof(float))));

/* From turns t: with r = |t - nearest integer| <= 1/2, cos(2 pi t) = -sin(2 pi (r - 1/4)). Taylor of the sine to the 11th
 * power, truncation below 6e-8. Adding and subtracting 1.5 * 2^23 rounds to the nearest integer. */
INLINE void cosines(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float t = values[i];
        float s = fabsf(t - ((t + 0x1.8p23F) - 0x1.8p23F)) - 0.25F, square = s * s;
        float p = 15.094642576822984F * square - 42.058693944897634F;
        p = p * square + 76.70585975306136F;
        p = p * square - 81.60524927607504F;
        p = p * square + 41.341702240399755F;
        p = p * square - 6.283185307179586F;
        values[i] = p * s;
    }
}

/* The lanes from `first` on of all BROAD__WINDOW_TOGETHER windows, whose sums stay in registers of type `vector`. */
#define SUM_LANES(vector, out, z, weight, bias, first)                                                                 \
    do {                                                                                                               \
        vector sum[BROAD__WINDOW_TOGETHER], w;                                                                         \
        memcpy(&w, (bias) + (first), sizeof w);                                                                        \
        for (size_t i_ = 0; i_ < BROAD__WINDOW_TOGETHER; i_++) sum[i_] = w;                                            \
        for (size_t input = 0; input < INPUTS; input++) {                                                              \
            memcpy(&w, &(weight)[input][first], sizeof w);                                                             \
            for (size_t i_ = 0; i_ < BROAD__WINDOW_TOGETHER; i_++) sum[i_] += (z)[i_ * INPUTS + input] * w;            \
        }                                                                                                              \
        for (size_t i_ = 0; i_ < BROAD__WINDOW_TOGETHER; i_++) memcpy(&(out)[i_][first], &sum[i_], sizeof w);          \
    } while (0)

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void panel_avx512(float (*out)[LANES], const float *z, size_t count,
                                                            const float (*weight)[LANES], const float *bias)
{
    for (size_t i = 0; i < count; i += BROAD__WINDOW_TOGETHER)
        for (size_t first = 0; first < LANES; first += WIDEST)
            SUM_LANES(widest, out + i, z + i * INPUTS, weight, bias, first);
    cosines(out[0], count * LANES);
}

__attribute__((target("avx2"))) static void panel_avx2(float (*out)[LANES], const float *z, size_t count,
                                                       const float (*weight)[LANES], const float *bias)
{
    for (size_t i = 0; i < count; i += BROAD__WINDOW_TOGETHER)
        for (size_t first = 0; first < LANES; first += WIDE)
            SUM_LANES(wide, out + i, z + i * INPUTS, weight, bias, first);
    cosines(out[0], count * LANES);
}
#endif

static void panel_any(float (*out)[LANES], const float *z, size_t count, const float (*weight)[LANES],
                      const float *bias)
{
    for (size_t i = 0; i < count; i += BROAD__WINDOW_TOGETHER)
        for (size_t first = 0; first < LANES; first += NARROW)
            SUM_LANES(narrow, out + i, z + i * INPUTS, weight, bias, first);
    cosines(out[0], count * LANES);
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
