/* A device with memory of its own, operation by operation against plain C. Which one is loaded: libbroad-cuda.so, or what
 * BROAD_PLUGINS names instead. Where there is none these tests are not run, and say so. */
#include "problem.h"

#include "compute/device_choice.h"
#include "compute/row_stream.h"
#include "rng/draw.h"

static const broad__cuda_plugin *plugin;
static const broad__device *far;
static const broad__memory *memory;

typedef struct shape {
    size_t rows, p, c, pad;
} shape;

static const shape shapes[] = {{1, 1, 1, 0},      {1, 9, 3, 2},       {33, 17, 10, 3},
                               {700, 100, 10, 0}, {1025, 100, 10, 4}, {3000, 128, 1, 0},
                               {3000, 130, 7, 5}, {900, 300, 20, 0},  {2500, 64, 12, 0}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void need_device(void)
{
    if (!plugin) skip();
}

static double *send(const double *from, size_t count)
{
    double *at = NULL;
    assert_int_equal(memory->alloc(&at, count), BROAD_OK);
    memory->put(at, from, count);
    return at;
}

static void assert_near(const double *there, const double *here, size_t count, double scale)
{
    double *got = malloc(count * sizeof *got), worst = 0;
    assert_int_equal(memory->get(got, there, count), BROAD_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(got[i]));
        worst = fmax(worst, fabs(got[i] - here[i]));
    }
    if (!(worst <= 1e-13 * scale)) print_message("off by %g of %g\n", worst, scale);
    assert_true(worst <= 1e-13 * scale);
    free(got);
}

static void rows_are_as_in_plain_c(void **state)
{
    (void)state;
    need_device();
    const broad__device *plain = broad__device_reference();
    problem_random r = {11};
    for (size_t s = 0; s < SHAPES; s++) {
        size_t n = shapes[s].rows, p = shapes[s].p, c = shapes[s].c, ks = p + shapes[s].pad, es = c + shapes[s].pad;
        double scale = 100.0 * (double)(n + p);
        double *k = problem_normals(n * ks, &r), *e = problem_normals(n * es, &r), *w = problem_normals(p * es, &r);
        double *gram = problem_normals(p * ks, &r), *cross = problem_normals(p * es, &r),
               *next = problem_normals(n * es, &r);
        double *outer = problem_normals(40 * n, &r), sums[2] = {1, 2};
        double *far_k = send(k, n * ks), *far_e = send(e, n * es), *far_gram = send(gram, p * ks);
        double *far_cross = send(cross, p * es), *far_next = send(next, n * es), *far_outer = send(outer, 40 * n);
        double *far_sums = send(sums, 2);
        size_t count = n < 40 ? n : 40;
        for (int twice = 0; twice < 2; twice++) {
            plain->gram(gram, ks, k, ks, n, p), far->gram(far_gram, ks, far_k, ks, n, p);
            plain->cross(cross, es, k, ks, p, e, es, c, n), far->cross(far_cross, es, far_k, ks, p, far_e, es, c, n);
            if (far->sums && !shapes[s].pad) { /* the same once more */
                plain->gram(gram, ks, k, ks, n, p), plain->cross(cross, es, k, ks, p, e, es, c, n);
                far->sums(far_gram, ks, far_k, ks, p, &(broad__side){far_e, es, c, far_cross, NULL}, 1, n);
            }
            plain->apply(next, es, -1, k, ks, n, w, es, p, c), far->apply(far_next, es, -1, far_k, ks, n, w, es, p, c);
            plain->outer(outer, count, k, ks, n, k, ks, count, p),
                far->outer(far_outer, count, far_k, ks, n, far_k, ks, count, p);
            plain->squares(sums, e, n * es), far->squares(far_sums, far_e, n * es);
            plain->inner(sums + 1, e, es, next, es, n, c), far->inner(far_sums + 1, far_e, es, far_next, es, n, c);
        }
        if (far->shift && !shapes[s].pad)
            for (int with = 0; with < 2; with++) {
                double *ours = calloc(n * c, sizeof *ours), *theirs = send(ours, n * c);
                plain->copy(ours, c, e, c, n, c), plain->apply(ours, c, -1, k, p, n, w, c, p, c);
                plain->squares(sums, ours, n * c);
                if (with) plain->cross(cross, c, k, p, p, ours, c, c, n);
                far->shift(theirs, far_sums, with ? far_cross : NULL, far_e, -1, far_k, n, w, p, c);
                assert_near(theirs, ours, n * c, scale);
                memory->free(theirs);
                free(ours);
            }
        /* Below the diagonal nothing is promised. */
        double *upper = malloc(p * ks * sizeof *upper);
        assert_int_equal(memory->get(upper, far_gram, p * ks), BROAD_OK);
        for (size_t i = 0; i < p; i++)
            for (size_t j = i; j < p; j++) assert_true(fabs(upper[i * ks + j] - gram[i * ks + j]) <= 1e-13 * scale);
        free(upper);
        assert_near(far_cross, cross, p * es, 100 * scale);
        assert_near(far_next, next, n * es, scale);
        assert_near(far_outer, outer, count * n, scale);
        assert_near(far_sums, sums, 2, 100 * scale * (double)p);
        plain->scale(k, ks, n, p, e), far->scale(far_k, ks, n, p, far_e);
        plain->copy(e, es, k, ks, n, c < p ? c : p), far->copy(far_e, es, far_k, ks, n, c < p ? c : p);
        assert_near(far_k, k, n * ks, 100);
        assert_near(far_e, e, n * es, 100);
        memory->zero(far_e, n * es);
        memset(e, 0, n * es * sizeof *e);
        assert_near(far_e, e, n * es, 1);
        double *all[] = {far_k, far_e, far_gram, far_cross, far_next, far_outer, far_sums};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) memory->free(all[i]);
        free(k), free(e), free(w), free(gram), free(cross), free(next), free(outer);
    }
}

/* Sizes of layers: more nodes than a tile has, or a block, or that fill it to the last column; and what lies beside them. */
typedef struct layer_shape {
    size_t rows, inputs, nodes, outputs, probes;
} layer_shape;

static const layer_shape layers[] = {{1, 1, 1, 1, 0},         {31, 7, 8, 3, 0},      {500, 40, 33, 16, 0},
                                     {1500, 100, 100, 10, 2}, {129, 100, 104, 8, 3}, {4000, 9, 112, 1, 0},
                                     {700, 128, 128, 12, 4},  {333, 65, 120, 10, 6}, {300, 128, 250, 10, 2},
                                     {200, 130, 100, 4, 0},   {200, 30, 60, 20, 2}};
enum { LAYERS = sizeof layers / sizeof layers[0] };

static void many_nodes_are_as_in_plain_c(void **state)
{
    (void)state;
    need_device();
    problem_random r = {17};
    for (size_t s = 0; s < LAYERS; s++)
        for (size_t pad = 0; pad < 4; pad += 3) {
            size_t n = layers[s].rows, p = layers[s].inputs, q = layers[s].nodes, stride = q + pad;
            double *x = problem_normals(n * p, &r), *weight = problem_normals(p * q, &r),
                   *bias = problem_normals(q, &r), *out = problem_normals(n * stride, &r);
            double *far_x = send(x, n * p), *far_out = send(out, n * stride);
            broad__nodes nodes = {p, q, weight, bias, BROAD_ACTIVATION_SIGMOID, 0, NULL, NULL, {0}};
            broad__device_reference()->nodes(out, stride, &nodes, x, p, n);
            far->nodes(far_out, stride, &nodes, far_x, p, n);
            assert_near(far_out, out, n * stride, 1e3);
            memory->free(far_x), memory->free(far_out);
            free(x), free(weight), free(bias), free(out);
        }
}

/* Both sides change by the old columns; then come new ones, and sums of both sides. */
static void sides_are_as_in_plain_c(void **state)
{
    (void)state;
    need_device();
    if (!far->change || !far->sums) skip();
    const broad__device *plain = broad__device_reference();
    problem_random r = {18};
    for (size_t s = 0; s < LAYERS; s++) {
        size_t n = layers[s].rows, p = layers[s].inputs, q = layers[s].nodes, c = layers[s].outputs,
               probes = layers[s].probes, us = 2 * probes, count = probes ? 2 : 1;
        double scale = 100.0 * (double)(n + p + q), squares = 1;
        double *x = problem_normals(n * p, &r), *weight = problem_normals(p * q, &r), *bias = problem_normals(q, &r);
        double *k = problem_normals(n * q, &r), *e = problem_normals(n * c, &r), *u = problem_normals(n * us + 1, &r);
        double *w = problem_normals(q * c, &r), *uw = problem_normals(q * probes + 1, &r);
        double *gram = problem_normals(q * q, &r), *cross = problem_normals(q * c, &r),
               *probed = problem_normals(q * us + 1, &r);
        broad__nodes nodes = {p, q, weight, bias, BROAD_ACTIVATION_TANH, 0, NULL, NULL, {0}};
        double *far_x = send(x, n * p), *far_k = send(k, n * q), *far_e = send(e, n * c), *far_u = send(u, n * us + 1);
        double *far_gram = send(gram, q * q), *far_cross = send(cross, q * c), *far_probed = send(probed, q * us + 1),
               *far_squares = send(&squares, 1);
        broad__side changed[BROAD__SIDES] = {{far_e, c, c, NULL, w}, {far_u, us, probes, NULL, uw}};
        broad__side summed[BROAD__SIDES] = {{far_e, c, c, far_cross, NULL}, {far_u, us, us, far_probed, NULL}};
        far->change(far_squares, -1, far_k, q, changed, count, n);
        far->nodes(far_k, q, &nodes, far_x, p, n);
        far->sums(far_gram, q, far_k, q, q, summed, count, n);
        plain->apply(e, c, -1, k, q, n, w, c, q, c), plain->squares(&squares, e, n * c);
        if (probes) plain->apply(u, us, -1, k, q, n, uw, probes, q, probes);
        plain->nodes(k, q, &nodes, x, p, n);
        plain->gram(gram, q, k, q, n, q), plain->cross(cross, c, k, q, q, e, c, c, n);
        if (probes) plain->cross(probed, us, k, q, q, u, us, us, n);
        assert_near(far_k, k, n * q, 1e3);
        assert_near(far_e, e, n * c, scale);
        assert_near(far_u, u, n * us, scale);
        assert_near(far_squares, &squares, 1, scale * (double)(q * c));
        assert_near(far_cross, cross, q * c, 100 * scale);
        assert_near(far_probed, probed, q * us, 100 * scale);
        double *upper = malloc(q * q * sizeof *upper);
        assert_int_equal(memory->get(upper, far_gram, q * q), BROAD_OK);
        for (size_t i = 0; i < q; i++)
            for (size_t j = i; j < q; j++) assert_true(fabs(upper[i * q + j] - gram[i * q + j]) <= 1e-13 * scale);
        double *all[] = {far_x, far_k, far_e, far_u, far_gram, far_cross, far_probed, far_squares};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) memory->free(all[i]);
        free(upper), free(x), free(weight), free(bias), free(k), free(e), free(u), free(w), free(uw), free(gram),
            free(cross), free(probed);
    }
}

static void nodes_are_as_in_plain_c(void **state)
{
    (void)state;
    need_device();
    problem_random r = {12};
    for (size_t s = 0; s < SHAPES; s++)
        for (int activation = 0; activation <= BROAD_ACTIVATION_IDENTITY; activation++) {
            size_t n = shapes[s].rows, p = shapes[s].p, c = shapes[s].c, ks = p + shapes[s].pad, os = c + shapes[s].pad;
            double *x = problem_normals(n * ks, &r), *weight = problem_normals(p * c, &r),
                   *bias = problem_normals(c, &r);
            double *out = problem_normals(n * os, &r), *far_x = send(x, n * ks), *far_out = send(out, n * os);
            broad__nodes nodes = {p, c, weight, bias, (broad_activation)activation, 0, NULL, NULL, {0}};
            broad__device_reference()->nodes(out, os, &nodes, x, ks, n);
            far->nodes(far_out, os, &nodes, far_x, ks, n);
            assert_near(far_out, out, n * os, activation == BROAD_ACTIVATION_SINE ? 1e4 : 1e3);
            memory->free(far_x), memory->free(far_out);
            free(x), free(weight), free(bias), free(out);
        }
}

/* Large enough to be worth the way there. */
static void matrices_are_as_in_plain_c(void **state)
{
    (void)state;
    need_device();
    enum { N = 450, ROWS = 130 };
    problem_random r = {13};
    double *b = problem_normals(ROWS * N, &r), *a = calloc(N * N, sizeof *a), *k = problem_normals(2 * N * N, &r);
    broad__device_cpu()->gram(a, N, k, N, 2 * N, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++) a[i * N + j] = (double)(i * j); /* must stay */
    double *factor[2], *white[2], *vectors[2], *values[2];
    for (int d = 0; d < 2; d++) {
        const broad__device *device = d ? plugin->device : broad__device_cpu();
        factor[d] = malloc(N * N * sizeof *a), white[d] = malloc(ROWS * N * sizeof *a);
        vectors[d] = malloc(N * N * sizeof *a), values[d] = malloc(N * sizeof *a);
        memcpy(factor[d], a, N * N * sizeof *a), memcpy(white[d], b, ROWS * N * sizeof *a);
        memcpy(vectors[d], a, N * N * sizeof *a);
        assert_int_equal(device->factor(factor[d], N), 0);
        device->whiten(white[d], N, ROWS, factor[d], N, N);
        assert_int_equal(device->eigen(vectors[d], values[d], N), BROAD_OK);
    }
    for (size_t i = 0; i < N; i++) {
        assert_true(fabs(values[0][i] - values[1][i]) <= 1e-12 * values[0][N - 1]);
        for (size_t j = 0; j < N; j++)
            assert_true(fabs(factor[0][i * N + j] - factor[1][i * N + j]) <=
                        1e-10 * fmax(1, fabs(factor[0][i * N + j])));
    }
    for (size_t i = 0; i < ROWS * N; i++) assert_true(fabs(white[0][i] - white[1][i]) <= 1e-10);
    /* A v = value v */
    for (size_t i = 0; i < N; i += 37)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t m = 0; m < N; m++) sum += a[m < j ? m * N + j : j * N + m] * vectors[1][i * N + m];
            assert_true(fabs(sum - values[1][i] * vectors[1][i * N + j]) <= 1e-10 * values[1][N - 1]);
        }
    /* <w, Tw> = <b, Ab> for w = Q'b */
    double form[2] = {0}, diagonal[N], beside[N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = i; j < N; j++) form[0] += (i == j ? 1 : 2) * b[i] * a[i * N + j] * b[j];
    memcpy(vectors[1], a, N * N * sizeof *a), memcpy(white[1], b, N * sizeof *a);
    assert_int_equal(plugin->device->tridiagonal(diagonal, beside, vectors[1], N, white[1], 1), BROAD_OK);
    for (size_t i = 0; i < N; i++)
        form[1] += white[1][i] * (diagonal[i] * white[1][i] + (i ? 2 * beside[i - 1] * white[1][i - 1] : 0));
    assert_true(fabs(form[0] - form[1]) <= 1e-10 * form[0]);
    a[5 * N + 5] = -1; /* not positive definite */
    memcpy(factor[1], a, N * N * sizeof *a);
    assert_int_equal(plugin->device->factor(factor[1], N), 6);
    for (int d = 0; d < 2; d++) free(factor[d]), free(white[d]), free(vectors[d]), free(values[d]);
    free(a), free(b), free(k);
}

static void random_numbers_have_the_same_bits(void **state)
{
    (void)state;
    need_device();
    if (!plugin->random) skip();
    broad__stream stream = {0x123456789ABCDEFu, BROAD__FOR_FEATURES, 3, 2, 1};
    uint32_t words[3] = {stream.layer, (uint32_t)stream.step << 16 | stream.draw, (uint32_t)stream.purpose << 24};
    static double here[5001], there[5001];
    const uint64_t firsts[] = {0, 1, 777, 0x1FFFFFFFFu, 0x300000000u};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        double *at = send(there, 5001);
        broad__random_fill(here, &stream, firsts[i], 5001);
        plugin->random(at, stream.seed, words, firsts[i], 5001);
        assert_int_equal(memory->get(there, at, 5001), BROAD_OK);
        assert_memory_equal(here, there, sizeof here);
        memory->free(at);
    }
}

/* Weights that the device draws itself: nodes that pass an input on show each of them. */
static void weights_have_the_same_bits(void **state)
{
    (void)state;
    need_device();
    enum { INPUTS = 37, NODES = 53, LENGTH = INPUTS * NODES };
    for (int wide = 0; wide < 2; wide++) {
        broad__draw draw = {
            {0xFEDCBA987654321u, BROAD__FOR_ENHANCEMENT, 4, 2, 7}, INPUTS, NODES, 3.7, (broad_range_unit)wide};
        broad__stream *s = &draw.stream;
        static double weight[LENGTH], bias[NODES], x[(INPUTS + 1) * INPUTS], there[(INPUTS + 1) * NODES];
        broad__nodes nodes = {INPUTS, NODES, weight, bias, BROAD_ACTIVATION_IDENTITY, 0, NULL, NULL, {0}};
        for (size_t i = 0; i < INPUTS; i++) x[i * INPUTS + i] = 1; /* the last row is zero: it shows the biases */
        broad__draw_nodes(weight, bias, &draw);
        nodes.drawn = (broad__drawing){1,
                                       {s->layer, (uint32_t)s->step << 16 | s->draw, (uint32_t)s->purpose << 24},
                                       s->seed,
                                       draw.range,
                                       broad__draw_scale(&draw)};
        static double none[LENGTH]; /* what a device takes that draws nothing */
        double *far_x = send(x, (INPUTS + 1) * INPUTS), *out = send(there, (INPUTS + 1) * NODES);
        if (plugin->random) nodes.weight = nodes.bias = none;
        far->nodes(out, NODES, &nodes, far_x, INPUTS, INPUTS + 1);
        assert_int_equal(memory->get(there, out, (INPUTS + 1) * NODES), BROAD_OK);
        assert_memory_equal(there + LENGTH, bias, sizeof bias);
        for (size_t i = 0; i < LENGTH; i++) assert_true(there[i] == weight[i] + bias[i % NODES]);
        memory->free(far_x), memory->free(out);
    }
}

/* Rows that pass through: nodes of them, whatever the number of blocks. */
typedef struct through {
    const double *x;
    broad__nodes nodes;
    size_t filled;
} through;

static void fill_rows(void *context, double *to, size_t first, size_t n)
{
    through *t = context;
    assert_int_equal(first, t->filled);
    memcpy(to, t->x + first * t->nodes.inputs, n * t->nodes.inputs * sizeof *to);
    t->filled += n;
}

static void compute_rows(void *context, double *out, const double *x, double *held, size_t n)
{
    const through *t = context;
    size_t q = t->nodes.nodes;
    far->nodes(held, q, &t->nodes, x, t->nodes.inputs, n);
    far->copy(out, q, held, q, n, q);
}

static void rows_pass_through(void **state)
{
    (void)state;
    need_device();
    problem_random r = {23};
    const shape passing[] = {{1, 3, 2, 0}, {5000, 7, 5, 0}, {40000, 30, 20, 3}, {300, 4000, 10, 0}};
    for (size_t s = 0; s < sizeof passing / sizeof *passing; s++) {
        size_t n = passing[s].rows, p = passing[s].p, q = passing[s].c, stride = q + passing[s].pad;
        double *x = problem_normals(n * p, &r), *weight = problem_normals(p * q, &r), *bias = problem_normals(q, &r);
        double *here = calloc(n * stride, sizeof *here), *there = calloc(n * stride, sizeof *there), worst = 0;
        through t = {x, {p, q, weight, bias, BROAD_ACTIVATION_SIGMOID, 0, NULL, NULL, {0}}, 0};
        broad__row_stream stream = {far, n, p, q, q, 1, &t, fill_rows, compute_rows};
        assert_int_equal(broad__row_stream_run(there, stride, &stream), BROAD_OK);
        assert_int_equal(t.filled, n);
        broad__device_reference()->nodes(here, stride, &t.nodes, x, p, n);
        for (size_t i = 0; i < n * stride; i++) worst = fmax(worst, fabs(here[i] - there[i]));
        assert_true(worst <= 1e-13 * (double)p);
        free(x), free(weight), free(bias), free(here), free(there);
    }
    assert_int_equal(plugin->settle(), BROAD_OK);
}

/* What is released can be had again, ten thousand times. */
static void memory_does_not_grow(void **state)
{
    (void)state;
    need_device();
    double *first = NULL, *at = NULL;
    assert_int_equal(memory->alloc(&first, 100), BROAD_OK);
    memory->free(first);
    size_t before = memory->room();
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(memory->alloc(&at, 100000), BROAD_OK);
        memory->zero(at, 100000);
        memory->free(at);
    }
    assert_int_equal(plugin->settle(), BROAD_OK);
    assert_true(memory->room() >= before);
}

int main(void)
{
    const char *reason = NULL;
    plugin = broad__cuda_load(&reason);
    if (!plugin) print_message("no device: %s\n", reason);
    if (plugin) far = plugin->device->far, memory = far->memory;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_in_plain_c),       cmocka_unit_test(nodes_are_as_in_plain_c),
        cmocka_unit_test(many_nodes_are_as_in_plain_c), cmocka_unit_test(sides_are_as_in_plain_c),
        cmocka_unit_test(matrices_are_as_in_plain_c),   cmocka_unit_test(random_numbers_have_the_same_bits),
        cmocka_unit_test(weights_have_the_same_bits),   cmocka_unit_test(rows_pass_through),
        cmocka_unit_test(memory_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
