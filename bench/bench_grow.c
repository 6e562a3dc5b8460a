/*
 * What growing costs.
 *   one layer   adding a layer of 100 nodes with open state, over training 50 such layers from the start
 *   supervised  growing with the test of each layer over growing without, where the first draw always passes
 *
 *   bench_grow [--runs N] [--threads N] [--quick]      quick: few rows
 */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "broad/broad.h"
#include "rng/philox.h"

enum { NODES = 100, LAYERS = 50, MOST_RUNS = 1000, PAIRS_A_RUN = 3 };

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

static broad_options options_for(const char *kind, const bench_words *words)
{
    broad_options options;
    broad_options_init(&options);
    check(broad_options_preset(&options, BROAD_PRESET_PAPER));
    check(broad_options_set(&options, "kind", kind));
    check(broad_options_set(&options, "gamma", "harmonic:1e-9"));
    options.threads = words->threads;
    return options;
}

static double time_layer(broad_trainer *trainer)
{
    double start = broad__seconds();
    check(broad_trainer_enhance(trainer, NODES, 1));
    return broad__seconds() - start;
}

static void print_begin(const char *what, const shape *s, const char *command, const double *ours, size_t count)
{
    printf("{\"what\": \"%s, %zu x %zu\", \"unit\": \"s\", \"command\": \"%s\", \"ours\": ", what, s->rows, s->inputs,
           command);
    bench_figures_print(ours, count);
}

static void print_rival(const char *name, const char *command, const double *figures, size_t count, double most)
{
    printf(", \"rivals\": {\"%s\": {\"command\": \"%s\", \"ratio\": \"ours/rival\", \"most\": %.6g, \"figures\": ",
           name, command, most);
    bench_figures_print(figures, count);
    printf("}}");
}

static void bench_one_layer(const broad_data *data, const shape *s, const bench_words *words)
{
    broad_options options = options_for("bscrls", words);
    broad_trainer *trainer = NULL;
    double start = broad__seconds(), added[MOST_RUNS];
    check(broad_trainer_open(&trainer, data, &options));
    check(broad_trainer_enhance(trainer, NODES, LAYERS));
    double whole = broad__seconds() - start;
    for (size_t i = 0; i < words->runs; i++) added[i] = time_layer(trainer);
    print_begin("one more layer of 100 nodes", s, "broad_trainer_enhance(trainer, 100, 1)", added, words->runs);
    print_rival("50 layers from the start", "broad_trainer_open, broad_trainer_enhance(trainer, 100, 50)", &whole, 1,
                one_layer_goal);
    printf("}\n");
    broad_trainer_close(NULL, trainer);
}

static size_t draws_of(const broad_model *model)
{
    size_t draws = 0;
    for (size_t i = 0; i < broad_model_layers(model); i++) {
        broad_layer layer = {.size = sizeof layer};
        check(broad_model_layer(&layer, model, i));
        draws += layer.tries;
    }
    return draws;
}

/* Layer by layer in turn, so that what else the machine does meets both alike. */
static void bench_supervised(const broad_data *data, const shape *s, const bench_words *words)
{
    broad_options with = options_for("bscrls", words), without = options_for("brls", words);
    broad_trainer *supervised = NULL, *plain = NULL;
    double tested[PAIRS_A_RUN * MOST_RUNS], untested[PAIRS_A_RUN * MOST_RUNS];
    check(broad_trainer_open(&supervised, data, &with));
    check(broad_trainer_open(&plain, data, &without));
    check(broad_trainer_enhance(supervised, NODES, 1));
    check(broad_trainer_enhance(plain, NODES, 1));
    for (size_t i = 0; i < PAIRS_A_RUN * words->runs; i++) {
        if (i % 2) tested[i] = time_layer(supervised);
        untested[i] = time_layer(plain);
        if (i % 2 == 0) tested[i] = time_layer(supervised);
    }
    size_t layers = broad_model_layers(broad_trainer_model(supervised));
    size_t draws = draws_of(broad_trainer_model(supervised));
    const char *call = "broad_trainer_enhance(trainer, 100, 1)";
    print_begin("a layer with its test, bscrls", s, call, tested, PAIRS_A_RUN * words->runs);
    print_rival("without, brls", call, untested, PAIRS_A_RUN * words->runs, supervised_goal);
    printf(", \"note\": \"%zu draws for %zu layers\"}\n", draws, layers);
    broad_trainer_close(NULL, supervised);
    broad_trainer_close(NULL, plain);
}

int main(int argc, char **argv)
{
    static const shape shapes[] = {{1793, 3072}, {60000, 784}}, quick[] = {{500, 300}, {5000, 100}};
    bench_words words = bench_words_read(argc, argv, (bench_words){.runs = 9, .threads = 2});
    if (words.runs > MOST_RUNS) words.runs = MOST_RUNS;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape *s = words.quick ? &quick[i] : &shapes[i];
        broad_data *data = make_data(s);
        bench_one_layer(data, s, &words);
        bench_supervised(data, s, &words);
        broad_data_free(data);
        fflush(stdout);
    }
    return 0;
}
