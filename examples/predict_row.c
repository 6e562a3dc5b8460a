/*
 * Predicts rows with a model file and nothing else: no threads, no allocation after the start.
 *
 *   predict_row MODEL VALUE...     one row, from the command line
 *   predict_row MODEL < ROWS       rows from standard input, numbers with blanks or commas between them, one row a line
 *
 * Prints, for each row, the class and the score of each class, or the predicted values.
 * Build: cc predict_row.c $(pkg-config --cflags --libs broad) -o predict_row
 */
#include <broad/broad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct predicting {
    broad_predictor *predictor;
    size_t inputs, outputs;
    double *x, *scores;
    void *scratch;
} predicting;

static int failed(const char *what)
{
    fprintf(stderr, "predict_row: %s\n", what);
    return EXIT_FAILURE;
}

static int predict(const predicting *p)
{
    if (broad_predictor_row(p->scores, p->predictor, p->x, p->scratch) != BROAD_OK)
        return failed(broad_error_message());
    if (broad_predictor_task(p->predictor) == BROAD_TASK_CLASSIFY)
        printf("%s ", broad_predictor_output_name(p->predictor, broad_predictor_best_class(p->predictor, p->scores)));
    for (size_t c = 0; c < p->outputs; c++) printf("%.17g%c", p->scores[c], c + 1 < p->outputs ? ' ' : '\n');
    return EXIT_SUCCESS;
}

static int predict_words(const predicting *p, char **words, size_t count)
{
    if (count != p->inputs) {
        fprintf(stderr, "predict_row: %zu values where the model has %zu inputs\n", count, p->inputs);
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < count; i++) {
        char *end;
        p->x[i] = strtod(words[i], &end);
        if (end == words[i] || *end) return failed("a value is not a number");
    }
    return predict(p);
}

/* 1: a row was read, 0: there are no more, -1: what is there is no row. */
static int read_row(const predicting *p)
{
    for (size_t i = 0; i < p->inputs; i++) {
        if (scanf("%lf", &p->x[i]) != 1) return i == 0 && feof(stdin) ? 0 : -1;
        int next = getchar();
        if (next != ',') ungetc(next, stdin);
    }
    return 1;
}

static int predict_lines(const predicting *p)
{
    int found, status = EXIT_SUCCESS;
    while (status == EXIT_SUCCESS && (found = read_row(p)) != 0)
        status = found < 0 ? failed("a row on standard input is cut short or has something that is not a number")
                           : predict(p);
    return status;
}

int main(int argc, char **argv)
{
    predicting p = {0};
    if (argc < 2) return failed("usage: predict_row MODEL [VALUE...]");
    if (broad_predictor_load(&p.predictor, argv[1]) != BROAD_OK) return failed(broad_error_message());
    p.inputs = broad_predictor_inputs(p.predictor);
    p.outputs = broad_predictor_outputs(p.predictor);
    p.x = malloc(p.inputs * sizeof *p.x);
    p.scores = malloc(p.outputs * sizeof *p.scores);
    p.scratch = malloc(broad_predictor_scratch(p.predictor, 1));
    int status = !p.x || !p.scores || !p.scratch ? failed("out of memory")
                 : argc > 2                      ? predict_words(&p, argv + 2, (size_t)argc - 2)
                                                 : predict_lines(&p);
    free(p.x);
    free(p.scores);
    free(p.scratch);
    broad_predictor_free(p.predictor);
    return status;
}
