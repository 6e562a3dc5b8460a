#include "compute/cpu/peak.h"

/* Chains of steps that do not wait for each other: two units with a latency of five steps keep ten of them busy. */
enum { CHAINS = 12 };

/* x <- a x + b, with x near its fixed point: it neither overflows nor becomes subnormal. */
static const double a = 0.999, b = 0.001;

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f"))) static double run_512(size_t steps)
{
    __m512d x[CHAINS], factor = _mm512_set1_pd(a), term = _mm512_set1_pd(b);
    for (int i = 0; i < CHAINS; i++) x[i] = _mm512_set1_pd(1 + 0.1 * i);
    for (size_t step = 0; step < steps; step++)
        for (int i = 0; i < CHAINS; i++) x[i] = _mm512_fmadd_pd(x[i], factor, term);
    double total = 0;
    for (int i = 0; i < CHAINS; i++) total += _mm512_reduce_add_pd(x[i]);
    return total;
}

__attribute__((target("avx2,fma"))) static double run_256(size_t steps)
{
    __m256d x[CHAINS], factor = _mm256_set1_pd(a), term = _mm256_set1_pd(b);
    for (int i = 0; i < CHAINS; i++) x[i] = _mm256_set1_pd(1 + 0.1 * i);
    for (size_t step = 0; step < steps; step++)
        for (int i = 0; i < CHAINS; i++) x[i] = _mm256_fmadd_pd(x[i], factor, term);
    double total = 0;
    for (int i = 0; i < CHAINS; i++) total += _mm256_cvtsd_f64(x[i]);
    return total;
}

static double run_128(size_t steps)
{
    __m128d x[CHAINS], factor = _mm_set1_pd(a), term = _mm_set1_pd(b);
    for (int i = 0; i < CHAINS; i++) x[i] = _mm_set1_pd(1 + 0.1 * i);
    for (size_t step = 0; step < steps; step++)
        for (int i = 0; i < CHAINS; i++) x[i] = _mm_add_pd(_mm_mul_pd(x[i], factor), term);
    double total = 0;
    for (int i = 0; i < CHAINS; i++) total += _mm_cvtsd_f64(x[i]);
    return total;
}

broad__peak broad__peak_loop(size_t narrower)
{
    if (__builtin_cpu_supports("avx512f") && narrower-- == 0) return (broad__peak){"avx512", 16.0 * CHAINS, run_512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && narrower-- == 0)
        return (broad__peak){"avx2", 8.0 * CHAINS, run_256};
    if (narrower == 0) return (broad__peak){"sse2", 4.0 * CHAINS, run_128};
    return (broad__peak){"", 0, NULL};
}

#elif defined(__aarch64__)
#include <arm_neon.h>

static double run_neon(size_t steps)
{
    float64x2_t x[2 * CHAINS], factor = vdupq_n_f64(a), term = vdupq_n_f64(b);
    for (int i = 0; i < 2 * CHAINS; i++) x[i] = vdupq_n_f64(1 + 0.1 * i);
    for (size_t step = 0; step < steps; step++)
        for (int i = 0; i < 2 * CHAINS; i++) x[i] = vfmaq_f64(term, x[i], factor);
    double total = 0;
    for (int i = 0; i < 2 * CHAINS; i++) total += vaddvq_f64(x[i]);
    return total;
}

broad__peak broad__peak_loop(size_t narrower)
{
    return narrower == 0 ? (broad__peak){"neon", 8.0 * CHAINS, run_neon} : (broad__peak){"", 0, NULL};
}

#else

broad__peak broad__peak_loop(size_t narrower)
{
    (void)narrower;
    return (broad__peak){"", a * b * 0, NULL};
}

#endif
