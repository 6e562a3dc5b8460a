/*
 * Vectors of numbers of one width for the whole of a source file, which says which by defining LANES_AVX2 or LANES_AVX512
 * before this; else 16 bytes, which SSE2 and NEON have. Every function of such a file stands behind LANES_CODE. Only
 * operations that round in one way are here, so the same code gives the same bits at every width.
 */
#ifndef BROAD_BASE_SIMD_H
#define BROAD_BASE_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(LANES_AVX512)
enum { LANES_BYTES = 64 };
#define LANES_CODE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#elif defined(LANES_AVX2)
enum { LANES_BYTES = 32 };
#define LANES_CODE __attribute__((target("avx2")))
#else
enum { LANES_BYTES = 16 };
#define LANES_CODE
#endif
#define LANES_INLINE LANES_CODE static inline __attribute__((always_inline, unused))

typedef double doubles __attribute__((vector_size(LANES_BYTES)));
typedef int64_t longs __attribute__((vector_size(LANES_BYTES)));
typedef uint64_t words __attribute__((vector_size(LANES_BYTES)));
typedef float floats __attribute__((vector_size(LANES_BYTES)));
typedef int32_t ints __attribute__((vector_size(LANES_BYTES)));
typedef uint32_t short_words __attribute__((vector_size(LANES_BYTES)));

enum { DOUBLES = LANES_BYTES / sizeof(double), FLOATS = LANES_BYTES / sizeof(float) };

LANES_INLINE doubles doubles_load(const double *at)
{
    doubles x;
    memcpy(&x, at, sizeof x);
    return x;
}

LANES_INLINE void doubles_store(double *at, doubles x) { memcpy(at, &x, sizeof x); }

LANES_INLINE floats floats_load(const float *at)
{
    floats x;
    memcpy(&x, at, sizeof x);
    return x;
}

LANES_INLINE void floats_store(float *at, floats x) { memcpy(at, &x, sizeof x); }

/* count numbers, fewer than fit; zeros behind them */
LANES_INLINE doubles doubles_load_few(const double *at, size_t count)
{
    doubles x = {0};
    memcpy(&x, at, count * sizeof(double));
    return x;
}

LANES_INLINE floats floats_load_few(const float *at, size_t count)
{
    floats x = {0};
    memcpy(&x, at, count * sizeof(float));
    return x;
}

/* a where mask is all ones, b where it is 0 */
LANES_INLINE doubles doubles_pick(longs mask, doubles a, doubles b)
{
    return (doubles)(((longs)a & mask) | ((longs)b & ~mask));
}

LANES_INLINE floats floats_pick(ints mask, floats a, floats b)
{
    return (floats)(((ints)a & mask) | ((ints)b & ~mask));
}

/* a < b ? a : b and a > b ? a : b, so b where either is no number */
#if defined(LANES_AVX512)
LANES_INLINE doubles doubles_min(doubles a, doubles b) { return (doubles)_mm512_min_pd((__m512d)a, (__m512d)b); }
LANES_INLINE doubles doubles_max(doubles a, doubles b) { return (doubles)_mm512_max_pd((__m512d)a, (__m512d)b); }
LANES_INLINE floats floats_min(floats a, floats b) { return (floats)_mm512_min_ps((__m512)a, (__m512)b); }
LANES_INLINE floats floats_max(floats a, floats b) { return (floats)_mm512_max_ps((__m512)a, (__m512)b); }
#elif defined(LANES_AVX2)
LANES_INLINE doubles doubles_min(doubles a, doubles b) { return (doubles)_mm256_min_pd((__m256d)a, (__m256d)b); }
LANES_INLINE doubles doubles_max(doubles a, doubles b) { return (doubles)_mm256_max_pd((__m256d)a, (__m256d)b); }
LANES_INLINE floats floats_min(floats a, floats b) { return (floats)_mm256_min_ps((__m256)a, (__m256)b); }
LANES_INLINE floats floats_max(floats a, floats b) { return (floats)_mm256_max_ps((__m256)a, (__m256)b); }
#elif defined(__x86_64__)
LANES_INLINE doubles doubles_min(doubles a, doubles b) { return (doubles)_mm_min_pd((__m128d)a, (__m128d)b); }
LANES_INLINE doubles doubles_max(doubles a, doubles b) { return (doubles)_mm_max_pd((__m128d)a, (__m128d)b); }
LANES_INLINE floats floats_min(floats a, floats b) { return (floats)_mm_min_ps((__m128)a, (__m128)b); }
LANES_INLINE floats floats_max(floats a, floats b) { return (floats)_mm_max_ps((__m128)a, (__m128)b); }
#else
LANES_INLINE doubles doubles_min(doubles a, doubles b) { return doubles_pick((longs)(a < b), a, b); }
LANES_INLINE doubles doubles_max(doubles a, doubles b) { return doubles_pick((longs)(a > b), a, b); }
LANES_INLINE floats floats_min(floats a, floats b) { return floats_pick((ints)(a < b), a, b); }
LANES_INLINE floats floats_max(floats a, floats b) { return floats_pick((ints)(a > b), a, b); }
#endif

/* The sign bit of sign on size, which has none. */
LANES_INLINE doubles doubles_sign(doubles size, doubles sign)
{
    return (doubles)((longs)size | ((longs)sign & INT64_MIN));
}

LANES_INLINE floats floats_sign(floats size, floats sign) { return (floats)((ints)size | ((ints)sign & INT32_MIN)); }

LANES_INLINE doubles doubles_size(doubles x) { return (doubles)((longs)x & INT64_MAX); }

LANES_INLINE floats floats_size(floats x) { return (floats)((ints)x & INT32_MAX); }

/* The low 32 bits of each a times b, in full. */
#if defined(LANES_AVX512)
LANES_INLINE words words_product(words a, uint32_t b)
{
    return (words)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64((long long)b));
}
#elif defined(LANES_AVX2)
LANES_INLINE words words_product(words a, uint32_t b)
{
    return (words)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x((long long)b));
}
#elif defined(__x86_64__)
LANES_INLINE words words_product(words a, uint32_t b)
{
    return (words)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x((long long)b));
}
#elif defined(__aarch64__)
LANES_INLINE words words_product(words a, uint32_t b) { return (words)vmull_n_u32(vmovn_u64((uint64x2_t)a), b); }
#else
LANES_INLINE words words_product(words a, uint32_t b) { return (a & 0xffffffffu) * b; }
#endif

#endif
