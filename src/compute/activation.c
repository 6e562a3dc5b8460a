/*
 * Activations by range reduction and short polynomials (activation_simd.h), without branches and without fused steps (the
 * build turns contraction off), so SSE2, AVX2, AVX-512 and NEON give the same bits. Accuracy, checked by the tests against
 * long double: 2 units in the last place for sigmoid, tanh and sine up to 1e6, 3e-16 absolute for gaussian; in single
 * precision the same in its units, 1e-7 for gaussian.
 */
#include "compute/activation.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "compute/activation_variants.h"

/* Beyond these the reduction loses digits. */
static const double SINE_LIMIT = 1e6;
static const float SINE_LIMIT_SINGLE = 1000;
enum { PIECE = 256 };

static void activate_any(broad_activation activation, double *values, size_t count)
{
#if defined(__x86_64__)
    switch (broad__vector_best()) {
    case BROAD__VECTOR_AVX512: broad__activate_avx512(activation, values, count); return;
    case BROAD__VECTOR_AVX2: broad__activate_avx2(activation, values, count); return;
    case BROAD__VECTOR_PLAIN: break;
    }
#endif
    broad__activate_plain(activation, values, count);
}

static void activate_any_single(broad_activation activation, float *values, size_t count)
{
#if defined(__x86_64__)
    switch (broad__vector_best()) {
    case BROAD__VECTOR_AVX512: broad__activate_avx512_single(activation, values, count); return;
    case BROAD__VECTOR_AVX2: broad__activate_avx2_single(activation, values, count); return;
    case BROAD__VECTOR_PLAIN: break;
    }
#endif
    broad__activate_plain_single(activation, values, count);
}

/* 64 zeros and the first 1,216 bits of 1/pi. */
static const uint64_t INVERSE_PI_BITS[] = {
    0x0000000000000000, 0x517cc1b727220a94, 0xfe13abe8fa9a6ee0, 0x6db14acc9e21c820, 0xff28b1d5ef5de2b0,
    0xdb92371d2126e970, 0x0324977504e8c90e, 0x7f0ef58e5894d39f, 0x74411afa975da242, 0x74ce38135a2fbf20,
    0x9cc8eb1cc1a99cfa, 0x4e422fc5defc941d, 0x8ffc4bffef02cc07, 0xf79788c5ad05368f, 0xb69b3f6793e584db,
    0xa7a31fb34f2ff516, 0xba93dd63f5f2f8bd, 0x9e839cfbc5294975, 0x35fdafd88fc6ae84, 0x2b0198237e3db5d5,
};

/* a b, the lower half; by halves, since machines of 32 bits have no numbers of 128. */
static uint64_t multiply_wide(uint64_t *out_high, uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    *out_high = a1 * b1 + (middle >> 32) + (other >> 32);
    return a * b;
}

/* out = 3 * 64 bits of the table from bit `first` on, the highest word first. */
static void inverse_pi_window(uint64_t out[3], unsigned first)
{
    unsigned word = first / 64, shift = first % 64;
    for (unsigned i = 0; i < 3; i++) {
        out[i] = INVERSE_PI_BITS[word + i] << shift;
        if (shift) out[i] |= INVERSE_PI_BITS[word + i + 1] >> (64 - shift);
    }
}

/* sin(x) for |x| >= 2^19 after Payne and Hanek: with x = m 2^e, those bits of 1/pi that make m 2^e / pi a multiple of 2 do
 * not matter, so 192 of those behind them give x / pi mod 2 in fixed point, with one bit before the point. */
static double sine_of_large(double x)
{
    if (!isfinite(x)) return (double)NAN;
    uint64_t bits, window[3];
    memcpy(&bits, &x, sizeof bits);
    unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;
    uint64_t m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    inverse_pi_window(window, 64 + exponent - 1075 - 1);
    uint64_t carried, above;
    uint64_t low = multiply_wide(&carried, m, window[2]), middle = multiply_wide(&above, m, window[1]) + carried;
    uint64_t high = m * window[0] + above + (middle < carried);
    /* x / pi = n + f, n the nearest integer, of which only the last bit is there. */
    high += (uint64_t)1 << 62;
    int odd = (int)(high >> 63);
    uint64_t f[2] = {(high << 1 | middle >> 63) - ((uint64_t)1 << 63), middle << 1 | low >> 63};
    int negative = (int)(f[0] >> 63);
    if (negative) {
        f[1] = 0 - f[1];
        f[0] = ~f[0] + (f[1] == 0);
    }
    double turns = (double)f[0] * 0x1p-64 + (double)f[1] * 0x1p-128;
    double value = turns * 0x1.921fb54442d18p+1 + turns * 0x1.1a62633145c07p-53;
    activate_any(BROAD_ACTIVATION_SINE, &value, 1);
    return odd ^ negative ^ (int)(bits >> 63) ? -value : value;
}

static int any_large(const double *values, size_t count)
{
    int large = 0;
    for (size_t i = 0; i < count; i++) large |= !(fabs(values[i]) < SINE_LIMIT);
    return large;
}

static int any_large_single(const float *values, size_t count)
{
    int large = 0;
    for (size_t i = 0; i < count; i++) large |= !(fabsf(values[i]) < SINE_LIMIT_SINGLE);
    return large;
}

static void activate_sine(double *values, size_t count)
{
    for (size_t n; count; values += n, count -= n) {
        n = count < PIECE ? count : PIECE;
        double kept[PIECE];
        int large = any_large(values, n);
        memcpy(kept, values, n * sizeof(double));
        activate_any(BROAD_ACTIVATION_SINE, values, n);
        for (size_t i = 0; large && i < n; i++)
            if (!(fabs(kept[i]) < SINE_LIMIT)) values[i] = sine_of_large(kept[i]);
    }
}

/* Here double precision takes over from what is large. */
static void activate_sine_single(float *values, size_t count)
{
    for (size_t n; count; values += n, count -= n) {
        n = count < PIECE ? count : PIECE;
        float kept[PIECE];
        int large = any_large_single(values, n);
        memcpy(kept, values, n * sizeof(float));
        activate_any_single(BROAD_ACTIVATION_SINE, values, n);
        for (size_t i = 0; large && i < n; i++) {
            double x = (double)kept[i];
            if (fabs(x) < (double)SINE_LIMIT_SINGLE) continue;
            activate_sine(&x, 1);
            values[i] = (float)x;
        }
    }
}

void broad__activate(broad_activation activation, double *values, size_t count)
{
    if (activation == BROAD_ACTIVATION_SINE) activate_sine(values, count);
    else activate_any(activation, values, count);
}

void broad__activate_single(broad_activation activation, float *values, size_t count)
{
    if (activation == BROAD_ACTIVATION_SINE) activate_sine_single(values, count);
    else activate_any_single(activation, values, count);
}
