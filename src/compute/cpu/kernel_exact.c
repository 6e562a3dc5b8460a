/*
 * nodes and apply for processors without fused multiply-add, with the bits of those that have it. Each step a b + c is rounded once:
 *
 *   p + e = a b                exactly, by products of halves of the digits (Dekker)
 *   s + t = p + c              exactly (Knuth)
 *   a b + c = s + (t + e)      where t + e is rounded to odd: rounding the whole to nearest then rounds as if once, since t + e is either
 *                              exact (p and c cancel, t is 0) or so small that its last digit lies far below those of s
 *
 * (after Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd, 2008). Numbers that
 * would overflow or lose digits on that way are left to fma() of the C library. Some ten times slower than rounding twice.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "compute/activation.h"
#include "compute/cpu/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* LANES numbers in a vector, WIDE vectors at a time; SPLIT leaves half of the digits. Products of safe factors have all their digits. */
enum { LANES = 2, WIDE = 4, STEP = LANES * WIDE };
#define SPLIT 134217729.0
#define SAFE_MOST 0x1p440
#define SAFE_LEAST 0x1p-440

typedef double pair __attribute__((vector_size(LANES * sizeof(double))));
typedef uint64_t words __attribute__((vector_size(LANES * sizeof(uint64_t))));

INLINE pair pair_of(double value) { return (pair){value, value}; }

/* a + b, and what it lacks. */
INLINE pair sum_of(pair *lacks, pair a, pair b)
{
    pair sum = a + b, other = sum - a;
    *lacks = (a - (sum - other)) + (b - other);
    return sum;
}

/* a + b: where that is not exact, the neighbour whose last digit is 1. */
INLINE pair sum_odd(pair a, pair b)
{
    pair lacks, sum = sum_of(&lacks, a, b);
    words away = ((words)sum ^ (words)lacks) >> 63; /* 1: it is too far from 0 */
    words even = ((words)sum & 1) - 1;              /* all ones where it is even */
    return (pair)((words)sum + ((1 - 2 * away) & even & (words)(lacks != 0)));
}

INLINE pair high_of(pair a)
{
    pair t = a * SPLIT;
    return t - (t - a);
}

/* a b + c, rounded once, for safe factors and a sum that is not -0. */
INLINE pair fused(pair a, pair b, pair c)
{
    pair a_high = high_of(a), a_low = a - a_high, b_high = high_of(b), b_low = b - b_high, rest;
    pair product = a * b;
    pair lacks = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    pair sum = sum_of(&rest, product, c);
    return sum + sum_odd(rest, lacks);
}

INLINE pair fused_any(pair a, pair b, pair c) { return (pair){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])}; }

static int all_safe(const double *x, size_t count)
{
    int safe = 1;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(x[i]);
        safe &= (size <= SAFE_MOST) & ((size >= SAFE_LEAST) | (size == 0));
    }
    return safe;
}

/* Of what sums start at; they become -0 only by adding to that. */
static int all_safe_starts(const double *x, size_t count)
{
    int safe = 1;
    for (size_t i = 0; i < count; i++) safe &= (fabs(x[i]) <= SAFE_MOST) & !((x[i] == 0) & !!signbit(x[i]));
    return safe;
}

INLINE pair pair_load(const double *p, size_t count)
{
    pair v = {0};
    memcpy(&v, p, count * sizeof(double));
    return v;
}

/* out (one row, at most STEP columns) += a b over `depth` steps, from `start` on. */
INLINE void chains(double *out, const double *start, double sign, const double *a, const double *b, size_t b_stride,
                   size_t depth, size_t columns, const size_t vectors, const int safe)
{
    pair sums[WIDE];
    size_t last = columns - (vectors - 1) * LANES;
    for (size_t v = 0; v < vectors; v++) sums[v] = pair_load(start + v * LANES, v + 1 < vectors ? LANES : last);
    for (size_t k = 0; k < depth; k++, b += b_stride)
        for (size_t v = 0; v < vectors; v++) {
            pair weight = pair_load(b + v * LANES, v + 1 < vectors ? LANES : last);
            sums[v] = (safe ? fused : fused_any)(pair_of(a[k]), sign * weight, sums[v]);
        }
    for (size_t v = 0; v < vectors; v++)
        memcpy(out + v * LANES, &sums[v], (v + 1 < vectors ? LANES : last) * sizeof(double));
}

/* One row. safe: all of b. */
static void chains_any(double *out, const double *start, double sign, const double *a, const double *b, size_t b_stride,
                       size_t depth, size_t columns, int safe)
{
    safe = safe && all_safe(a, depth) && all_safe_starts(start, columns);
    for (size_t j = 0; j < columns; j += STEP) {
        size_t wide = columns - j < STEP ? columns - j : STEP, vectors = (wide + LANES - 1) / LANES;
        if (!safe) chains(out + j, start + j, sign, a, b + j, b_stride, depth, wide, vectors, 0);
        else if (wide == STEP) chains(out + j, start + j, sign, a, b + j, b_stride, depth, STEP, WIDE, 1);
        else chains(out + j, start + j, sign, a, b + j, b_stride, depth, wide, vectors, 1);
    }
}

static void exact_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                        size_t rows)
{
    int safe = all_safe(nodes->weight, nodes->inputs * nodes->nodes);
    for (size_t i = 0; i < rows; i++, out += out_stride, x += x_stride) {
        chains_any(out, nodes->bias, 1.0, x, nodes->weight, nodes->nodes, nodes->inputs, nodes->nodes, safe);
        broad__activate(nodes->activation, out, nodes->nodes);
    }
}

static void exact_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                        const double *w, size_t w_stride, size_t p, size_t c)
{
    int safe = 1;
    for (size_t i = 0; i < p; i++) safe &= all_safe(w + i * w_stride, c);
    for (size_t i = 0; i < rows; i++, out += out_stride, k += k_stride)
        chains_any(out, out, sign, k, w, w_stride, p, c, safe);
}

const broad__kernels broad__kernels_exact = {
    .name = "exact",
    .nodes = exact_nodes,
    .apply = exact_apply,
    .single = &broad__kernels_single_plain,
};
