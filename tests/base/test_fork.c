/* fork() after use, and while other threads train: the child trains and predicts, and gets the same bytes. */
#include "small_runs.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { SECONDS_MOST = 60, ROWS = 400 };

static broad_data *rows;
static broad_model *model;
static model_bytes expected;
static double expected_scores[ROWS * 3];

/* Large enough for packed products, and for several shards for the threads. */
static broad_options options_for(size_t threads)
{
    small_kind kind = {"", "kind=bscrls weights=joint features=4x10 enhance=110x1 range=1 learned-metric=no", 0};
    return small_options(&kind, threads);
}

static int train_and_compare(size_t threads)
{
    broad_options o = options_for(threads);
    broad_model *again = NULL;
    void *bytes = NULL;
    size_t count = 0;
    double *scores = malloc(sizeof expected_scores);
    if (broad_fit(&again, NULL, rows, &o)) return 11;
    if (broad_model_to_memory(&bytes, &count, again, 0)) return 12;
    if (count != expected.count || memcmp(bytes, expected.at, count)) return 13;
    if (broad_predict_data(scores, model, rows, THREADS(threads))) return 14;
    if (memcmp(scores, expected_scores, sizeof expected_scores)) return 15;
    free(scores);
    broad_free(bytes);
    broad_model_free(again);
    return 0;
}

/* Exit code of a child that does `work`; 1000 + the signal that ended it. */
static int in_child(int (*work)(void *context), void *context)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MOST);
        leave_process(work(context));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int train_in_child(void *context) { return train_and_compare(*(size_t *)context); }

static int fork_again(void *context)
{
    int code = train_in_child(context);
    return code ? code : in_child(train_in_child, context);
}

static int set_up(void **state)
{
    (void)state;
    broad_options o = options_for(2);
    rows = small_data(0, ROWS, 6, 3);
    assert_ok(broad_fit(&model, NULL, rows, &o));
    expected = model_bytes_of(model);
    assert_ok(broad_predict_data(expected_scores, model, rows, THREADS(2)));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    broad_data_free(rows);
    broad_model_free(model);
    broad_free(expected.at);
    return 0;
}

static void after_use(void **state)
{
    (void)state;
    for (size_t threads = 1; threads <= 3; threads++) assert_int_equal(in_child(fork_again, &threads), 0);
    assert_int_equal(train_and_compare(2), 0);
}

/* ---- with a trainer open: its threads are not in the child ---- */

static int go_on(void *context)
{
    broad_trainer *trainer = context;
    void *bytes = NULL;
    size_t count = 0;
    if (broad_trainer_enhance(trainer, 110, 1)) return 21;
    broad_model *grown = NULL;
    broad_trainer_close(&grown, trainer);
    int status = broad_model_to_memory(&bytes, &count, grown, 0);
    int same = !status && count == expected.count && memcmp(bytes, expected.at, count) == 0;
    broad_free(bytes);
    broad_model_free(grown);
    return status ? 22 : same ? 0 : 23;
}

static void with_an_open_trainer(void **state)
{
    (void)state;
    broad_options o = options_for(3);
    broad_trainer *trainer = NULL;
    assert_ok(broad_trainer_open(&trainer, rows, &o));
    assert_int_equal(in_child(go_on, trainer), 0);
    assert_int_equal(go_on(trainer), 0);
}

/* ---- while others train ---- */

typedef struct traffic {
    atomic_int stop, wrong;
    atomic_size_t done;
} traffic;

static void *train_on_and_on(void *context)
{
    traffic *t = context;
    while (!atomic_load(&t->stop)) {
        if (train_and_compare(2)) atomic_store(&t->wrong, 1);
        atomic_fetch_add(&t->done, 1);
    }
    return NULL;
}

static void while_others_train(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__ /* whose allocator does not wait for its locks to be free at a fork: the child may hang in it */
    skip();
#endif
    enum { OTHERS = 3, FORKS = 8 };
    traffic t = {0};
    pthread_t others[OTHERS];
#ifdef __SANITIZE_THREAD__ /* which does not let a child of a process with threads start any */
    size_t threads = 1;
#else
    size_t threads = 2;
#endif
    int code = 0; /* looked at when no thread uses what tear_down frees */
    for (int i = 0; i < OTHERS; i++) assert_int_equal(pthread_create(&others[i], NULL, train_on_and_on, &t), 0);
    for (int i = 0; i < FORKS && !code; i++) {
        code = in_child(train_in_child, &threads);
        usleep((useconds_t)(3700 * i));
    }
    atomic_store(&t.stop, 1);
    for (int i = 0; i < OTHERS; i++) pthread_join(others[i], NULL);
    assert_int_equal(code, 0);
    assert_false(atomic_load(&t.wrong));
    print_message("%d forks, %zu runs beside them\n", FORKS, atomic_load(&t.done));
}

int main(void)
{
    alarm(4 * SECONDS_MOST); /* a hang of this process is a failure too */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_use),
        cmocka_unit_test(with_an_open_trainer),
        cmocka_unit_test(while_others_train),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
