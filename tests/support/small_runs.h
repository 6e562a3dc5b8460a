/* Small tables and networks of every kind, for suites that train very often. */
#ifndef BROAD_TESTS_SUPPORT_SMALL_RUNS_H
#define BROAD_TESTS_SUPPORT_SMALL_RUNS_H

#include "problem.h"

/* Rows [first, first + rows) of an endless table; classes > 0: labels "a", "b", ..., else one target. */
static inline broad_data *small_data(size_t first, size_t rows, size_t inputs, size_t classes)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    double *x = malloc(rows * inputs * sizeof *x), *values = malloc(rows * sizeof *values);
    const char **labels = malloc(rows * sizeof *labels);
    for (size_t i = 0; i < rows; i++) {
        problem_random r = {1000003 * (first + i) + 17};
        double sum = 0;
        for (size_t j = 0; j < inputs; j++) {
            x[i * inputs + j] = 2 * problem_uniform(&r) - 1;
            sum += x[i * inputs + j] * (double)(j + 1);
        }
        values[i] = sin(2 * sum) + 0.2 * problem_normal(&r);
        if (classes) labels[i] = names[(first + i < classes ? first + i : (size_t)(fabs(sum) * 2)) % classes];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = inputs, arrays.x = x;
    if (classes) arrays.labels = labels;
    else arrays.values = values, arrays.outputs = 1;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    free(x), free(values), free(labels);
    return data;
}

typedef struct small_kind {
    const char *title, *settings; /* settings: "name=value name=value ..." */
    int regress;
} small_kind;

static const small_kind small_kinds[] = {
    {"bscrls, chain", "kind=bscrls preset=paper weights=chain features=2x3 enhance=4x2", 0},
    {"bscrls, joint", "kind=bscrls weights=joint features=2x3 enhance=4x2 lambda=auto", 0},
    {"bscrls, as it comes", "kind=bscrls enhance=4x2", 1},
    {"brls", "kind=brls features=2x3 enhance=4x2", 1},
    {"bls, autoencoder", "kind=bls features=2x3 enhance=4x1 feature-weights=autoencoder", 0},
    {"scn, formula", "kind=scn weights=chain enhance=1x3", 1},
    {"scn, window", "kind=scn weights=window window=2 enhance=1x3", 0},
    {"scn, joint", "kind=scn weights=joint enhance=2x2", 1},
    {"rvfl", "kind=rvfl enhance=5x1", 0},
};
enum { SMALL_KINDS = sizeof small_kinds / sizeof small_kinds[0] };

static inline broad_options small_options(const small_kind *kind, size_t threads)
{
    char text[256], *rest = text;
    broad_options o;
    broad_options_init(&o);
    snprintf(text, sizeof text, "%s", kind->settings);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = 0;
        assert_ok(broad_options_set(&o, word, value));
    }
    o.threads = threads;
    o.seed = 5;
    return o;
}

/* Through the file's bytes and into another trainer, as another process would. */
static inline broad_trainer *small_pass_on(broad_trainer *trainer, const broad_data *data, const broad_options *run)
{
    broad_model *model = NULL, *loaded = NULL;
    broad_trainer *next = NULL;
    broad_trainer_close(&model, trainer);
    model_bytes b = model_bytes_of(model);
    assert_ok(broad_model_from_memory(&loaded, b.at, b.count));
    assert_ok(broad_trainer_resume(&next, loaded, data, run, 0));
    broad_free(b.at);
    broad_model_free(model);
    broad_model_free(loaded);
    return next;
}

static inline int small_same(const model_bytes *a, const model_bytes *b)
{
    return a->count == b->count && memcmp(a->at, b->at, a->count) == 0;
}

#endif
