/*
 * Rows by a model file, as bits: bench/machines.py builds it for several machines and compares what they print.
 *
 *   predict_bits MODEL < ROWS      numbers with blanks between them
 *
 * Prints, for each row, the scores, then the probabilities or the ends of the 0.9 intervals where the model has an estimate;
 * every number as the 16 digits of its bits.
 */
#include <broad/broad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what)
{
    fprintf(stderr, "predict_bits: %s\n", what);
    return EXIT_FAILURE;
}

static void show(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        printf("%016" PRIx64 " ", bits);
    }
}

static int predict(const broad_predictor *predictor, double *x, double *scores, double *more, void *scratch)
{
    size_t inputs = broad_predictor_inputs(predictor), outputs = broad_predictor_outputs(predictor), i = 0;
    int classes = broad_predictor_task(predictor) == BROAD_TASK_CLASSIFY;
    while (scanf("%lf", &x[i]) == 1) {
        if (++i < inputs) continue;
        i = 0;
        if (broad_predictor_row(scores, predictor, x, scratch) != BROAD_OK) return failed(broad_error_message());
        int status = classes ? broad_predictor_probabilities(more, predictor, scores, 1)
                             : broad_predictor_intervals(more, predictor, scores, 1, 0.9);
        show(scores, outputs);
        if (status == BROAD_OK) show(more, classes ? outputs : 2 * outputs);
        printf("\n");
    }
    return i == 0 && feof(stdin) ? EXIT_SUCCESS : failed("what was given are no whole rows of numbers");
}

int main(int argc, char **argv)
{
    broad_predictor *predictor = NULL;
    if (argc != 2) return failed("usage: predict_bits MODEL < ROWS");
    if (broad_predictor_load(&predictor, argv[1]) != BROAD_OK) return failed(broad_error_message());
    size_t inputs = broad_predictor_inputs(predictor), outputs = broad_predictor_outputs(predictor);
    double *x = malloc(inputs * sizeof *x), *scores = malloc(3 * outputs * sizeof *scores);
    void *scratch = malloc(broad_predictor_scratch(predictor, 1));
    int status =
        x && scores && scratch ? predict(predictor, x, scores, scores + outputs, scratch) : failed("out of memory");
    free(x);
    free(scores);
    free(scratch);
    broad_predictor_free(predictor);
    return status;
}
