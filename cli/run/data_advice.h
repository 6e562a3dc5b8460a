/* Advice of `broad data`. */
#ifndef BROAD_CLI_RUN_DATA_ADVICE_H
#define BROAD_CLI_RUN_DATA_ADVICE_H

#include "broad/broad.h"

enum { DATA_ADVICE_MAX = 12, DATA_ADVICE_BYTES = 320 };

typedef struct data_advice {
    size_t count;
    char lines[DATA_ADVICE_MAX][DATA_ADVICE_BYTES];
} data_advice;

void data_advise(data_advice *advice, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rows of each class; freed with free(). NULL: out of memory, or not a classification. */
size_t *data_class_counts(const broad_data *data);
/* About targets that make training hard: few of a class, or many more of one than of another. */
void data_advise_targets(data_advice *advice, const broad_data *data, const size_t *counts);

#endif
