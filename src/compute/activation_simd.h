/*
 * The loops of activation.c for the vector width of the file that includes this.
 *
 * exp(x) = 2^n e^r with x = n ln 2 + r, |r| <= ln(2)/2, and e^r = (R + r) / (R - r) with the even function
 * R(r) = r coth(r/2) = 2 + r^2/6 - r^4/360 + ... . An error of R reaches e^r only r/2 times as large, so a short polynomial
 * in r^2 does; and the division it brings is the one that sigmoid and tanh have anyway:
 *
 *   sigmoid(-x) = 1 / (1 + e^x) = (R - r) / ((R - r) + 2^n (R + r))
 *   tanh(x/2) = (e^x - 1) / (e^x + 1) = (R (2^n - 1) + r (2^n + 1)) / (R (2^n + 1) + r (2^n - 1))
 *
 * where the second form of the numerator does not cancel near 0. sin(x) = (-1)^n sin(x - n pi). The coefficients are
 * minimax fits. Several vectors go through a step side by side (EACH), because one alone would wait for the step before.
 */
#ifndef BROAD_COMPUTE_ACTIVATION_SIMD_H
#define BROAD_COMPUTE_ACTIVATION_SIMD_H

#include "base/simd.h"
#include "compute/activation.h"

enum { ABREAST = 4 };
#define EACH for (int k = 0; k < abreast; k++)

/* Adding and subtracting 1.5 * 2^52 rounds to the nearest integer, which then stands in the low bits. */
static const double ROUNDER = 0x1.8p52;
static const double LOG2_E = 0x1.71547652b82fep0;
/* The first part has 17 trailing zeros: n * part is exact for |n| < 2^17. */
static const double LN2_HIGH = 0x1.62e42fefa0000p-1, LN2_LOW = 0x1.cf79abc9e3b39p-40;
static const double EXP_LIMIT = 708; /* 2^n stays normal */
static const double INVERSE_PI = 0x1.45f306dc9c883p-2;
/* pi in three parts; the first two have 20 and more trailing zeros, so n * part is exact for |n| < 2^20. */
static const double PI_A = 0x1.921fb54400000p1, PI_B = 0x1.0b4611a600000p-33, PI_C = 0x1.3198a2e037073p-68;

/* The same for float; 1.5 * 2^23, parts of 15 bits. */
static const float ROUNDER_SINGLE = 0x1.8p23F;
static const float LOG2_E_SINGLE = 0x1.715476p0F;
static const float LN2_HIGH_SINGLE = 0x1.62e4p-1F, LN2_LOW_SINGLE = 0x1.7f7d1cp-20F;
static const float EXP_LIMIT_SINGLE = 87;
static const float INVERSE_PI_SINGLE = 0x1.45f306p-2F;
static const float PI_A_SINGLE = 0x1.921cp1F, PI_B_SINGLE = 0x1.daap-14F, PI_C_SINGLE = 0x1.10b462p-29F;

/* 2^n where n was rounded by ROUNDER and stands in the low bits of shifted. */
LANES_INLINE doubles power_of_two(doubles shifted) { return (doubles)(((words)shifted + 1023) << 52); }

LANES_INLINE floats power_of_two_single(floats shifted) { return (floats)(((short_words)shifted + 127) << 23); }

/* R(r); e^r is off by less than 2e-19 of itself on its account. */
LANES_INLINE void exp_ratios(doubles *ratio, const doubles *r, int abreast)
{
    doubles s[ABREAST];
    EACH s[k] = r[k] * r[k];
    EACH ratio[k] = s[k] * 0x1.6349327f2396ep-25 - 0x1.bbd3ab40a12dfp-20;
    EACH ratio[k] = ratio[k] * s[k] + 0x1.1566aac0bcc91p-14;
    EACH ratio[k] = ratio[k] * s[k] - 0x1.6c16c16bda10bp-9;
    EACH ratio[k] = ratio[k] * s[k] + 0x1.555555555552dp-3;
    EACH ratio[k] = ratio[k] * s[k] + 2.0;
}

/* The same, by less than 6e-10. */
LANES_INLINE void exp_ratios_single(floats *ratio, const floats *r, int abreast)
{
    floats s[ABREAST];
    EACH s[k] = r[k] * r[k];
    EACH ratio[k] = s[k] * -0x1.6a8b6ap-9F + 0x1.555514p-3F;
    EACH ratio[k] = ratio[k] * s[k] + 2.0F;
}

/* -x = n ln 2 - r with n from shifted. */
LANES_INLINE void exp_reduce(doubles *r, doubles *shifted, const doubles *x, int abreast)
{
    doubles n[ABREAST];
    EACH shifted[k] = ROUNDER - x[k] * LOG2_E;
    EACH n[k] = shifted[k] - ROUNDER;
    EACH r[k] = (x[k] + n[k] * LN2_HIGH) + n[k] * LN2_LOW;
}

LANES_INLINE void exp_reduce_single(floats *r, floats *shifted, const floats *x, int abreast)
{
    floats n[ABREAST];
    EACH shifted[k] = ROUNDER_SINGLE - x[k] * LOG2_E_SINGLE;
    EACH n[k] = shifted[k] - ROUNDER_SINGLE;
    EACH r[k] = (x[k] + n[k] * LN2_HIGH_SINGLE) + n[k] * LN2_LOW_SINGLE;
}

LANES_INLINE void sigmoid_block(doubles *x, int abreast)
{
    const doubles limit = (doubles){0} + EXP_LIMIT;
    doubles r[ABREAST], shifted[ABREAST], ratio[ABREAST];
    EACH x[k] = doubles_max(-limit, doubles_min(limit, x[k]));
    exp_reduce(r, shifted, x, abreast);
    exp_ratios(ratio, r, abreast);
    EACH
    {
        doubles top = ratio[k] + r[k];
        x[k] = top / (top + power_of_two(shifted[k]) * (ratio[k] - r[k]));
    }
}

LANES_INLINE void sigmoid_block_single(floats *x, int abreast)
{
    const floats limit = (floats){0} + EXP_LIMIT_SINGLE;
    floats r[ABREAST], shifted[ABREAST], ratio[ABREAST];
    EACH x[k] = floats_max(-limit, floats_min(limit, x[k]));
    exp_reduce_single(r, shifted, x, abreast);
    exp_ratios_single(ratio, r, abreast);
    EACH
    {
        floats top = ratio[k] + r[k];
        x[k] = top / (top + power_of_two_single(shifted[k]) * (ratio[k] - r[k]));
    }
}

/* |x| = h - n ln(2)/2, n <= 0, R/2 = 1 + q with q of h = r/2, which spares a rounding. Numerator and denominator are those
 * of the head, times 2^(n-1). Beyond 20, tanh is 1. */
LANES_INLINE void tanh_block(doubles *x, int abreast)
{
    const doubles limit = (doubles){0} + 20.0;
    doubles n[ABREAST], shifted[ABREAST], h[ABREAST], s[ABREAST], q[ABREAST];
    EACH h[k] = doubles_min(limit, doubles_size(x[k]));
    EACH shifted[k] = ROUNDER - h[k] * (2 * LOG2_E);
    EACH n[k] = shifted[k] - ROUNDER;
    EACH h[k] = (h[k] + n[k] * (LN2_HIGH / 2)) + n[k] * (LN2_LOW / 2);
    EACH s[k] = h[k] * h[k];
    EACH q[k] = s[k] * 0x1.6349327f2396ep-16 - 0x1.bbd3ab40a12dfp-13;
    EACH q[k] = q[k] * s[k] + 0x1.1566aac0bcc91p-9;
    EACH q[k] = q[k] * s[k] - 0x1.6c16c16bda10bp-6;
    EACH q[k] = (q[k] * s[k] + 0x1.555555555552dp-2) * s[k];
    EACH
    {
        doubles scale = power_of_two(shifted[k]), less = 1.0 - scale, more = 1.0 + scale;
        doubles top = less + (q[k] * less + h[k] * more), bottom = more + (q[k] * more + h[k] * less);
        x[k] = doubles_sign(top / bottom, x[k]);
    }
}

LANES_INLINE void tanh_block_single(floats *x, int abreast)
{
    const floats limit = (floats){0} + 10.0F;
    floats n[ABREAST], shifted[ABREAST], h[ABREAST], s[ABREAST], q[ABREAST];
    EACH h[k] = floats_min(limit, floats_size(x[k]));
    EACH shifted[k] = ROUNDER_SINGLE - h[k] * (2 * LOG2_E_SINGLE);
    EACH n[k] = shifted[k] - ROUNDER_SINGLE;
    EACH h[k] = (h[k] + n[k] * (LN2_HIGH_SINGLE / 2)) + n[k] * (LN2_LOW_SINGLE / 2);
    EACH s[k] = h[k] * h[k];
    EACH q[k] = (s[k] * -0x1.6a8b6ap-6F + 0x1.555514p-2F) * s[k];
    EACH
    {
        floats scale = power_of_two_single(shifted[k]), less = 1.0F - scale, more = 1.0F + scale;
        floats top = less + (q[k] * less + h[k] * more), bottom = more + (q[k] * more + h[k] * less);
        x[k] = floats_sign(top / bottom, x[k]);
    }
}

LANES_INLINE void relu_block(doubles *x, int abreast) { EACH x[k] = doubles_max(x[k], (doubles){0}); }

LANES_INLINE void relu_block_single(floats *x, int abreast) { EACH x[k] = floats_max(x[k], (floats){0}); }

LANES_INLINE void gaussian_block(doubles *x, int abreast)
{
    const doubles limit = (doubles){0} + EXP_LIMIT;
    doubles r[ABREAST], shifted[ABREAST], ratio[ABREAST], size[ABREAST];
    EACH x[k] = x[k] * x[k];
    EACH size[k] = doubles_min(limit, x[k]);
    exp_reduce(r, shifted, size, abreast);
    exp_ratios(ratio, r, abreast);
    EACH
    {
        doubles value = power_of_two(shifted[k]) * (ratio[k] - r[k]) / (ratio[k] + r[k]);
        x[k] = (doubles)((longs)value & ~(longs)(x[k] > limit));
    }
}

LANES_INLINE void gaussian_block_single(floats *x, int abreast)
{
    const floats limit = (floats){0} + EXP_LIMIT_SINGLE;
    floats r[ABREAST], shifted[ABREAST], ratio[ABREAST], size[ABREAST];
    EACH x[k] = x[k] * x[k];
    EACH size[k] = floats_min(limit, x[k]);
    exp_reduce_single(r, shifted, size, abreast);
    exp_ratios_single(ratio, r, abreast);
    EACH
    {
        floats value = power_of_two_single(shifted[k]) * (ratio[k] - r[k]) / (ratio[k] + r[k]);
        x[k] = (floats)((ints)value & ~(ints)(x[k] > limit));
    }
}

/* |r| <= pi/2; the polynomial is off by less than 3e-19 of sin(r). */
LANES_INLINE void sine_block(doubles *x, int abreast)
{
    doubles n[ABREAST], shifted[ABREAST], s[ABREAST], p[ABREAST];
    EACH shifted[k] = x[k] * INVERSE_PI + ROUNDER;
    EACH n[k] = shifted[k] - ROUNDER;
    EACH x[k] = ((x[k] - n[k] * PI_A) - n[k] * PI_B) - n[k] * PI_C;
    EACH s[k] = x[k] * x[k];
    EACH p[k] = s[k] * 0x1.882a69f8902f9p-49 - 0x1.ae4324d2a25cep-41;
    EACH p[k] = p[k] * s[k] + 0x1.6123cb442824fp-33;
    EACH p[k] = p[k] * s[k] - 0x1.ae6454cbc0ae2p-26;
    EACH p[k] = p[k] * s[k] + 0x1.71de3a5288a79p-19;
    EACH p[k] = p[k] * s[k] - 0x1.a01a01a0148dcp-13;
    EACH p[k] = p[k] * s[k] + 0x1.11111111110c1p-7;
    EACH p[k] = p[k] * s[k] - 0x1.5555555555555p-3;
    EACH p[k] = p[k] * s[k] * x[k] + x[k];
    EACH x[k] = (doubles)((words)p[k] ^ ((words)shifted[k] << 63));
}

/* The same, by less than 7e-9. */
LANES_INLINE void sine_block_single(floats *x, int abreast)
{
    floats n[ABREAST], shifted[ABREAST], s[ABREAST], p[ABREAST];
    EACH shifted[k] = x[k] * INVERSE_PI_SINGLE + ROUNDER_SINGLE;
    EACH n[k] = shifted[k] - ROUNDER_SINGLE;
    EACH x[k] = ((x[k] - n[k] * PI_A_SINGLE) - n[k] * PI_B_SINGLE) - n[k] * PI_C_SINGLE;
    EACH s[k] = x[k] * x[k];
    EACH p[k] = s[k] * 0x1.5dbf24p-19F - 0x1.9f7014p-13F;
    EACH p[k] = p[k] * s[k] + 0x1.110ed4p-7F;
    EACH p[k] = p[k] * s[k] - 0x1.55554cp-3F;
    EACH p[k] = p[k] * s[k] * x[k] + x[k];
    EACH x[k] = (floats)((short_words)p[k] ^ ((short_words)shifted[k] << 31));
}

LANES_INLINE void activate_block(broad_activation activation, doubles *x, int abreast)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: sigmoid_block(x, abreast); break;
    case BROAD_ACTIVATION_TANH: tanh_block(x, abreast); break;
    case BROAD_ACTIVATION_RELU: relu_block(x, abreast); break;
    case BROAD_ACTIVATION_SINE: sine_block(x, abreast); break;
    case BROAD_ACTIVATION_GAUSSIAN: gaussian_block(x, abreast); break;
    case BROAD_ACTIVATION_IDENTITY: break;
    }
}

LANES_INLINE void activate_block_single(broad_activation activation, floats *x, int abreast)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: sigmoid_block_single(x, abreast); break;
    case BROAD_ACTIVATION_TANH: tanh_block_single(x, abreast); break;
    case BROAD_ACTIVATION_RELU: relu_block_single(x, abreast); break;
    case BROAD_ACTIVATION_SINE: sine_block_single(x, abreast); break;
    case BROAD_ACTIVATION_GAUSSIAN: gaussian_block_single(x, abreast); break;
    case BROAD_ACTIVATION_IDENTITY: break;
    }
}

/* What does not fill a vector is the end of one that was kept from before the others were written. */
LANES_INLINE void run(broad_activation activation, double *values, size_t count)
{
    if (!count) return;
    size_t vectors = count / DOUBLES, i = 0;
    doubles x[ABREAST], last = vectors ? doubles_load(values + count - DOUBLES) : doubles_load_few(values, count);
    for (; i + ABREAST <= vectors; i += ABREAST) {
        for (int k = 0; k < ABREAST; k++) x[k] = doubles_load(values + (i + (size_t)k) * DOUBLES);
        activate_block(activation, x, ABREAST);
        for (int k = 0; k < ABREAST; k++) doubles_store(values + (i + (size_t)k) * DOUBLES, x[k]);
    }
    for (; i < vectors; i++) {
        x[0] = doubles_load(values + i * DOUBLES);
        activate_block(activation, x, 1);
        doubles_store(values + i * DOUBLES, x[0]);
    }
    if (count % DOUBLES == 0) return;
    activate_block(activation, &last, 1);
    if (vectors) doubles_store(values + count - DOUBLES, last);
    else memcpy(values, &last, count * sizeof(double));
}

LANES_INLINE void run_single(broad_activation activation, float *values, size_t count)
{
    if (!count) return;
    size_t vectors = count / FLOATS, i = 0;
    floats x[ABREAST], last = vectors ? floats_load(values + count - FLOATS) : floats_load_few(values, count);
    for (; i + ABREAST <= vectors; i += ABREAST) {
        for (int k = 0; k < ABREAST; k++) x[k] = floats_load(values + (i + (size_t)k) * FLOATS);
        activate_block_single(activation, x, ABREAST);
        for (int k = 0; k < ABREAST; k++) floats_store(values + (i + (size_t)k) * FLOATS, x[k]);
    }
    for (; i < vectors; i++) {
        x[0] = floats_load(values + i * FLOATS);
        activate_block_single(activation, x, 1);
        floats_store(values + i * FLOATS, x[0]);
    }
    if (count % FLOATS == 0) return;
    activate_block_single(activation, &last, 1);
    if (vectors) floats_store(values + count - FLOATS, last);
    else memcpy(values, &last, count * sizeof(float));
}

/* Each case is a loop of its own, for which the compiler knows the activation. */
LANES_INLINE void run_any(broad_activation activation, double *values, size_t count)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: run(BROAD_ACTIVATION_SIGMOID, values, count); break;
    case BROAD_ACTIVATION_TANH: run(BROAD_ACTIVATION_TANH, values, count); break;
    case BROAD_ACTIVATION_RELU: run(BROAD_ACTIVATION_RELU, values, count); break;
    case BROAD_ACTIVATION_SINE: run(BROAD_ACTIVATION_SINE, values, count); break;
    case BROAD_ACTIVATION_GAUSSIAN: run(BROAD_ACTIVATION_GAUSSIAN, values, count); break;
    case BROAD_ACTIVATION_IDENTITY: break;
    }
}

LANES_INLINE void run_any_single(broad_activation activation, float *values, size_t count)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: run_single(BROAD_ACTIVATION_SIGMOID, values, count); break;
    case BROAD_ACTIVATION_TANH: run_single(BROAD_ACTIVATION_TANH, values, count); break;
    case BROAD_ACTIVATION_RELU: run_single(BROAD_ACTIVATION_RELU, values, count); break;
    case BROAD_ACTIVATION_SINE: run_single(BROAD_ACTIVATION_SINE, values, count); break;
    case BROAD_ACTIVATION_GAUSSIAN: run_single(BROAD_ACTIVATION_GAUSSIAN, values, count); break;
    case BROAD_ACTIVATION_IDENTITY: break;
    }
}

#endif
