/*
 * The products of the layer pass by our kernels and by OpenBLAS: each operation by its shape, then the pass as a whole against
 * the largest product OpenBLAS is best at. Every thread works on data of its own; a figure is the sum of the threads' rates,
 * by the processor time each used. Prints what bench/README.md says.
 *   bench_kernels [--runs N] [--threads N] [--quick]
 */
#include "words.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "compute/activation.h"
#include "compute/cpu/kernels.h"
#include "compute/shards.h"
#include "rng/philox.h"

enum { MOST_THREADS = 64, MOST_RUNS = 100, OUTPUTS = 10, WIDTH = 100, LAYER_ROWS = 60000 };

typedef struct data data;
typedef void (*work)(data *d);

typedef struct shape {
    const char *what, *ours_call, *rival_call;
    work ours, rival;
    size_t rows, p, c;
    double nearest; /* how far the two results may be apart, relative to their size */
} shape;

/* What one thread works on. out is rows x c or p x p or p x c; the layer also uses the arrays below it. */
struct data {
    const shape *s;
    double *a, *b, *bias, *out;
    double *k, *gram, *cross, *e;
    size_t size; /* of the square product */
};

static double *drawn(size_t count, uint64_t seed)
{
    double *numbers = aligned_alloc(64, (count + 8) * sizeof(double) / 64 * 64 + 64);
    broad__stream stream = {.seed = seed, .purpose = BROAD__FOR_DEMO};
    if (!numbers) exit(1);
    for (size_t i = 0; i < count; i++) numbers[i] = broad__random_at(&stream, i) - 0.5;
    return numbers;
}

static void nodes_ours(data *d)
{
    const shape *s = d->s;
    broad__nodes nodes = {s->p, s->c, d->b, d->bias, BROAD_ACTIVATION_IDENTITY, 0, NULL, NULL, {0}};
    broad__kernels_used()->nodes(d->out, s->c, &nodes, d->a, s->p, s->rows);
}

static void nodes_rival(data *d)
{
    const shape *s = d->s;
    for (size_t i = 0; i < s->rows; i++) memcpy(d->out + i * s->c, d->bias, s->c * sizeof(double));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->rows, (int)s->c, (int)s->p, 1, d->a, (int)s->p, d->b,
                (int)s->c, 1, d->out, (int)s->c);
}

static void gram_ours(data *d) { broad__kernels_used()->gram(d->out, d->s->p, d->a, d->s->p, d->s->rows, d->s->p); }

static void gram_rival(data *d)
{
    int p = (int)d->s->p;
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, p, (int)d->s->rows, 1, d->a, p, 1, d->out, p);
}

static void cross_ours(data *d)
{
    const shape *s = d->s;
    broad__kernels_used()->cross(d->out, s->c, d->a, s->p, s->p, d->b, s->c, s->c, s->rows);
}

static void cross_rival(data *d)
{
    const shape *s = d->s;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)s->p, (int)s->c, (int)s->rows, 1, d->a, (int)s->p, d->b,
                (int)s->c, 1, d->out, (int)s->c);
}

static void apply_ours(data *d)
{
    const shape *s = d->s;
    broad__kernels_used()->apply(d->out, s->c, -1, d->a, s->p, s->rows, d->b, s->c, s->p, s->c);
}

static void apply_rival(data *d)
{
    const shape *s = d->s;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->rows, (int)s->c, (int)s->p, -1, d->a, (int)s->p,
                d->b, (int)s->c, 1, d->out, (int)s->c);
}

/* Block by block, as a layer does: K = sigmoid(Z W + b), G += K'K, B += K'E, E -= K w. */
static void layer_ours(data *d)
{
    const broad__kernels *kernels = broad__kernels_used();
    broad__nodes nodes = {WIDTH, WIDTH, d->b, d->bias, BROAD_ACTIVATION_SIGMOID, 0, NULL, NULL, {0}};
    for (size_t i = 0; i < d->s->rows; i += BROAD__BLOCK_ROWS) {
        size_t n = d->s->rows - i < BROAD__BLOCK_ROWS ? d->s->rows - i : BROAD__BLOCK_ROWS;
        double *e = d->e + i * OUTPUTS;
        size_t left = d->s->rows - i - n;
        broad__soon soon[BROAD__SOON] = {{d->a + (i + n) * WIDTH, (left < n ? left : n) * WIDTH}};
        nodes.soon = soon;
        kernels->nodes(d->k, WIDTH, &nodes, d->a + i * WIDTH, WIDTH, n);
        kernels->gram(d->gram, WIDTH, d->k, WIDTH, n, WIDTH);
        kernels->cross(d->cross, OUTPUTS, d->k, WIDTH, WIDTH, e, OUTPUTS, OUTPUTS, n);
        kernels->apply(e, OUTPUTS, -1, d->k, WIDTH, n, d->out, OUTPUTS, WIDTH, OUTPUTS);
    }
}

static void layer_rival(data *d)
{
    for (size_t i = 0; i < d->s->rows; i += BROAD__BLOCK_ROWS) {
        int n = (int)(d->s->rows - i < BROAD__BLOCK_ROWS ? d->s->rows - i : BROAD__BLOCK_ROWS);
        double *e = d->e + i * OUTPUTS;
        for (int row = 0; row < n; row++) memcpy(d->k + row * WIDTH, d->bias, WIDTH * sizeof(double));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, WIDTH, WIDTH, 1, d->a + i * WIDTH, WIDTH, d->b, WIDTH,
                    1, d->k, WIDTH);
        broad__activate(BROAD_ACTIVATION_SIGMOID, d->k, (size_t)n * WIDTH);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, WIDTH, n, 1, d->k, WIDTH, 1, d->gram, WIDTH);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, WIDTH, OUTPUTS, n, 1, d->k, WIDTH, e, OUTPUTS, 1, d->cross,
                    OUTPUTS);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, OUTPUTS, WIDTH, -1, d->k, WIDTH, d->out, OUTPUTS, 1,
                    e, OUTPUTS);
    }
}

static void square_rival(data *d)
{
    int n = (int)d->size;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, d->a, n, d->b, n, 1, d->out, n);
}

/* ---- measuring ---- */

typedef struct task {
    data *d;
    work run;
    size_t times;
    double seconds;
    pthread_barrier_t *start;
} task;

static double seconds_used(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *run_task(void *given)
{
    task *t = given;
    t->run(t->d);
    pthread_barrier_wait(t->start);
    double start = seconds_used();
    for (size_t i = 0; i < t->times; i++) t->run(t->d);
    t->seconds = (seconds_used() - start) / (double)t->times;
    return NULL;
}

/* GFLOP/s of all threads together, in about `seconds`. */
static double rate(data *d, work run, double flops, size_t threads, double seconds)
{
    pthread_t ids[MOST_THREADS];
    task tasks[MOST_THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++) {
        tasks[i] = (task){.d = d + i, .run = run, .times = (size_t)(seconds * 40e9 / flops) + 1, .start = &start};
        if (pthread_create(&ids[i], NULL, run_task, &tasks[i]) != 0) exit(1);
    }
    double total = 0;
    for (size_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        total += 1e-9 * flops / tasks[i].seconds;
    }
    pthread_barrier_destroy(&start);
    return total;
}

/* Of one call; a Gram matrix has only one triangle. */
static double flops_of(const shape *s)
{
    if (s->ours == layer_ours) return (double)s->rows * WIDTH * (2 * WIDTH + WIDTH + 1 + 4 * OUTPUTS);
    if (s->ours == gram_ours) return (double)s->rows * (double)(s->p * (s->p + 1));
    return 2.0 * (double)s->rows * (double)(s->p * s->c);
}

static void data_open(data *out, const shape *s, size_t size)
{
    size_t most = s->c > s->p ? s->c : s->p, rows = s->rows > most ? s->rows : most;
    *out = (data){.s = s, .size = size};
    out->a = drawn(size ? size * size : s->rows * s->p, 1);
    out->b = drawn(size ? size * size : rows * s->c, 2);
    out->bias = drawn(most, 3);
    out->out = drawn(size ? size * size : rows * most, 4);
    out->k = drawn((size_t)BROAD__BLOCK_ROWS * WIDTH, 5);
    out->gram = drawn((size_t)WIDTH * WIDTH, 6);
    out->cross = drawn((size_t)WIDTH * OUTPUTS, 7);
    out->e = drawn(s->rows * OUTPUTS, 8);
}

static void data_close(data *d)
{
    free(d->a), free(d->b), free(d->bias), free(d->out);
    free(d->k), free(d->gram), free(d->cross), free(d->e);
}

static double apart(const double *one, const double *two, size_t count)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(one[i] - two[i]));
        size = fmax(size, fabs(one[i]));
    }
    return most / size;
}

/* Both sides once from the same start. */
static void compare(const shape *s)
{
    data one, two;
    data_open(&one, s, 0);
    data_open(&two, s, 0);
    s->ours(&one);
    s->rival(&two);
    size_t most = s->c > s->p ? s->c : s->p, count = (s->rows > most ? s->rows : most) * most;
    double worst = fmax(apart(one.out, two.out, count), apart(one.e, two.e, s->rows * OUTPUTS));
    worst = fmax(worst, apart(one.gram, two.gram, (size_t)WIDTH * WIDTH));
    worst = fmax(worst, apart(one.cross, two.cross, (size_t)WIDTH * OUTPUTS));
    if (!(worst < s->nearest)) {
        fprintf(stderr, "bench_kernels: %s: the results of the two sides are %g apart\n", s->what, worst);
        exit(1);
    }
    data_close(&one);
    data_close(&two);
}

static void print_side(const char *name, const char *call, const double *figures, size_t runs, const char *more)
{
    printf("%s\"%s\": {\"command\": \"%s\", \"figures\": ", name[0] == 'O' ? "" : ", ", name, call);
    bench_figures_print(figures, runs);
    printf(", \"ratio\": \"ours/rival\"%s}", more);
}

static void measure(const shape *s, const bench_words *words)
{
    data d[MOST_THREADS];
    double ours[MOST_RUNS], rival[MOST_RUNS], seconds = words->quick ? 0.004 : 0.02, flops = flops_of(s);
    compare(s);
    for (size_t i = 0; i < words->threads; i++) data_open(&d[i], s, 0);
    for (size_t i = 0; i < words->runs; i++) {
        ours[i] = rate(d, s->ours, flops, words->threads, seconds);
        rival[i] = rate(d, s->rival, flops, words->threads, seconds);
    }
    for (size_t i = 0; i < words->threads; i++) data_close(&d[i]);
    printf("{\"what\": \"%s, %zu thread%s\", \"unit\": \"GFLOP/s\", \"command\": \"%s\", \"ours\": ", s->what,
           words->threads, words->threads > 1 ? "s" : "", s->ours_call);
    bench_figures_print(ours, words->runs);
    printf(", \"rivals\": {");
    print_side("OpenBLAS", s->rival_call, rival, words->runs, "");
    printf("}, \"facts\": {\"kernels\": \"%s\"}}\n", broad__kernels_used()->name);
    fflush(stdout);
}

static size_t best_square(const shape *s, const bench_words *words)
{
    static const size_t sizes[] = {512, 768, 1024, 1536};
    size_t best = 0;
    double most = 0;
    for (size_t i = 0; i < (words->quick ? 2 : 4); i++) {
        data d[MOST_THREADS];
        for (size_t t = 0; t < words->threads; t++) data_open(&d[t], s, sizes[i]);
        double n = (double)sizes[i], found = rate(d, square_rival, 2 * n * n * n, words->threads, 0.2);
        for (size_t t = 0; t < words->threads; t++) data_close(&d[t]);
        if (found > most) best = sizes[i], most = found;
    }
    return best;
}

/* The pass against the same by OpenBLAS, and against its best product. */
static void measure_layer(const bench_words *words)
{
    shape s = {
        .what = "the layer pass", .ours = layer_ours, .rival = layer_rival, .p = WIDTH, .c = WIDTH, .nearest = 1e-11};
    s.rows = (words->quick ? LAYER_ROWS / 10 : LAYER_ROWS) / words->threads;
    double flops = flops_of(&s);
    compare(&s);
    size_t size = best_square(&s, words);
    double n = (double)size, ours[MOST_RUNS], same[MOST_RUNS], square[MOST_RUNS];
    data d[MOST_THREADS], squares[MOST_THREADS];
    for (size_t i = 0; i < words->threads; i++) data_open(&d[i], &s, 0), data_open(&squares[i], &s, size);
    for (size_t i = 0; i < words->runs; i++) {
        ours[i] = rate(d, layer_ours, flops, words->threads, 0);
        square[i] = rate(squares, square_rival, 2 * n * n * n, words->threads, 0);
        same[i] = rate(d, layer_rival, flops, words->threads, 0);
    }
    for (size_t i = 0; i < words->threads; i++) data_close(&d[i]), data_close(&squares[i]);
    printf(
        "{\"what\": \"layer pass: nodes, activation, Gram, cross and residual, %zu x %d, %d nodes, %d outputs, %zu "
        "thread%s\", \"unit\": \"GFLOP/s\", \"command\": \"device->nodes, gram, cross, apply on blocks of %d rows\", "
        "\"ours\": ",
        s.rows * words->threads, WIDTH, WIDTH, OUTPUTS, words->threads, words->threads > 1 ? "s" : "",
        BROAD__BLOCK_ROWS);
    bench_figures_print(ours, words->runs);
    printf(", \"rivals\": {");
    char call[64];
    snprintf(call, sizeof call, "cblas_dgemm, %zu x %zu x %zu", size, size, size);
    print_side("OpenBLAS at its best size", call, square, words->runs, ", \"least\": 0.6");
    print_side("the same pass by OpenBLAS", "cblas_dgemm, broad__activate, cblas_dsyrk, cblas_dgemm, cblas_dgemm", same,
               words->runs, "");
    printf("}, \"note\": \"activations take time but count no flops\", \"facts\": {\"kernels\": \"%s\"}}\n",
           broad__kernels_used()->name);
}

static const shape shapes[] = {
    {"nodes, 256 rows x 100 inputs x 100", "device->nodes", "cblas_dgemm", nodes_ours, nodes_rival, 256, 100, 100,
     1e-12},
    {"nodes, 256 rows x 200 inputs x 200", "device->nodes", "cblas_dgemm", nodes_ours, nodes_rival, 256, 200, 200,
     1e-12},
    {"nodes, 256 rows x 784 inputs x 100", "device->nodes", "cblas_dgemm", nodes_ours, nodes_rival, 256, 784, 100,
     1e-12},
    {"nodes, 256 rows x 12288 inputs x 100", "device->nodes", "cblas_dgemm", nodes_ours, nodes_rival, 256, 12288, 100,
     1e-12},
    {"nodes, 1 row x 100 inputs x 100", "device->nodes", "cblas_dgemm", nodes_ours, nodes_rival, 1, 100, 100, 1e-12},
    {"nodes, 4 rows x 100 inputs x 100", "device->nodes", "cblas_dgemm", nodes_ours, nodes_rival, 4, 100, 100, 1e-12},
    {"Gram, 256 rows x 100", "device->gram", "cblas_dsyrk", gram_ours, gram_rival, 256, 100, 100, 1e-12},
    {"Gram, 256 rows x 200", "device->gram", "cblas_dsyrk", gram_ours, gram_rival, 256, 200, 200, 1e-12},
    {"cross, 256 rows x 100 x 2", "device->cross", "cblas_dgemm", cross_ours, cross_rival, 256, 100, 2, 1e-12},
    {"cross, 256 rows x 100 x 10", "device->cross", "cblas_dgemm", cross_ours, cross_rival, 256, 100, 10, 1e-12},
    {"cross, 256 rows x 100 x 100", "device->cross", "cblas_dgemm", cross_ours, cross_rival, 256, 100, 100, 1e-12},
    {"cross, 2048 rows x 384 x 384", "device->cross", "cblas_dgemm", cross_ours, cross_rival, 2048, 384, 384, 1e-12},
    {"apply, 256 rows x 100 x 1", "device->apply", "cblas_dgemm", apply_ours, apply_rival, 256, 100, 1, 1e-12},
    {"apply, 256 rows x 100 x 2", "device->apply", "cblas_dgemm", apply_ours, apply_rival, 256, 100, 2, 1e-12},
    {"apply, 256 rows x 100 x 10", "device->apply", "cblas_dgemm", apply_ours, apply_rival, 256, 100, 10, 1e-12},
};

int main(int argc, char **argv)
{
    bench_words words = bench_words_read(argc, argv, (bench_words){.runs = 7, .threads = 1});
    if (words.threads > MOST_THREADS) words.threads = MOST_THREADS;
    if (words.runs > MOST_RUNS) words.runs = MOST_RUNS;
    /* Each thread calls it for itself, as ours: threads of its own would do work whose time is not counted. */
    openblas_set_num_threads(1);
    const broad__device *cpu = broad__device_cpu();
    if (cpu->hold() != BROAD_OK) {
        fprintf(stderr, "bench_kernels: %s\n", broad_error_message());
        return 1;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) measure(&shapes[i], &words);
    measure_layer(&words);
    cpu->release();
    return 0;
}
