/*
 * Many threads predict with one predictor at the same time, each with scratch of its own: no lock, no copy of the model.
 *
 *   predict_threads MODEL
 *
 * Build: cc predict_threads.c $(pkg-config --cflags --libs broad) -pthread -o predict_threads
 */
#include <broad/broad.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROWS = 2000 };

typedef struct work {
    const broad_predictor *predictor;
    unsigned seed;
    double sum; /* of all scores */
    int status;
} work;

static void *predict(void *given)
{
    work *w = given;
    size_t inputs = broad_predictor_inputs(w->predictor), outputs = broad_predictor_outputs(w->predictor);
    double *x = malloc(inputs * sizeof *x), *scores = malloc(outputs * sizeof *scores);
    void *scratch = malloc(broad_predictor_scratch(w->predictor, 1));
    for (size_t i = 0; x && scores && scratch && i < ROWS && w->status == BROAD_OK; i++) {
        for (size_t j = 0; j < inputs; j++) {
            w->seed = w->seed * 1664525u + 1013904223u;
            x[j] = (double)(w->seed >> 8) / (1 << 23) - 1;
        }
        w->status = broad_predictor_row(scores, w->predictor, x, scratch);
        for (size_t c = 0; c < outputs; c++) w->sum += scores[c];
    }
    free(x);
    free(scores);
    free(scratch);
    return NULL;
}

int main(int argc, char **argv)
{
    broad_predictor *predictor = NULL;
    if (argc != 2 || broad_predictor_load(&predictor, argv[1]) != BROAD_OK)
        return fprintf(stderr, "predict_threads: %s\n",
                       argc == 2 ? broad_error_message() : "usage: predict_threads MODEL"),
               EXIT_FAILURE;
    pthread_t threads[THREADS];
    work works[THREADS], alone = {predictor, 0, 0, BROAD_OK};
    int wrong = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        works[i] = alone; /* the same rows for each, so that the results can be compared */
        if (pthread_create(&threads[i], NULL, predict, &works[i]) != 0) return EXIT_FAILURE;
    }
    predict(&alone);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += works[i].status != BROAD_OK || works[i].sum != alone.sum;
    }
    printf("%d threads of %d rows each: %s\n", THREADS, ROWS, wrong ? "they differ" : "the same bits in all of them");
    broad_predictor_free(predictor);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
