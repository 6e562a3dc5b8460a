/*
 * Prediction through the C interface, timed when told to, so that a rival in another process can be timed in turns.
 *
 *   bench_predict MODEL DATA
 *
 * Reads a word and a number a line from standard input, and answers with a figure a line:
 *   row N        seconds of broad_predictor_row() for one row, over N calls with rows of DATA in turn
 *   rows N       seconds of broad_predictor_rows() for the first N rows, on one thread
 *   threads N    seconds of broad_predict_data() for all rows on N threads
 *   load N       seconds of broad_predictor_load(), over N calls
 *   read N       seconds to only add up as many bytes as the model file has, over N times: no row can be faster than that
 *   held 0       bytes that the predictor holds, and on the same line those of scratch for one row and for many
 *   check N      the sum of the scores of the first N rows, and the largest difference between the ways above
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "broad/broad.h"

typedef struct work {
    const char *path;
    broad_model *model;
    broad_predictor *predictor;
    broad_data *data;
    size_t rows, inputs, outputs;
    void *scratch;
    size_t scratch_bytes;
    double *scores, *again;
} work;

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "bench_predict: %s\n", broad_error_message());
    exit(1);
}

static void *room(size_t bytes)
{
    void *block = malloc(bytes);
    if (block) return block;
    fprintf(stderr, "bench_predict: out of memory\n");
    exit(1);
}

static void work_open(work *w, const char *model, const char *data)
{
    broad_read_options read;
    *w = (work){.path = model};
    must(broad_model_load(&w->model, model));
    must(broad_predictor_load(&w->predictor, model));
    broad_read_options_init(&read);
    read.model = w->model;
    read.target_optional = 1;
    must(broad_data_read(&w->data, data, &read));
    w->rows = broad_data_rows(w->data);
    w->inputs = broad_predictor_inputs(w->predictor);
    w->outputs = broad_predictor_outputs(w->predictor);
    w->scratch_bytes = broad_predictor_scratch(w->predictor, w->rows);
    w->scratch = room(w->scratch_bytes);
    w->scores = room(w->rows * w->outputs * sizeof *w->scores);
    w->again = room(w->rows * w->outputs * sizeof *w->again);
}

static void work_close(work *w)
{
    free(w->scratch);
    free(w->scores);
    free(w->again);
    broad_data_free(w->data);
    broad_predictor_free(w->predictor);
    broad_model_free(w->model);
}

static void predict_each(const work *w, double *scores, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t row = i % w->rows;
        must(broad_predictor_row(scores + row * w->outputs, w->predictor, broad_data_row(w->data, row), w->scratch));
    }
}

static void predict_rows(const work *w, double *scores, size_t count)
{
    must(
        broad_predictor_rows(scores, w->predictor, broad_data_row(w->data, 0), count, 0, w->scratch, w->scratch_bytes));
}

static double largest_difference(const work *w, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count * w->outputs; i++) most = fmax(most, fabs(w->scores[i] - w->again[i]));
    return most;
}

static void check(work *w, size_t count)
{
    broad_run_options two = {.size = sizeof two, .threads = 2};
    double sum = 0;
    predict_rows(w, w->scores, count);
    for (size_t i = 0; i < count * w->outputs; i++) sum += w->scores[i];
    predict_each(w, w->again, count);
    double most = largest_difference(w, count);
    must(broad_predict_data(w->again, w->model, w->data, &two));
    printf("%.17g %g\n", sum, fmax(most, largest_difference(w, count)));
}

/* Many sums at a time, so that adding takes less time than reading. */
static inline __attribute__((always_inline)) double add_up_any(const double *numbers, size_t count)
{
    enum { SUMS = 32 };
    double sums[SUMS] = {0}, total = 0;
    for (size_t i = 0; i + SUMS <= count; i += SUMS)
        for (size_t j = 0; j < SUMS; j++) sums[j] += numbers[i + j];
    for (size_t j = 0; j < SUMS; j++) total += sums[j];
    return total;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static double add_up_avx2(const double *numbers, size_t count)
{
    return add_up_any(numbers, count);
}
#endif

static double add_up(const double *numbers, size_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return add_up_avx2(numbers, count);
#endif
    return add_up_any(numbers, count);
}

static double time_reading(const work *w, size_t times)
{
    FILE *file = fopen(w->path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) must(BROAD_IO);
    size_t bytes = (size_t)ftell(file);
    double *numbers = room(bytes), total = 0;
    fclose(file);
    memset(numbers, 0, bytes);
    double began = broad__seconds();
    for (size_t i = 0; i < times; i++) total += add_up(numbers, bytes / sizeof *numbers);
    double seconds = (broad__seconds() - began) / (double)times;
    free(numbers);
    return total == 0 ? seconds : 0;
}

static void answer(work *w, const char *word, size_t count)
{
    broad_run_options run = {.size = sizeof run, .threads = count};
    double began = broad__seconds();
    size_t rows = count < w->rows ? count : w->rows;
    if (strcmp(word, "check") == 0) {
        check(w, rows);
        return;
    }
    if (strcmp(word, "held") == 0) {
        printf("%zu %zu %zu\n", broad_predictor_bytes(w->predictor), broad_predictor_scratch(w->predictor, 1),
               w->scratch_bytes);
        return;
    }
    if (strcmp(word, "read") == 0) {
        printf("%.9g\n", time_reading(w, count));
        return;
    }
    double parts = 1;
    if (strcmp(word, "row") == 0) {
        predict_each(w, w->scores, count);
        parts = (double)count;
    } else if (strcmp(word, "rows") == 0) {
        predict_rows(w, w->scores, rows);
    } else if (strcmp(word, "threads") == 0) {
        must(broad_predict_data(w->scores, w->model, w->data, &run));
    } else if (strcmp(word, "load") == 0) {
        for (size_t i = 0; i < count; i++) {
            broad_predictor *loaded = NULL;
            must(broad_predictor_load(&loaded, w->path));
            broad_predictor_free(loaded);
        }
        parts = (double)count;
    } else {
        fprintf(stderr, "bench_predict: no such word: %s\n", word);
        exit(2);
    }
    printf("%.9g\n", (broad__seconds() - began) / parts);
}

int main(int argc, char **argv)
{
    char line[128], word[16];
    size_t count = 0;
    work w;
    if (argc != 3) {
        fprintf(stderr, "usage: bench_predict MODEL DATA\n");
        return 2;
    }
    work_open(&w, argv[1], argv[2]);
    while (fgets(line, sizeof line, stdin) && sscanf(line, "%15s %zu", word, &count) == 2) {
        answer(&w, word, count);
        fflush(stdout);
    }
    work_close(&w);
    return 0;
}
