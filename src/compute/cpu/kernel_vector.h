/*
 * Vectors of doubles of one kernel set: KERNEL_SET is 512 (AVX-512), 256 (AVX2 with FMA) or not defined (plain). A file that
 * defines it is compiled with the instructions it names (CMakeLists.txt).
 *
 *   full, half        LANES and HALF numbers. Where they differ, half costs half as much and serves narrow panels
 *   mask              which lanes are loaded and stored
 *   _start, _finish   a vector of sums from and to `out`: its first `count` numbers, or the whole
 *   quad              QUAD numbers, of as many rows of a matrix
 *   VECTORS           full vectors side by side in the widest tile
 *   SUMMED            rows that a tile of a sum over rows takes at once
 *   ROWS              rows of a tile: as many sums as registers hold beside the operands; ROWS_ALONE for one vector's width,
 *                     ROWS_HALF for half of that
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_VECTOR_H
#define BROAD_COMPUTE_CPU_KERNEL_VECTOR_H

#include <stddef.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef double number;

#if defined(KERNEL_SET) && KERNEL_SET == 512

#include <immintrin.h>

enum { LANES = 8, HALF = 4, VECTORS = 3, ROWS = 8, ROWS_ALONE = 8, ROWS_HALF = 16, SUMMED = 256 };
typedef __m512d full;
typedef __m256d half;
typedef __mmask8 mask;

INLINE mask lanes_below(size_t end) { return (mask)((1U << end) - 1U); }

INLINE full full_load(const double *p) { return _mm512_loadu_pd(p); }
INLINE full full_load_masked(const double *p, mask m) { return _mm512_maskz_loadu_pd(m, p); }
INLINE full full_spread(double value) { return _mm512_set1_pd(value); }
INLINE full full_fma(full a, full b, full c) { return _mm512_fmadd_pd(a, b, c); }
INLINE void full_store(double *p, full v) { _mm512_storeu_pd(p, v); }
INLINE void full_store_masked(double *p, full v, mask m) { _mm512_mask_storeu_pd(p, m, v); }

INLINE half half_load(const double *p) { return _mm256_loadu_pd(p); }
INLINE half half_load_masked(const double *p, mask m) { return _mm256_maskz_loadu_pd(m, p); }
INLINE half half_spread(double value) { return _mm256_set1_pd(value); }
INLINE half low_of(full v) { return _mm512_castpd512_pd256(v); }
INLINE half half_fma(half a, half b, half c) { return _mm256_fmadd_pd(a, b, c); }
INLINE void half_store(double *p, half v) { _mm256_storeu_pd(p, v); }
INLINE void half_store_masked(double *p, half v, mask m) { _mm256_mask_storeu_pd(p, m, v); }

#elif defined(KERNEL_SET) && KERNEL_SET == 256

#include <immintrin.h>

enum { LANES = 4, HALF = 4, VECTORS = 3, ROWS = 4, ROWS_ALONE = 8, ROWS_HALF = 8, SUMMED = 128 };
typedef __m256d full;
typedef __m256i mask;

INLINE mask lanes_below(size_t end)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)end), _mm256_setr_epi64x(0, 1, 2, 3));
}

INLINE full full_load(const double *p) { return _mm256_loadu_pd(p); }
INLINE full full_load_masked(const double *p, mask m) { return _mm256_maskload_pd(p, m); }
INLINE full full_spread(double value) { return _mm256_set1_pd(value); }
INLINE full full_fma(full a, full b, full c) { return _mm256_fmadd_pd(a, b, c); }
INLINE void full_store(double *p, full v) { _mm256_storeu_pd(p, v); }
INLINE void full_store_masked(double *p, full v, mask m) { _mm256_maskstore_pd(p, m, v); }

#else

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { LANES = 2, HALF = 2, VECTORS = 2, ROWS = 4, ROWS_ALONE = 4, ROWS_HALF = 4, SUMMED = 128 };
typedef double full __attribute__((vector_size(LANES * sizeof(double))));
typedef size_t mask;

INLINE mask lanes_below(size_t end) { return end; }

INLINE full full_load(const double *p)
{
    full v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE full full_load_masked(const double *p, mask m)
{
    full v = {0, 0};
    for (size_t i = 0; i < m; i++) v[i] = p[i];
    return v;
}

INLINE full full_spread(double value) { return (full){value, value}; }

INLINE full full_fma(full a, full b, full c)
{
#if defined(__aarch64__)
    return vfmaq_f64(c, a, b);
#elif defined(__FP_FAST_FMA)
    return (full){__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
#else
    return a * b + c;
#endif
}

INLINE void full_store(double *p, full v) { memcpy(p, &v, sizeof v); }

INLINE void full_store_masked(double *p, full v, mask m)
{
    for (size_t i = 0; i < m; i++) p[i] = v[i];
}

#endif

#if !defined(KERNEL_SET) || KERNEL_SET != 512

typedef full half;

INLINE half half_load(const double *p) { return full_load(p); }
INLINE half half_load_masked(const double *p, mask m) { return full_load_masked(p, m); }
INLINE half half_spread(double value) { return full_spread(value); }
INLINE half low_of(full v) { return v; }
INLINE half half_fma(half a, half b, half c) { return full_fma(a, b, c); }
INLINE void half_store(double *p, half v) { full_store(p, v); }
INLINE void half_store_masked(double *p, half v, mask m) { full_store_masked(p, v, m); }

#endif

INLINE full full_load_end(const double *p, size_t count, const int whole)
{
    return whole ? full_load(p) : full_load_masked(p, lanes_below(count));
}

INLINE full full_start(const double *out, size_t count, const int whole) { return full_load_end(out, count, whole); }

INLINE void full_finish(double *out, full v, size_t count, const int whole)
{
    if (whole) full_store(out, v);
    else full_store_masked(out, v, lanes_below(count));
}

INLINE half half_load_end(const double *p, size_t count, const int whole)
{
    return whole ? half_load(p) : half_load_masked(p, lanes_below(count));
}

INLINE half half_start(const double *out, size_t count, const int whole) { return half_load_end(out, count, whole); }

INLINE void half_finish(double *out, half v, size_t count, const int whole)
{
    if (whole) half_store(out, v);
    else half_store_masked(out, v, lanes_below(count));
}

#if defined(KERNEL_SET)

enum { QUAD = 4 };
typedef __m256d quad;

INLINE quad quad_spread(double value) { return _mm256_set1_pd(value); }
INLINE quad quad_fma(quad a, quad b, quad c) { return _mm256_fmadd_pd(a, b, c); }

INLINE quad quad_times(quad a, double factor) { return _mm256_mul_pd(a, _mm256_set1_pd(factor)); }
INLINE void quad_store(double *p, quad v) { _mm256_storeu_pd(p, v); }

INLINE quad quad_gather(const double *p, size_t stride)
{
    return _mm256_setr_pd(p[0], p[stride], p[2 * stride], p[3 * stride]);
}

INLINE void quad_gather_two(quad out[2], const double *p, size_t stride)
{
    quad even = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(p + 2 * stride), 1);
    quad odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + stride)), _mm_loadu_pd(p + 3 * stride), 1);
    out[0] = _mm256_unpacklo_pd(even, odd);
    out[1] = _mm256_unpackhi_pd(even, odd);
}

#else

enum { QUAD = LANES };
typedef full quad;

INLINE quad quad_spread(double value) { return full_spread(value); }
INLINE quad quad_fma(quad a, quad b, quad c) { return full_fma(a, b, c); }
INLINE quad quad_times(quad a, double factor) { return a * factor; }
INLINE void quad_store(double *p, quad v) { full_store(p, v); }
INLINE quad quad_gather(const double *p, size_t stride) { return (quad){p[0], p[stride]}; }

INLINE void quad_gather_two(quad out[2], const double *p, size_t stride)
{
    out[0] = quad_gather(p, stride);
    out[1] = quad_gather(p + 1, stride);
}

#endif

INLINE void quad_scatter(double *p, size_t stride, quad v)
{
    double lanes[QUAD];
    memcpy(lanes, &v, sizeof v);
    for (size_t i = 0; i < QUAD; i++) p[i * stride] = lanes[i];
}

#endif
