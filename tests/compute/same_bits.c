/*
 * Prints a hash for every piece of what the parts of the library that promise the same bits everywhere compute: activations,
 * drawn weights, and, with the argument "kernels", the products of the layer pass and
 * dense algebra. test_same_bits.py builds it for several
 * processors and compares what they print. What is no number counts as one value: its sign and payload are the processor's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/activation.h"
#include "compute/cpu/kernels.h"
#include "compute/device.h"
#include "rng/draw.h"

enum { PIECE = 4096 };

static uint64_t hash_bits(uint64_t hash, uint64_t bits)
{
    for (int i = 0; i < 8; i++, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 0x100000001b3u;
    return hash;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    if (isnan(value)) value = 12345;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void show(const char *what, size_t a, size_t b, const double *values, size_t count)
{
    for (size_t first = 0; first < count; first += PIECE) {
        uint64_t hash = 0xcbf29ce484222325u;
        for (size_t i = first; i < count && i < first + PIECE; i++) hash = hash_bits(hash, bits_of(values[i]));
        printf("%s %zu %zu from %zu: %016llx\n", what, a, b, first, (unsigned long long)hash);
    }
}

/* Special values, then bit patterns spread over everything a number can be, then what nodes usually see. */
static double sweep(size_t i)
{
    static const double special[] = {0,
                                     -0.0,
                                     5e-324,
                                     1e-310,
                                     2.2250738585072014e-308,
                                     1.1754943508222875e-38,
                                     1e-40,
                                     0.5,
                                     708,
                                     709,
                                     20,
                                     87,
                                     88.5,
                                     1e6,
                                     1000,
                                     1e300,
                                     1.7976931348623157e308,
                                     INFINITY,
                                     3.14159,
                                     NAN};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    if (i < 2 * SPECIAL) return i % 2 ? -special[i / 2] : special[i / 2];
    if (i % 4 == 0) {
        uint64_t bits = (uint64_t)i * 0x9E3779B97F4A7C15u;
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    double spread = (double)((uint64_t)i * 2654435761u % 1000003u) / 1000003.0 - 0.5;
    return spread * (i % 4 == 1 ? 2.0 : i % 4 == 2 ? 20.0 : 2000.0);
}

static void show_activations(void)
{
    enum { COUNT = 40 * PIECE + 5 };
    static double values[COUNT];
    static float singles[COUNT];
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_IDENTITY; activation++) {
        for (size_t i = 0; i < COUNT; i++) values[i] = sweep(i);
        broad__activate((broad_activation)activation, values, COUNT);
        show("activation", (size_t)activation, 0, values, COUNT);
        for (size_t i = 0; i < COUNT; i++) singles[i] = (float)sweep(i);
        broad__activate_single((broad_activation)activation, singles, COUNT);
        for (size_t i = 0; i < COUNT; i++) values[i] = (double)singles[i];
        show("single activation", (size_t)activation, 0, values, COUNT);
    }
}

static void show_draws(void)
{
    static const size_t shapes[][2] = {{1, 1}, {7, 10}, {100, 100}, {255, 9}, {256, 8}, {784, 10}, {3001, 10}};
    static double weight[3001 * 10], bias[100];
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int unit = 0; unit < 2; unit++) {
            size_t inputs = shapes[s][0], nodes = shapes[s][1];
            broad__stream stream = {0x123456789abcdefu + s, BROAD__FOR_ENHANCEMENT, (uint32_t)s, 3, 4};
            broad__draw_nodes(weight, bias, &(broad__draw){stream, inputs, nodes, 0.7, (broad_range_unit)unit});
            show("weights", inputs, nodes, weight, inputs * nodes);
            show("biases", inputs, nodes, bias, nodes);
        }
}

static double *draw(uint32_t purpose, size_t count)
{
    double *values = malloc(count * sizeof(double));
    if (!values) exit(1);
    broad__stream stream = {99, BROAD__FOR_FEATURES, purpose, 0, 0};
    broad__random_fill(values, &stream, 0, count);
    for (size_t i = 0; i < count; i++) values[i] = 2 * values[i] - 1;
    return values;
}

static void show_products(const broad__kernels *kernels, size_t rows, size_t p, size_t c)
{
    double *k = draw(1, rows * p), *e = draw(2, rows * c), *w = draw(3, p * c), *bias = draw(4, c);
    double *gram = calloc(p * p, sizeof(double)), *cross = calloc(p * c, sizeof(double));
    double *out = calloc(rows * c, sizeof(double));
    if (!gram || !cross || !out) exit(1);
    for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_IDENTITY; activation++) {
        broad__nodes nodes = {p, c, w, bias, (broad_activation)activation, 0, NULL, NULL, {0}};
        kernels->nodes(out, c, &nodes, k, p, rows);
        show("nodes", rows, p, out, rows * c);
        nodes.single = 1;
        kernels->single->nodes(out, c, &nodes, k, p, rows);
        show("single nodes", rows, p, out, rows * c);
    }
    kernels->gram(gram, p, k, p, rows, p);
    kernels->cross(cross, c, k, p, p, e, c, c, rows);
    kernels->apply(e, c, -1.0, k, p, rows, w, c, p, c);
    show("gram", rows, p, gram, p * p);
    show("cross", rows, p, cross, p * c);
    show("apply", rows, p, e, rows * c);
    free(k), free(e), free(w), free(bias), free(gram), free(cross), free(out);
}

/* Factor, solution, update, inverse and eigendecomposition of a square. */
static void show_algebra(size_t n)
{
    const broad__device *cpu = broad__device_cpu_uncounted();
    double *k = draw(5, n * n), *b = draw(6, n * n), *a = calloc(n * n, sizeof(double)),
           *values = calloc(n, sizeof(double));
    if (!a || !values) exit(1);
    for (size_t i = 0; i < n; i++) a[i * n + i] = 1;
    cpu->outer(a, n, k, n, n, k, n, n, n);
    show("outer", n, n, a, n * n);
    memcpy(b, a, n * n * sizeof(double));
    if (cpu->eigen(b, values, n)) exit(1);
    show("eigenvalues", n, n, values, n);
    show("eigenvectors", n, n, b, n * n);
    double *used = draw(6, n * n), *beside = calloc(n, sizeof(double));
    if (!beside) exit(1);
    memcpy(used, a, n * n * sizeof(double));
    if (cpu->tridiagonal(values, beside, used, n, b, n)) exit(1);
    show("tridiagonal", n, n, values, n);
    show("beside", n, n, beside, n);
    show("turned", n, n, b, n * n);
    free(used), free(beside);
    if (cpu->factor(a, n)) exit(1);
    show("factor", n, n, a, n * n);
    cpu->solve(b, n, a, n);
    show("solve", n, n, b, n * n);
    cpu->whiten(b, n, n, a, n, n);
    show("whiten", n, n, b, n * n);
    if (cpu->update(a, n, k, n / 2 + 1)) exit(1);
    show("update", n, n, a, n * n);
    cpu->invert(a, n);
    show("invert", n, n, a, n * n);
    free(k), free(b), free(a), free(values);
}

int main(int argc, char **argv)
{
    static const size_t shapes[][3] = {{1, 1, 1},     {1, 100, 100},  {5, 33, 7},
                                       {256, 100, 2}, {300, 47, 100}, {257, 130, 10}};
    if (argc > 1 && strcmp(argv[1], "kernels") == 0) {
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            show_products(broad__kernels_used(), shapes[s][0], shapes[s][1], shapes[s][2]);
        for (size_t n = 1; n < 300; n = 2 * n + 3) show_algebra(n);
        return 0;
    }
    show_activations();
    show_draws();
    return 0;
}
