/*
 * Vectors of floats of one kernel set; names as in kernel_vector.h. The numbers of `out` are doubles: narrowed where the sums
 * start, widened where they end. b is packed, filled up with zeros, so that it is never loaded by
 * a mask.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_VECTOR_SINGLE_H
#define BROAD_COMPUTE_CPU_KERNEL_VECTOR_SINGLE_H

#include <stddef.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef float number;

#if defined(KERNEL_SET) && KERNEL_SET == 512

#include <immintrin.h>

enum { LANES = 16, HALF = 8, VECTORS = 3, ROWS = 8, ROWS_ALONE = 8, ROWS_HALF = 8 };
typedef __m512 full;
typedef __m256 half;

INLINE full full_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE full full_spread(float value) { return _mm512_set1_ps(value); }
INLINE full full_fma(full a, full b, full c) { return _mm512_fmadd_ps(a, b, c); }
INLINE half half_load(const float *p) { return _mm256_loadu_ps(p); }
INLINE half half_spread(float value) { return _mm256_set1_ps(value); }
INLINE half half_fma(half a, half b, half c) { return _mm256_fmadd_ps(a, b, c); }

INLINE __mmask8 lanes_below(size_t end) { return (__mmask8)((1U << end) - 1U); }

INLINE __m512d out_load(const double *p, size_t count, const int whole)
{
    return whole ? _mm512_loadu_pd(p) : _mm512_maskz_loadu_pd(lanes_below(count), p);
}

INLINE half half_narrow(const double *out, size_t count, const int whole)
{
    return _mm512_cvtpd_ps(out_load(out, count, whole));
}

INLINE void half_widen(double *out, half v, size_t count, const int whole)
{
    __m512d wide = _mm512_cvtps_pd(v);
    if (whole) _mm512_storeu_pd(out, wide);
    else _mm512_mask_storeu_pd(out, lanes_below(count), wide);
}

INLINE full full_of(half low, half high) { return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1); }
INLINE half low_of(full v) { return _mm512_castps512_ps256(v); }
INLINE half high_of(full v) { return _mm512_extractf32x8_ps(v, 1); }

#elif defined(KERNEL_SET) && KERNEL_SET == 256

#include <immintrin.h>

enum { LANES = 8, HALF = 4, VECTORS = 3, ROWS = 4, ROWS_ALONE = 8, ROWS_HALF = 8 };
typedef __m256 full;
typedef __m128 half;

INLINE full full_load(const float *p) { return _mm256_loadu_ps(p); }
INLINE full full_spread(float value) { return _mm256_set1_ps(value); }
INLINE full full_fma(full a, full b, full c) { return _mm256_fmadd_ps(a, b, c); }
INLINE half half_load(const float *p) { return _mm_loadu_ps(p); }
INLINE half half_spread(float value) { return _mm_set1_ps(value); }
INLINE half half_fma(half a, half b, half c) { return _mm_fmadd_ps(a, b, c); }

INLINE __m256i lanes_below(size_t end)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)end), _mm256_setr_epi64x(0, 1, 2, 3));
}

INLINE __m256d out_load(const double *p, size_t count, const int whole)
{
    return whole ? _mm256_loadu_pd(p) : _mm256_maskload_pd(p, lanes_below(count));
}

INLINE half half_narrow(const double *out, size_t count, const int whole)
{
    return _mm256_cvtpd_ps(out_load(out, count, whole));
}

INLINE void half_widen(double *out, half v, size_t count, const int whole)
{
    __m256d wide = _mm256_cvtps_pd(v);
    if (whole) _mm256_storeu_pd(out, wide);
    else _mm256_maskstore_pd(out, lanes_below(count), wide);
}

INLINE full full_of(half low, half high) { return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1); }
INLINE half low_of(full v) { return _mm256_castps256_ps128(v); }
INLINE half high_of(full v) { return _mm256_extractf128_ps(v, 1); }

#else

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { LANES = 4, HALF = 2, VECTORS = 2, ROWS = 4, ROWS_ALONE = 4, ROWS_HALF = 4 };
typedef float full __attribute__((vector_size(LANES * sizeof(float))));
typedef float half __attribute__((vector_size(HALF * sizeof(float))));

INLINE full full_load(const float *p)
{
    full v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE full full_spread(float value) { return (full){value, value, value, value}; }

INLINE full full_fma(full a, full b, full c)
{
#if defined(__aarch64__)
    return vfmaq_f32(c, a, b);
#elif defined(__FP_FAST_FMAF)
    return (full){__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]), __builtin_fmaf(a[2], b[2], c[2]),
                  __builtin_fmaf(a[3], b[3], c[3])};
#else
    return a * b + c;
#endif
}

INLINE half half_load(const float *p)
{
    half v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE half half_spread(float value) { return (half){value, value}; }

INLINE half half_fma(half a, half b, half c)
{
#if defined(__aarch64__)
    return vfma_f32(c, a, b);
#elif defined(__FP_FAST_FMAF)
    return (half){__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1])};
#else
    return a * b + c;
#endif
}

INLINE half half_narrow(const double *out, size_t count, const int whole)
{
    half v = {0, 0};
    for (size_t i = 0; i < (whole ? HALF : count); i++) v[i] = (float)out[i];
    return v;
}

INLINE void half_widen(double *out, half v, size_t count, const int whole)
{
    for (size_t i = 0; i < (whole ? HALF : count); i++) out[i] = (double)v[i];
}

INLINE full full_of(half low, half high) { return (full){low[0], low[1], high[0], high[1]}; }
INLINE half low_of(full v) { return (half){v[0], v[1]}; }
INLINE half high_of(full v) { return (half){v[2], v[3]}; }

#endif

INLINE half half_start(const double *out, size_t count, const int whole) { return half_narrow(out, count, whole); }

INLINE void half_finish(double *out, half v, size_t count, const int whole) { half_widen(out, v, count, whole); }

INLINE full full_start(const double *out, size_t count, const int whole)
{
    size_t low = count < HALF ? count : HALF;
    return full_of(half_start(out, low, whole), half_start(out + HALF, count - low, whole));
}

INLINE void full_finish(double *out, full v, size_t count, const int whole)
{
    size_t low = count < HALF ? count : HALF;
    half_widen(out, low_of(v), low, whole);
    half_widen(out + HALF, high_of(v), count - low, whole);
}

INLINE full full_load_end(const float *p, size_t count, const int whole)
{
    (void)count, (void)whole;
    return full_load(p);
}

INLINE half half_load_end(const float *p, size_t count, const int whole)
{
    (void)count, (void)whole;
    return half_load(p);
}

#endif
