/*
 * What growing costs, as ratios of times measured in one run.
 *   one layer   adding a layer of 100 nodes with open state, over training 50 such layers from the start
 *   supervised  growing with the test of each layer over growing without, where the first draw always passes
 *
 *   bench_grow [MEGABYTES]      tables no larger than that; the goals are for the whole ones
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "broad/broad.h"
#include "rng/philox.h"

enum { NODES = 100, LAYERS = 50, CLASSES = 2, ADDED = 9, PAIRS = 31 };

static const double one_layer_goal = 1.0 / 40, supervised_goal = 1.1;

typedef struct shape {
    size_t rows, inputs;
} shape;

static void check(int status)
{
    if (status >= 0) return;
    fprintf(stderr, "bench_grow: %s\n", broad_error_message());
    exit(1);
}

/* Two classes told apart by a sum of waves along random directions, so that there is something left for every layer. */
static broad_data *make_data(const shape *s)
{
    double *x = malloc(s->rows * s->inputs * sizeof *x);
    int64_t *classes = malloc(s->rows * sizeof *classes);
    if (!x || !classes) exit(1);
    broad__stream stream = {.seed = 1, .purpose = BROAD__FOR_DEMO};
    for (size_t i = 0; i < s->rows; i++) {
        double wave = 0;
        for (size_t j = 0; j < s->inputs; j++) {
            x[i * s->inputs + j] = broad__random_at(&stream, i * s->inputs + j);
            wave += (j % 3 == 0 ? 1 : -0.5) * (x[i * s->inputs + j] - 0.5);
        }
        classes[i] = (int64_t)(wave > 0) ^ (int64_t)(x[i * s->inputs] > 0.7);
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = s->rows;
    arrays.inputs = s->inputs;
    arrays.x = x;
    arrays.classes = classes;
    broad_data *data = NULL;
    check(broad_data_from_arrays(&data, &arrays));
    free(classes);
    free(x);
    return data;
}

static broad_options options_for(const char *kind)
{
    broad_options options;
    broad_options_init(&options);
    check(broad_options_preset(&options, BROAD_PRESET_PAPER));
    check(broad_options_set(&options, "kind", kind));
    check(broad_options_set(&options, "gamma", "harmonic:1e-9"));
    return options;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The lower quartile: whatever else the machine does only ever adds to a time. */
static double typical(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 4];
}

static double time_layer(broad_trainer *trainer)
{
    double start = broad__seconds();
    check(broad_trainer_enhance(trainer, NODES, 1));
    return broad__seconds() - start;
}

/* goal 0: none */
static void report(const char *what, double ratio, double goal, const char *detail)
{
    printf("  %-11s %8.4f", what, ratio);
    if (goal > 0) printf("   goal %.4f   %s", goal, ratio <= goal ? "met" : "MISSED");
    printf("   (%s)\n", detail);
}

static void bench_one_layer(const broad_data *data, int judged)
{
    broad_options options = options_for("bscrls");
    broad_trainer *trainer = NULL;
    double start = broad__seconds(), added[ADDED];
    check(broad_trainer_open(&trainer, data, &options));
    check(broad_trainer_enhance(trainer, NODES, LAYERS));
    double whole = broad__seconds() - start;
    for (size_t i = 0; i < ADDED; i++) added[i] = time_layer(trainer);
    double one = typical(added, ADDED);
    char detail[128];
    snprintf(detail, sizeof detail, "%.1f ms of %.2f s", 1e3 * one, whole);
    report("one layer", one / whole, judged ? one_layer_goal : 0, detail);
    broad_trainer_close(NULL, trainer);
}

static size_t draws_of(const broad_model *model)
{
    size_t draws = 0;
    for (size_t i = 0; i < broad_model_layers(model); i++) {
        broad_layer layer;
        check(broad_model_layer(&layer, model, i));
        draws += layer.tries;
    }
    return draws;
}

/* Layer by layer in turn, so that what else the machine does meets both alike. */
static void bench_supervised(const broad_data *data, int judged)
{
    broad_options with = options_for("bscrls"), without = options_for("brls");
    broad_trainer *supervised = NULL, *plain = NULL;
    double tested[PAIRS], untested[PAIRS];
    check(broad_trainer_open(&supervised, data, &with));
    check(broad_trainer_open(&plain, data, &without));
    check(broad_trainer_enhance(supervised, NODES, 1));
    check(broad_trainer_enhance(plain, NODES, 1));
    for (size_t i = 0; i < PAIRS; i++) {
        if (i % 2) tested[i] = time_layer(supervised);
        untested[i] = time_layer(plain);
        if (i % 2 == 0) tested[i] = time_layer(supervised);
    }
    size_t layers = broad_model_layers(broad_trainer_model(supervised));
    size_t draws = draws_of(broad_trainer_model(supervised));
    report("supervised", typical(tested, PAIRS) / typical(untested, PAIRS), judged ? supervised_goal : 0,
           draws == layers ? "every first draw passed" : "SOME FIRST DRAWS DID NOT PASS");
    broad_trainer_close(NULL, supervised);
    broad_trainer_close(NULL, plain);
}

int main(int argc, char **argv)
{
    static const shape shapes[] = {{1793, 3072}, {60000, 784}};
    double most = argc > 1 ? 1e6 * atof(argv[1]) : 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        shape s = shapes[i];
        size_t row_bytes = s.inputs * sizeof(double);
        int cut = most > 0 && (double)(s.rows * row_bytes) > most;
        if (cut) s.rows = (size_t)(most / (double)row_bytes);
        if (s.rows < 2 * NODES) s.rows = 2 * NODES;
        printf("%zu x %zu, %d classes, layers of %d nodes\n", s.rows, s.inputs, CLASSES, NODES);
        broad_data *data = make_data(&s);
        bench_one_layer(data, !cut);
        bench_supervised(data, !cut);
        broad_data_free(data);
        fflush(stdout);
    }
    return 0;
}
