/* Words and figures of the programs that 'make bench' runs; bench/README.md says what they print. */
#ifndef BROAD_BENCH_WORDS_H
#define BROAD_BENCH_WORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_words {
    size_t runs, threads;
    int quick;
} bench_words;

/* --runs N --threads N [--quick]; what is not given stays. Ends the program where it is something else. */
static inline bench_words bench_words_read(int argc, char **argv, bench_words given)
{
    for (int i = 1; i < argc; i++) {
        size_t *number = strcmp(argv[i], "--runs") == 0 ? &given.runs : NULL;
        if (strcmp(argv[i], "--threads") == 0) number = &given.threads;
        if (number && i + 1 < argc) *number = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--quick") == 0) given.quick = 1;
        else given.runs = 0;
    }
    if (given.runs == 0 || given.threads == 0) {
        fprintf(stderr, "usage: %s [--runs N] [--threads N] [--quick]\n", argv[0]);
        exit(2);
    }
    return given;
}

static inline void bench_figures_print(const double *figures, size_t count)
{
    putchar('[');
    for (size_t i = 0; i < count; i++) printf("%s%.6g", i > 0 ? ", " : "", figures[i]);
    putchar(']');
}

#endif
