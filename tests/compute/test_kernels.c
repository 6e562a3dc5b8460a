/*
 * Every kernel set against a loop over fma(), bit by bit: the chains that compute/cpu/kernels.h promises. What is around the
 * result and between its rows must stay as it was.
 */
#include "problem.h"

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
    broad__nodes nodes = {o->p, o->c, o->w, o->bias, activation, 0};
    set->nodes(out.numbers, o->c + o->pad, &nodes, o->k, o->p + o->pad, o->n);
    plain_nodes(&plain, set, o, activation);
    assert_same(&out, &plain, "nodes", set->name, o->n, o->p, o->c);
    for (size_t i = 0, n = 1; i < o->n; i += n, n = n % 13 + 1) {
        n = n < o->n - i ? n : o->n - i;
        set->nodes(cut.numbers + i * (o->c + o->pad), o->c + o->pad, &nodes, o->k + i * (o->p + o->pad), o->p + o->pad,
                   n);
    }
    assert_same(&cut, &plain, "nodes in pieces", set->name, o->n, o->p, o->c);
    free(out.all), free(plain.all), free(cut.all);
}

static void check_apply(const broad__kernels *set, const operands *o, double sign, problem_random *r)
{
    size_t stride = o->c + o->pad, k_stride = o->p + o->pad;
    area out = area_of(o->n, stride, r), plain = area_copy(&out), cut = area_copy(&out);
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
    free(out.all), free(plain.all), free(cut.all);
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
    broad__nodes nodes = {o->p, o->c, o->w, o->bias, activation, 1};
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

static void check_gram_single(const broad__kernels *set, const operands *o, problem_random *r)
{
    size_t stride = o->p + o->pad, part = BROAD__SINGLE_ROWS;
    area out = area_of(o->p, stride, r), plain = area_copy(&out), cut = area_copy(&out);
    for (size_t i = 0; i < o->n * stride; i++) o->k[i] = (double)(float)o->k[i];
    set->single->gram(out.numbers, stride, o->k, stride, o->n, o->p);
    for (size_t first = 0; first < o->n; first += part)
        for (size_t a = 0; a < o->p; a++)
            for (size_t b = a; b < o->p; b++) {
                float sum = 0;
                for (size_t i = first; i < o->n && i < first + part; i++)
                    sum = step_single(set, o->k[i * stride + a], o->k[i * stride + b], sum);
                plain.numbers[a * stride + b] += (double)sum;
            }
    assert_same(&out, &plain, "gram in single", set->name, o->n, o->p, o->c);
    for (size_t i = 0, n = part; i < o->n; i += n, n = n == part ? 2 * part : part) {
        n = n < o->n - i ? n : o->n - i;
        set->single->gram(cut.numbers, stride, o->k + i * stride, stride, n, o->p);
    }
    assert_same(&cut, &plain, "gram in single in pieces", set->name, o->n, o->p, o->c);
    free(out.all), free(plain.all), free(cut.all);
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
        check_gram_single(set, o, r);
    }
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
    static const size_t layers[][4] = {{256, 100, 100, 0}, {256, 784, 20, 0}, {64, 100, 10, 1}, {256, 200, 2, 0},
                                       {1, 1000, 100, 0},  {3, 300, 70, 0},   {600, 24, 16, 0}, {7, 64, 64, 0}};
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

static void sets(void **state)
{
    (void)state;
    assert_non_null(broad__kernels_named("plain"));
    assert_null(broad__kernels_named("sse9"));
    assert_null(broad__kernels_named(""));
    assert_ptr_equal(broad__kernels_named(broad__kernels_used()->name), broad__kernels_used());
    const char *wanted = getenv("BROAD_KERNELS");
    if (wanted && broad__kernels_named(wanted)) assert_string_equal(broad__kernels_used()->name, wanted);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
