/*
 * exp and sin by range reduction and a polynomial, in plain C without branches, so that each loop vectorises. No step
 * is fused (the build turns contraction off), so SSE2, AVX2 and AVX-512 give the same bits. Accuracy, checked by the
 * tests against long double: 2 units in the last place for sigmoid, tanh and sine up to 1e6, 3e-16 absolute for gaussian.
 */
#include "compute/activation.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Adding and subtracting 1.5 * 2^52 rounds to the nearest integer, which then stands in the low bits. */
static const double ROUNDER = 0x1.8p52;
static const double LOG2_E = 0x1.71547652b82fep0;
static const double LN2_HIGH = 0x1.62e42fefa0000p-1, LN2_LOW = 0x1.cf79abc9e3b39p-40;
static const double INVERSE_PI = 0x1.45f306dc9c883p-2;
/* pi in three parts; the first two have 20 and more trailing zeros, so n * part is exact for |n| < 2^20. */
static const double PI_A = 0x1.921fb54400000p1, PI_B = 0x1.0b4611a600000p-33, PI_C = 0x1.3198a2e037073p-68;
static const double SINE_LIMIT = 1e6; /* beyond it the reduction loses digits: the C library takes over */

/* exp(r) - 1 for |r| <= ln(2)/2: Taylor to r^13, truncation below 5e-18. */
INLINE double exp_minus_one_small(double r)
{
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    return p * r * r + r;
}

/* *scale = 2^n and the result exp(r) - 1 with x = n ln 2 + r; exp(x) = scale * (result + 1). x is held in [-708, 709]. */
INLINE double exp_parts(double *scale, double x)
{
    x = x < -708.0 ? -708.0 : x;
    x = x > 709.0 ? 709.0 : x;
    double shifted = x * LOG2_E + ROUNDER;
    double n = shifted - ROUNDER;
    double r = (x - n * LN2_HIGH) - n * LN2_LOW;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023u) << 52;
    memcpy(scale, &bits, sizeof bits);
    return exp_minus_one_small(r);
}

INLINE double exp_fast(double x)
{
    double scale, tail = exp_parts(&scale, x);
    return scale * tail + scale;
}

INLINE double sigmoid_fast(double x) { return 1.0 / (1.0 + exp_fast(-x)); }

/* (e^2|x| - 1) / (e^2|x| + 1), the numerator without cancellation. */
INLINE double tanh_fast(double x)
{
    double scale, size = fabs(x);
    size = size > 20.0 ? 20.0 : size;
    double tail = exp_parts(&scale, 2.0 * size);
    double top = scale * tail + (scale - 1.0);
    return copysign(top / (top + 2.0), x);
}

INLINE double gaussian_fast(double x) { return x * x > 708.0 ? 0.0 : exp_fast(-(x * x)); }

/* sin(x) = (-1)^n sin(x - n pi); Taylor to r^21 on |r| <= pi/2, truncation below 2e-18. */
INLINE double sine_fast(double x)
{
    double shifted = x * INVERSE_PI + ROUNDER;
    double n = shifted - ROUNDER;
    double r = ((x - n * PI_A) - n * PI_B) - n * PI_C;
    uint64_t bits, sign;
    memcpy(&bits, &shifted, sizeof bits);
    double s = r * r;
    double p = 1.0 / 51090942171709440000.0;
    p = p * s - 1.0 / 121645100408832000.0;
    p = p * s + 1.0 / 355687428096000.0;
    p = p * s - 1.0 / 1307674368000.0;
    p = p * s + 1.0 / 6227020800.0;
    p = p * s - 1.0 / 39916800.0;
    p = p * s + 1.0 / 362880.0;
    p = p * s - 1.0 / 5040.0;
    p = p * s + 1.0 / 120.0;
    p = p * s - 1.0 / 6.0;
    double value = p * s * r + r;
    memcpy(&sign, &value, sizeof sign);
    sign ^= bits << 63;
    memcpy(&value, &sign, sizeof value);
    return value;
}

INLINE void activate_loop(broad_activation activation, double *values, size_t count)
{
    switch (activation) {
    case BROAD_SIGMOID:
        for (size_t i = 0; i < count; i++) values[i] = sigmoid_fast(values[i]);
        break;
    case BROAD_TANH:
        for (size_t i = 0; i < count; i++) values[i] = tanh_fast(values[i]);
        break;
    case BROAD_RELU:
        for (size_t i = 0; i < count; i++) values[i] = values[i] > 0.0 ? values[i] : 0.0;
        break;
    case BROAD_SINE:
        for (size_t i = 0; i < count; i++) values[i] = sine_fast(values[i]);
        break;
    case BROAD_GAUSSIAN:
        for (size_t i = 0; i < count; i++) values[i] = gaussian_fast(values[i]);
        break;
    case BROAD_IDENTITY: break;
    }
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512vl"))) static void activate_avx512(broad_activation activation,
                                                                                 double *values, size_t count)
{
    activate_loop(activation, values, count);
}

__attribute__((target("avx2"))) static void activate_avx2(broad_activation activation, double *values, size_t count)
{
    activate_loop(activation, values, count);
}
#endif

static void activate_any(broad_activation activation, double *values, size_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        activate_avx512(activation, values, count);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        activate_avx2(activation, values, count);
        return;
    }
#endif
    activate_loop(activation, values, count);
}

/* Arguments too large for the reduction are set aside and filled in by the C library. */
static void sine_with_large(double *values, size_t count)
{
    enum { PIECE = 128 };
    double kept[PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        size_t n = count - first < PIECE ? count - first : PIECE;
        double *piece = values + first;
        memcpy(kept, piece, n * sizeof(double));
        activate_any(BROAD_SINE, piece, n);
        for (size_t i = 0; i < n; i++)
            if (!(fabs(kept[i]) < SINE_LIMIT)) piece[i] = sin(kept[i]);
    }
}

void broad__activate(broad_activation activation, double *values, size_t count)
{
    if (activation == BROAD_SINE) sine_with_large(values, count);
    else activate_any(activation, values, count);
}
