/*
 * The function f(x) = 1 / rho + psi(x) + phi(x), psi over the poles up to d_i and phi over those beyond, rises from minus to
 * plus infinity between two poles. A step puts functions s + t / (d_i - x) and u + v / (d_i+1 - x) in the place of psi and
 * phi, which agree with them in value and slope (the middle way), or one of which has the weight of its pole (fixed weight;
 * R.-C. Li, 1993); the root of their sum is the next x. Every value found narrows the interval that holds the root; a step
 * out of it, and every fourth, halves it instead. x is kept as its distance from the nearer pole.
 */
#include "compute/cpu/secular.h"

#include <float.h>
#include <math.h>

enum { STEPS_MAX = 400, PATIENT = 12, LANES = 8 };

typedef struct value {
    double f, slope;
    double psi, psi_slope, phi, phi_slope;
} value;

typedef struct search {
    const broad__secular *s;
    double *gaps;
    size_t i, origin;
    double offset, low, high; /* the root's distance from its origin, and what it lies between */
} search;

/* Sums over [first, end) in LANES parts, of every LANES-th number. */
static void add_up(double *out, double *out_slope, const double *z, const double *gaps, size_t first, size_t end)
{
    double sums[LANES] = {0}, slopes[LANES] = {0};
    size_t j = first;
    for (; j + LANES <= end; j += LANES)
        for (size_t l = 0; l < LANES; l++) {
            double t = z[j + l] / gaps[j + l];
            sums[l] += z[j + l] * t;
            slopes[l] += t * t;
        }
    for (size_t l = 0; j < end; j++, l++) {
        double t = z[j] / gaps[j];
        sums[l] += z[j] * t;
        slopes[l] += t * t;
    }
    *out = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    *out_slope =
        ((slopes[0] + slopes[4]) + (slopes[2] + slopes[6])) + ((slopes[1] + slopes[5]) + (slopes[3] + slopes[7]));
}

static value value_here(const search *q)
{
    value v;
    add_up(&v.psi, &v.psi_slope, q->s->z, q->gaps, 0, q->i + 1);
    add_up(&v.phi, &v.phi_slope, q->s->z, q->gaps, q->i + 1, q->s->count);
    v.f = 1 / q->s->rho + v.psi + v.phi;
    v.slope = v.psi_slope + v.phi_slope;
    return v;
}

void broad__secular_gaps(double *gaps, const broad__secular *s, size_t origin, double offset)
{
    for (size_t j = 0; j < s->count; j++) gaps[j] = (s->d[j] - s->d[origin]) - offset;
}

/* f is as near 0 as its rounding errors let it be. */
static int is_root(const search *q, const value *v)
{
    double sizes = 1 / q->s->rho - v->psi + v->phi, terms = 16 + (double)q->s->count / LANES;
    return fabs(v->f) <= DBL_EPSILON * (terms * sizes + fabs(q->offset) * v->slope);
}

/* The root of c x^2 - a x + b that a step takes. */
static double quadratic_step(double a, double b, double c)
{
    double root = sqrt(fabs(a * a - 4 * b * c));
    return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

/* From f here to the root of what stands for f; beyond the last pole its own pole alone does. */
static double step_between(const search *q, const value *v, int middle)
{
    size_t i = q->i;
    double near = q->gaps[i];
    if (i + 1 == q->s->count) {
        double weight = near * near * v->slope;
        return weight / (v->f - near * v->slope) + near;
    }
    double far = q->gaps[i + 1], c;
    if (middle) c = v->f - near * v->psi_slope - far * v->phi_slope;
    else if (q->origin == i) {
        double t = q->s->z[i] / near;
        c = v->f - far * v->slope - (near - far) * t * t;
    } else {
        double t = q->s->z[i + 1] / far;
        c = v->f - near * v->slope - (far - near) * t * t;
    }
    return quadratic_step((near + far) * v->f - near * far * v->slope, near * far * v->f, c);
}

/* By f at the middle of the interval: which pole is nearer, and a first guess from these two poles and the rest of f there. */
static void begin(search *q)
{
    const broad__secular *s = q->s;
    size_t i = q->i;
    if (i + 1 == s->count) {
        double sum = 0;
        for (size_t j = 0; j < s->count; j++) sum += s->z[j] * s->z[j];
        *q = (search){s, q->gaps, i, i, s->rho * sum / 2, 0, s->rho * sum * (1 + 8 * DBL_EPSILON)};
        return;
    }
    double gap = s->d[i + 1] - s->d[i], left = s->z[i] * s->z[i], right = s->z[i + 1] * s->z[i + 1];
    broad__secular_gaps(q->gaps, s, i, gap / 2);
    value v = value_here(q);
    double rest = v.f - left / q->gaps[i] - right / q->gaps[i + 1];
    q->origin = v.f >= 0 ? i : i + 1;
    if (v.f >= 0) {
        q->low = 0, q->high = gap / 2;
        q->offset = quadratic_step(rest * gap + left + right, left * gap, rest);
    } else {
        q->low = -gap / 2, q->high = 0;
        q->offset = -quadratic_step(left + right - rest * gap, right * gap, -rest);
    }
}

/* f at the offset, which then is an end of the interval; 1 where nothing better is to be had. */
static int look(search *q, value *out)
{
    broad__secular_gaps(q->gaps, q->s, q->origin, q->offset);
    *out = value_here(q);
    if (is_root(q, out)) return 1;
    if (out->f < 0) q->low = q->offset;
    else q->high = q->offset;
    double half = q->low + (q->high - q->low) / 2;
    return !(half > q->low && half < q->high);
}

void broad__secular_root(size_t *out_origin, double *out_offset, double *gaps, const broad__secular *s, size_t i)
{
    search q = {.s = s, .gaps = gaps, .i = i};
    value v = {.f = INFINITY};
    int middle = 0;
    begin(&q);
    for (int step = 0; step < STEPS_MAX; step++) {
        double before = fabs(v.f), half = q.low + (q.high - q.low) / 2;
        int lost = step >= PATIENT && step % 4 == 0;
        if (lost || !(q.offset > q.low && q.offset < q.high)) q.offset = half;
        *out_offset = q.offset;
        if (look(&q, &v)) break;
        if (fabs(v.f) > before / 10) middle = !middle;
        q.offset += step_between(&q, &v, middle);
    }
    *out_origin = q.origin;
}
