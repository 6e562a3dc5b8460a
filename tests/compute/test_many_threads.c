/* Many callers at once: 300 threads predict with one model, 50 train networks of their own. */
#include "small_runs.h"

#include <pthread.h>

enum { PREDICTING = 300, TRAINING = 50, ROWS = 300, SECONDS_MOST = 200 };

static broad_data *rows;
static double *inputs;

static int set_up(void **state)
{
    (void)state;
    problem_random r = {11};
    rows = small_data(0, ROWS, 5, 3);
    inputs = malloc(ROWS * 5 * sizeof *inputs);
    for (size_t i = 0; i < ROWS * 5; i++) inputs[i] = problem_normal(&r);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    broad_data_free(rows);
    free(inputs);
    return 0;
}

typedef struct caller {
    const broad_model *model;
    const double *expected;
    size_t number;
    int code;
} caller;

/* Pieces of another size for every thread, one row at a time among them. */
static void *predict(void *context)
{
    caller *c = context;
    size_t piece = 1 + c->number * 7 % 290;
    double scores[ROWS * 3];
    for (int repeat = 0; repeat < 2 && !c->code; repeat++) {
        for (size_t at = 0; at < ROWS && !c->code; at += piece) {
            size_t count = ROWS - at < piece ? ROWS - at : piece;
            c->code = broad_predict(scores + at * 3, c->model, inputs + at * 5, count, 0);
        }
        if (!c->code && memcmp(scores, c->expected, sizeof scores)) c->code = 1;
    }
    return NULL;
}

static void three_hundred_predict(void **state)
{
    (void)state;
    small_kind kind = {"", "kind=bscrls weights=joint features=4x10 enhance=60x2", 0};
    broad_options o = small_options(&kind, 2);
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, rows, &o));
    double expected[ROWS * 3];
    assert_ok(broad_predict(expected, model, inputs, ROWS, 0));
    pthread_t threads[PREDICTING];
    caller callers[PREDICTING] = {0};
    for (size_t i = 0; i < PREDICTING; i++) {
        callers[i] = (caller){model, expected, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, predict, &callers[i]), 0);
    }
    for (size_t i = 0; i < PREDICTING; i++) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < PREDICTING; i++)
        if (callers[i].code) fail_msg("thread %zu: %d", i, callers[i].code);
    broad_model_free(model);
}

static int fit(model_bytes *out, size_t number, size_t threads)
{
    broad_options o = small_options(&small_kinds[number % SMALL_KINDS], threads);
    broad_data *data = small_kinds[number % SMALL_KINDS].regress ? small_data(0, 60, 3, 0) : small_data(0, 60, 3, 2);
    broad_model *model = NULL;
    int status = broad_fit(&model, NULL, data, &o);
    if (status == BROAD_OK) status = broad_model_to_memory(&out->at, &out->count, model, 0);
    broad_model_free(model);
    broad_data_free(data);
    return status;
}

typedef struct learner {
    size_t number;
    int code;
    model_bytes bytes;
} learner;

static void *train(void *context)
{
    learner *l = context;
    l->code = fit(&l->bytes, l->number, 1 + l->number % 3);
    return NULL;
}

static void fifty_train(void **state)
{
    (void)state;
    pthread_t threads[TRAINING];
    learner learners[TRAINING] = {0};
    model_bytes alone[SMALL_KINDS] = {0};
    for (size_t k = 0; k < SMALL_KINDS; k++) assert_ok(fit(&alone[k], k, 1));
    for (size_t i = 0; i < TRAINING; i++) {
        learners[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, train, &learners[i]), 0);
    }
    for (size_t i = 0; i < TRAINING; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(learners[i].code, BROAD_OK);
        if (!small_same(&learners[i].bytes, &alone[i % SMALL_KINDS])) fail_msg("thread %zu: other bytes", i);
        broad_free(learners[i].bytes.at);
    }
    for (size_t k = 0; k < SMALL_KINDS; k++) broad_free(alone[k].at);
}

int main(void)
{
    alarm(SECONDS_MOST); /* a hang is a failure */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_hundred_predict),
        cmocka_unit_test(fifty_train),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
