/*
 * Every kernel set against a loop over fma(), bit by bit: the chains that compute/cpu/kernels.h promises. What is around the
 * result and between its rows must stay as it was.
 */
#include "problem.h"

#include <float.h>

#include "base/vector.h"
#include "compute/activation.h"
#include "compute/cpu/kernels.h"

static const char *const names[] = {"plain", "avx2", "avx512"};
enum { SETS = sizeof names / sizeof names[0], GUARD = 40 };

static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 16, 17, 23, 24, 25, 31, 33, 100, 101, 129, 257};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* One step of the chain. The plain set rounds each product where the target has no fused step. */
static double step(const broad__kernels *set, double a, double b, double c)
{
#if !defined(__FP_FAST_FMA)
    if (strcmp(set->name, "plain") == 0) {
        volatile double product = a * b;
        return product + c;
    }
#endif
    (void)set;
    return fma(a, b, c);
}

static float step_single(const broad__kernels *set, double a, double b, float c)
{
#if !defined(__FP_FAST_FMAF)
    if (strcmp(set->name, "plain") == 0) {
        volatile float product = (float)a * (float)b;
        return product + c;
    }
#endif
    (void)set;
    return fmaf((float)a, (float)b, c);
}

typedef struct area {
    double *all, *numbers; /* numbers: after a guard, with another guard behind */
    size_t count;
} area;

static area area_of(size_t rows, size_t stride, problem_random *r)
{
    area a = {.count = rows * stride + 2 * GUARD};
    a.all = problem_normals(a.count, r);
    a.numbers = a.all + GUARD;
    return a;
}

static area area_copy(const area *from)
{
    area a = {.count = from->count, .all = malloc(from->count * sizeof(double))};
    memcpy(a.all, from->all, from->count * sizeof(double));
    a.numbers = a.all + GUARD;
    return a;
}

static void assert_same(const area *a, const area *b, const char *what, const char *set, size_t n, size_t p, size_t c)
{
    for (size_t i = 0; i < a->count; i++)
        if (memcmp(a->all + i, b->all + i, sizeof(double)) != 0 && !(isnan(a->all[i]) && isnan(b->all[i])))
            fail_msg("%s of %s, rows %zu, p %zu, c %zu: number %zu is %a, not %a", what, set, n, p, c, i - GUARD,
                     a->all[i], b->all[i]);
}

typedef struct operands {
    size_t n, p, c, pad;
    double *k, *e, *w, *bias; /* n x (p + pad), n x (c + pad), p x (c + pad), c */
} operands;

static operands operands_of(size_t n, size_t p, size_t c, size_t pad, problem_random *r)
{
    return (operands){n,
                      p,
                      c,
                      pad,
                      problem_normals(n * (p + pad) + 1, r),
                      problem_normals(n * (c + pad) + 1, r),
                      problem_normals(p * (c + pad) + 1, r),
                      problem_normals(c + 1, r)};
}

static void operands_free(operands *o) { free(o->k), free(o->e), free(o->w), free(o->bias); }

static void plain_nodes(area *out, const broad__kernels *set, const operands *o, broad_activation activation)
{
    for (size_t i = 0; i < o->n; i++) {
        double *row = out->numbers + i * (o->c + o->pad);
        for (size_t j = 0; j < o->c; j++) {
            row[j] = o->bias[j];
            for (size_t k = 0; k < o->p; k++)
                row[j] = step(set, o->k[i * (o->p + o->pad) + k], o->w[k * o->c + j], row[j]);
        }
        broad__activate(activation, row, o->c);
    }
}

static void check_nodes(const broad__kernels *set, const operands *o, broad_activation activation, problem_random *r)
{
    area out = area_of(o->n, o->c + o->pad, r), plain = area_copy(&out), cut = area_copy(&out);
    area packed_out = area_copy(&out);
    /* Numbers to bring near, fewer and more than there are steps, change nothing. */
    broad__soon soon[BROAD__SOON] = {{o->e, o->n * o->c / 3}, {o->k, o->n * o->p}};
    broad__nodes nodes = {o->p, o->c, o->w, o->bias, activation, 0, o->n % 2 ? soon : NULL, NULL, {0}};
    set->nodes(out.numbers, o->c + o->pad, &nodes, o->k, o->p + o->pad, o->n);
    plain_nodes(&plain, set, o, activation);
    assert_same(&out, &plain, "nodes", set->name, o->n, o->p, o->c);
    for (size_t i = 0, n = 1; i < o->n; i += n, n = n % 13 + 1) {
        n = n < o->n - i ? n : o->n - i;
        set->nodes(cut.numbers + i * (o->c + o->pad), o->c + o->pad, &nodes, o->k + i * (o->p + o->pad), o->p + o->pad,
                   n);
    }
    assert_same(&cut, &plain, "nodes in pieces", set->name, o->n, o->p, o->c);
    double packed[BROAD__PACKED] __attribute__((aligned(64)));
    if (set->pack && set->pack(packed, &nodes)) {
        nodes.packed = packed;
        set->nodes(packed_out.numbers, o->c + o->pad, &nodes, o->k, o->p + o->pad, o->n);
        assert_same(&packed_out, &plain, "nodes, packed", set->name, o->n, o->p, o->c);
    }
    free(out.all), free(plain.all), free(cut.all), free(packed_out.all);
}

static void check_apply(const broad__kernels *set, const operands *o, double sign, problem_random *r)
{
    size_t stride = o->c + o->pad, k_stride = o->p + o->pad;
    area out = area_of(o->n, stride, r), plain = area_copy(&out), cut = area_copy(&out), ahead = area_copy(&out);
    set->apply(out.numbers, stride, sign, o->k, k_stride, o->n, o->w, stride, o->p, o->c);
    for (size_t i = 0; i < o->n; i++)
        for (size_t j = 0; j < o->c; j++)
            for (size_t k = 0; k < o->p; k++)
                plain.numbers[i * stride + j] =
                    step(set, o->k[i * k_stride + k], sign * o->w[k * stride + j], plain.numbers[i * stride + j]);
    assert_same(&out, &plain, "apply", set->name, o->n, o->p, o->c);
    for (size_t i = 0, n = 1; i < o->n; i += n, n = n % 13 + 1) {
        n = n < o->n - i ? n : o->n - i;
        set->apply(cut.numbers + i * stride, stride, sign, o->k + i * k_stride, k_stride, n, o->w, stride, o->p, o->c);
    }
    assert_same(&cut, &plain, "apply in pieces", set->name, o->n, o->p, o->c);
    /* What is to be brought near, none or some of it, changes nothing. */
    broad__ahead soon[2] = {{o->e, stride, o->n, o->c}, {o->k, k_stride, o->n % 3 ? o->n : 0, o->p}};
    if (sign == 1.0 && set->apply_ahead) {
        set->apply_ahead(ahead.numbers, stride, o->k, k_stride, o->n, o->w, stride, o->p, o->c, soon);
        assert_same(&ahead, &plain, "apply_ahead", set->name, o->n, o->p, o->c);
    }
    free(out.all), free(plain.all), free(cut.all), free(ahead.all);
}

static void check_cross(const broad__kernels *set, const operands *o, problem_random *r)
{
    size_t stride = o->c + o->pad, k_stride = o->p + o->pad;
    area out = area_of(o->p, stride, r), plain = area_copy(&out), cut = area_copy(&out);
    set->cross(out.numbers, stride, o->k, k_stride, o->p, o->e, stride, o->c, o->n);
    for (size_t i = 0; i < o->n; i++)
        for (size_t a = 0; a < o->p; a++)
            for (size_t j = 0; j < o->c; j++)
                plain.numbers[a * stride + j] =
                    step(set, o->k[i * k_stride + a], o->e[i * stride + j], plain.numbers[a * stride + j]);
    assert_same(&out, &plain, "cross", set->name, o->n, o->p, o->c);
    for (size_t i = 0, n = 1; i < o->n; i += n, n = n % 13 + 1) {
        n = n < o->n - i ? n : o->n - i;
        set->cross(cut.numbers, stride, o->k + i * k_stride, k_stride, o->p, o->e + i * stride, stride, o->c, n);
    }
    assert_same(&cut, &plain, "cross in pieces", set->name, o->n, o->p, o->c);
    free(out.all), free(plain.all), free(cut.all);
}

static void check_gram(const broad__kernels *set, const operands *o, problem_random *r)
{
    size_t stride = o->p + o->pad;
    area out = area_of(o->p, stride, r), plain = area_copy(&out), cut = area_copy(&out);
    set->gram(out.numbers, stride, o->k, stride, o->n, o->p);
    for (size_t i = 0; i < o->n; i++)
        for (size_t a = 0; a < o->p; a++)
            for (size_t b = a; b < o->p; b++)
                plain.numbers[a * stride + b] =
                    step(set, o->k[i * stride + a], o->k[i * stride + b], plain.numbers[a * stride + b]);
    assert_same(&out, &plain, "gram", set->name, o->n, o->p, o->c);
    for (size_t i = 0, n = 1; i < o->n; i += n, n = n % 13 + 1) {
        n = n < o->n - i ? n : o->n - i;
        set->gram(cut.numbers, stride, o->k + i * stride, stride, n, o->p);
    }
    assert_same(&cut, &plain, "gram in pieces", set->name, o->n, o->p, o->c);
    free(out.all), free(plain.all), free(cut.all);
}

static void check_nodes_single(const broad__kernels *set, const operands *o, broad_activation activation,
                               problem_random *r)
{
    size_t stride = o->c + o->pad, k_stride = o->p + o->pad;
    area out = area_of(o->n, stride, r), plain = area_copy(&out), cut = area_copy(&out);
    broad__nodes nodes = {o->p, o->c, o->w, o->bias, activation, 1, NULL, NULL, {0}};
    set->single->nodes(out.numbers, stride, &nodes, o->k, k_stride, o->n);
    for (size_t i = 0; i < o->n; i++)
        for (size_t j = 0; j < o->c; j++) {
            float sum = (float)o->bias[j];
            for (size_t k = 0; k < o->p; k++) sum = step_single(set, o->k[i * k_stride + k], o->w[k * o->c + j], sum);
            broad__activate_single(activation, &sum, 1);
            plain.numbers[i * stride + j] = (double)sum;
        }
    assert_same(&out, &plain, "nodes in single", set->name, o->n, o->p, o->c);
    for (size_t i = 0, n = 1; i < o->n; i += n, n = n % 13 + 1) {
        n = n < o->n - i ? n : o->n - i;
        set->single->nodes(cut.numbers + i * stride, stride, &nodes, o->k + i * k_stride, k_stride, n);
    }
    assert_same(&cut, &plain, "nodes in single in pieces", set->name, o->n, o->p, o->c);
    free(out.all), free(plain.all), free(cut.all);
}

/* ---- products of any layout, triangles, symmetric matrices ------------------------------------------------------- */

/* rows x columns numbers, by rows or by columns, with a few between them. */
static broad__operand operand_of(size_t rows, size_t columns, int by_columns, problem_random *r)
{
    size_t row = by_columns ? 1 : columns + 3, column = by_columns ? rows + 2 : 1;
    return (broad__operand){problem_normals((rows + 2) * (columns + 3), r), row, column};
}

static double number(broad__operand x, size_t i, size_t j) { return x.at[i * x.row + j * x.column]; }

static void check_product(const broad__kernels *set, size_t n, size_t c, size_t depth, int layout, problem_random *r)
{
    double sign = layout & 4 ? -1 : 1;
    broad__operand a = operand_of(n, depth, layout & 1, r), b = operand_of(depth, c, layout & 2, r);
    area out = area_of(n, c + 1, r), plain = area_copy(&out);
    set->product(out.numbers, c + 1, sign, a, b, n, c, depth);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < c; j++)
            for (size_t k = 0; k < depth; k++) {
                double *sum = plain.numbers + i * (c + 1) + j;
                *sum = step(set, sign * number(a, i, k), number(b, k, j), *sum);
            }
    assert_same(&out, &plain, "product", set->name, n, depth, c);
    free(out.all), free(plain.all), free((void *)a.at), free((void *)b.at);
}

static void products(void **state)
{
    (void)state;
    static const size_t tried[][3] = {{1, 1, 1},     {8, 24, 5},     {9, 25, 7},    {7, 23, 1},  {4, 12, 255},
                                      {5, 13, 256},  {17, 49, 257},  {3, 100, 300}, {100, 3, 2}, {191, 30, 33},
                                      {192, 24, 64}, {193, 47, 513}, {200, 50, 20}, {385, 5, 9}, {2, 2, 700}};
    problem_random r = {14};
    for (size_t s = 0; s < SETS; s++)
        for (size_t t = 0; t < sizeof tried / sizeof tried[0]; t++)
            for (int layout = 0; layout < 8 && broad__kernels_named(names[s]); layout++)
                check_product(broad__kernels_named(names[s]), tried[t][0], tried[t][1], tried[t][2], layout, &r);
}

/* By rows in the order that substitute promises: from the first on, or from the last. */
static void plain_substitute(double *x, size_t stride, size_t c, const broad__kernels *set, broad__operand l, size_t n,
                             int backward)
{
    for (size_t row = 0; row < n; row++)
        for (size_t j = 0; j < c; j++) {
            size_t i = backward ? n - 1 - row : row;
            double sum = x[i * stride + j];
            for (size_t k = 0; k < row; k++) {
                size_t at = backward ? n - 1 - k : k;
                sum = step(set, -number(l, i, at), x[at * stride + j], sum);
            }
            x[i * stride + j] = sum / number(l, i, i);
        }
}

static void check_substitute(const broad__kernels *set, size_t n, size_t c, int layout, problem_random *r)
{
    broad__operand l = operand_of(n, n, layout & 1, r);
    area out = area_of(n, c + 2, r), plain = area_copy(&out);
    for (size_t i = 0; i < n; i++) ((double *)l.at)[i * l.row + i * l.column] += (double)n;
    set->substitute((broad__target){out.numbers, c + 2, 1}, c, l, n, layout & 2);
    plain_substitute(plain.numbers, c + 2, c, set, l, n, layout & 2);
    assert_same(&out, &plain, "substitute", set->name, n, n, c);
    free(out.all), free(plain.all), free((void *)l.at);
}

static void check_factor(const broad__kernels *set, size_t n, problem_random *r)
{
    area a = area_of(n, n + 1, r), plain;
    size_t stride = n + 1;
    for (size_t i = 0; i < n; i++) a.numbers[i * stride + i] = 2 * (double)n;
    plain = area_copy(&a);
    assert_int_equal(set->factor(a.numbers, stride, n), 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            double *numbers = plain.numbers, sum = numbers[i * stride + j];
            for (size_t k = 0; k < i; k++) sum = step(set, -numbers[k * stride + i], numbers[k * stride + j], sum);
            numbers[i * stride + j] = j == i ? sqrt(sum) : sum / numbers[i * stride + i];
        }
    assert_same(&a, &plain, "factor", set->name, n, n, n);
    free(a.all), free(plain.all);
}

/* Eight sums for each row from its block of four on, so the result is compared with plain sums by size. */
static void check_symmetric(const broad__kernels *set, size_t n, problem_random *r)
{
    double *a = problem_normals(n * (n + 1), r), *v = problem_normals(n, r);
    area y = area_of(1, n, r), plain = area_copy(&y);
    set->symmetric(y.numbers, a, n + 1, v, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) plain.numbers[i] += a[(i < j ? i : j) * (n + 1) + (i < j ? j : i)] * v[j];
    for (size_t i = 0; i < y.count; i++)
        if (!(fabs(y.all[i] - plain.all[i]) <= 1e-14 * (double)n))
            fail_msg("symmetric of %s, n %zu: number %zu is %a, not %a", set->name, n, i - GUARD, y.all[i],
                     plain.all[i]);
    free(a), free(v), free(y.all), free(plain.all);
}

/* The change is that of plain loops, and the product that of the changed matrix to the last bit. */
static void check_symmetric_changed(const broad__kernels *set, size_t n, problem_random *r)
{
    double *left = problem_normals(n, r), *right = problem_normals(n, r), *v = problem_normals(n, r);
    area a = area_of(n, n, r), before = area_copy(&a), y = area_of(1, n, r), again = area_copy(&y);
    set->symmetric_changed(y.numbers, a.numbers, n, v, left, right, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double *number = before.numbers + i * n + j;
            if (j >= i) *number -= left[i] * right[j] + right[i] * left[j];
            if (!(fabs(*number - a.numbers[i * n + j]) <= 1e-14))
                fail_msg("symmetric_changed of %s, n %zu", set->name, n);
            *number = a.numbers[i * n + j];
        }
    set->symmetric(again.numbers, a.numbers, n, v, n);
    assert_same(&a, &before, "symmetric_changed: a", set->name, n, n, n); /* and nothing around it */
    assert_same(&y, &again, "symmetric_changed: y", set->name, 1, n, n);
    free(left), free(right), free(v), free(a.all), free(before.all), free(y.all), free(again.all);
}

static void triangles(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 48, 49, 63, 64};
    problem_random r = {15};
    for (size_t s = 0; s < SETS; s++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0] && broad__kernels_named(names[s]); w++) {
            const broad__kernels *set = broad__kernels_named(names[s]);
            check_factor(set, widths[w], &r);
            check_symmetric(set, widths[w], &r);
            check_symmetric(set, 5 * widths[w] + 1, &r);
            check_symmetric_changed(set, widths[w], &r);
            for (int layout = 0; layout < 4; layout++) check_substitute(set, widths[w], 1 + 7 * w % 30, layout, &r);
        }
}

/* What predicts where nothing is fused: two functions, and the steps of the others. */
static void check_exact(const operands *o, problem_random *r)
{
    const broad__kernels *exact = broad__kernels_named("exact");
    check_nodes(exact, o, BROAD_ACTIVATION_IDENTITY, r);
    check_apply(exact, o, -1.0, r);
    check_apply(exact, o, 1.0, r);
}

static void check_all(const operands *o, problem_random *r)
{
    for (size_t s = 0; s < SETS; s++) {
        const broad__kernels *set = broad__kernels_named(names[s]);
        if (!set) continue;
        check_nodes(set, o, BROAD_ACTIVATION_SIGMOID, r);
        check_apply(set, o, -1.0, r);
        check_apply(set, o, 1.0, r);
        check_cross(set, o, r);
        check_gram(set, o, r);
        check_nodes_single(set, o, BROAD_ACTIVATION_TANH, r);
    }
    check_exact(o, r);
}

/* Each of the sizes in each of the three places, the others at random. */
static void shapes(void **state)
{
    (void)state;
    problem_random r = {11};
    for (size_t s = 0; s < 3 * SIZES; s++) {
        size_t size[3];
        for (size_t i = 0; i < 3; i++) size[i] = sizes[(size_t)(problem_uniform(&r) * SIZES)];
        size[s % 3] = sizes[s / 3];
        operands o = operands_of(size[0], size[1], size[2], s % 4 * (s % 3), &r);
        check_all(&o, &r);
        operands_free(&o);
    }
}

/* Those of a layer: many steps, few outputs. */
static void shapes_of_layers(void **state)
{
    (void)state;
    problem_random r = {12};
    static const size_t layers[][4] = {{256, 100, 100, 0}, {255, 100, 90, 0}, {256, 784, 20, 0},
                                       {64, 100, 10, 1},   {256, 200, 2, 0},  {1, 1000, 100, 0},
                                       {3, 300, 70, 0},    {600, 24, 16, 0},  {7, 64, 64, 0}};
    for (size_t s = 0; s < sizeof layers / sizeof layers[0]; s++) {
        operands o = operands_of(layers[s][0], layers[s][1], layers[s][2], layers[s][3], &r);
        check_all(&o, &r);
        operands_free(&o);
    }
}

static void not_numbers(void **state)
{
    (void)state;
    problem_random r = {13};
    for (size_t s = 0; s < 20; s++) {
        operands o = operands_of(5 + s, 30 - s, 3 + 2 * s, s % 3, &r);
        o.k[(size_t)(problem_uniform(&r) * (double)(o.n * (o.p + o.pad)))] = s % 2 ? NAN : INFINITY;
        o.e[(size_t)(problem_uniform(&r) * (double)(o.n * (o.c + o.pad)))] = s % 3 ? -INFINITY : NAN;
        o.w[(size_t)(problem_uniform(&r) * (double)(o.p * (o.c + o.pad)))] = s % 5 ? INFINITY : NAN;
        check_all(&o, &r);
        operands_free(&o);
    }
}

/* Any sign, exponent and digits; often few digits, or a neighbour of a power of two, so that sums are halfway between two numbers. */
static double any_number(problem_random *r, int centre, int spread)
{
    double digits = 1 + problem_uniform(r), kind = problem_uniform(r);
    if (kind < 0.1) return problem_uniform(r) < 0.5 ? 0.0 : -0.0;
    if (kind < 0.4) digits = 1 + floor(8 * problem_uniform(r)) / 8;
    else if (kind < 0.6) digits = 1 + floor(4 * problem_uniform(r)) * DBL_EPSILON;
    int exponent = centre + (int)((problem_uniform(r) - 0.5) * 2 * spread);
    return copysign(ldexp(digits, exponent), problem_uniform(r) - 0.5);
}

/* Steps that cancel, vanish, overflow or are halfway between two numbers, rounded once, as fma() does. */
static void every_size_of_number(void **state)
{
    (void)state;
    static const int centres[] = {0, 0, 0, 0, 0, 0, 0, -500, 480, -430},
                     spreads[] = {1, 3, 30, 60, 120, 500, 1074, 25, 25, 8};
    enum { RANGES = sizeof spreads / sizeof spreads[0] };
    size_t rounds = HELPER_SANITIZED ? 3 * RANGES : 30 * RANGES;
    problem_random r = {16};
    for (size_t round = 0; round < rounds; round++) {
        int centre = centres[round % RANGES], spread = spreads[round % RANGES];
        operands o = operands_of(6, 1 + round % 3, 11, round % 2, &r);
        for (size_t i = 0; i < o.n * (o.p + o.pad); i++) o.k[i] = any_number(&r, centre, spread);
        for (size_t i = 0; i < o.p * (o.c + o.pad); i++) o.w[i] = any_number(&r, centre, spread);
        for (size_t i = 0; i < o.c; i++) o.bias[i] = any_number(&r, 2 * centre, spread);
        check_exact(&o, &r);
        operands_free(&o);
    }
}

static void sets(void **state)
{
    (void)state;
    assert_non_null(broad__kernels_named("plain"));
    assert_null(broad__kernels_named("sse9"));
    assert_null(broad__kernels_named(""));
    assert_ptr_equal(broad__kernels_named(broad__kernels_used()->name), broad__kernels_used());
    const char *wanted = getenv("BROAD_KERNELS");
    if (wanted && broad__kernels_named(wanted)) assert_string_equal(broad__kernels_used()->name, wanted);
    int computed = strcmp(broad__kernels_predicting()->name, "exact") == 0;
    assert_int_equal(computed, strcmp(broad__kernels_used()->name, "plain") == 0 && !broad__fused());
    for (size_t s = 0; s < SETS; s++)
        print_message("%s: %s\n", names[s], broad__kernels_named(names[s]) ? "held" : "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets),
        cmocka_unit_test(shapes),
        cmocka_unit_test(shapes_of_layers),
        cmocka_unit_test(not_numbers),
        cmocka_unit_test(products),
        cmocka_unit_test(triangles),
        cmocka_unit_test(every_size_of_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
