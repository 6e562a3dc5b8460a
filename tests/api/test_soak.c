/*
 * A long life in one process: models are trained, learn, are saved and loaded, and predict from 64 threads, round after round.
 * Predictions stay the same to the bit, and neither memory nor open files become more. BROAD_SOAK_SECONDS: how long (a moment);
 * BROAD_SOAK_PAUSE: seconds between rounds (none).
 */
#include "helper.h"

#include <dirent.h>
#include <pthread.h>

#include "base/clock.h"
#include "problem.h"

enum { THREADS_AT_ONCE = 64, ROWS = 120, INPUTS = 4, WARM_UP = 12, LEAST_ROUNDS = 8, GROWTH_MOST = 8 << 20 };

static double x[ROWS * INPUTS], y[ROWS];

typedef struct worker {
    const broad_predictor *predictor;
    double expected[ROWS];
    size_t rounds;
    int wrong;
} worker;

static size_t open_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static size_t memory_used(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%lu %lu", &pages, &resident) != 2) resident = 0;
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Row by row and all at once, each with a scratch of its own. */
static void *predict_often(void *context)
{
    worker *w = context;
    double scores[ROWS];
    size_t bytes = broad_predictor_scratch(w->predictor, ROWS);
    void *scratch = malloc(bytes);
    for (size_t i = 0; i < w->rounds; i++) {
        w->wrong |= broad_predictor_rows(scores, w->predictor, x, ROWS, 0, scratch, bytes) != BROAD_OK;
        w->wrong |= memcmp(scores, w->expected, sizeof scores) != 0;
        for (size_t row = i % 7; row < ROWS; row += 7) {
            w->wrong |= broad_predictor_row(scores, w->predictor, x + row * INPUTS, scratch) != BROAD_OK;
            w->wrong |= memcmp(scores, w->expected + row, sizeof *scores) != 0;
        }
    }
    free(scratch);
    return NULL;
}

typedef struct crowd {
    broad_predictor *predictor; /* its own; NULL: no thread predicts */
    worker workers[THREADS_AT_ONCE];
    pthread_t threads[THREADS_AT_ONCE];
} crowd;

/* Takes the predictor over, and lets all threads predict by it. */
static void crowd_start(crowd *c, broad_predictor *predictor)
{
    size_t bytes = broad_predictor_scratch(predictor, ROWS);
    void *scratch = malloc(bytes);
    c->predictor = predictor;
    c->workers[0] = (worker){.predictor = predictor, .rounds = 5};
    assert_ok(broad_predictor_rows(c->workers[0].expected, predictor, x, ROWS, 0, scratch, bytes));
    free(scratch);
    for (size_t i = 1; i < THREADS_AT_ONCE; i++) c->workers[i] = c->workers[0];
    for (size_t i = 0; i < THREADS_AT_ONCE; i++)
        assert_int_equal(pthread_create(&c->threads[i], NULL, predict_often, &c->workers[i]), 0);
}

static void crowd_end(crowd *c)
{
    if (!c->predictor) return;
    for (size_t i = 0; i < THREADS_AT_ONCE; i++) pthread_join(c->threads[i], NULL);
    for (size_t i = 0; i < THREADS_AT_ONCE; i++) assert_false(c->workers[i].wrong);
    broad_predictor_free(c->predictor);
    c->predictor = NULL;
}

/* Trained, taught further rows, saved and loaded, while all threads still predict by the model of the round before; then by this one. */
static void one_round(crowd *c, const char *path, size_t round)
{
    static const char *const kinds[] = {"brls", "bls", "bscrls", "rvfl", "scn"};
    broad_options o;
    broad_model *model = NULL;
    broad_stats *stats = NULL;
    broad_predictor *predictor = NULL;
    broad_options_init(&o);
    assert_ok(broad_options_set(&o, "preset", "paper"));
    assert_ok(broad_options_set(&o, "kind", kinds[round % 5]));
    assert_ok(broad_options_set(&o, "enhance", "6x2"));
    if (round % 5 < 3) assert_ok(broad_options_set(&o, "features", "2x3"));
    o.lambda = 0.01;
    o.threads = 1 + round % 3;
    o.seed = round % 10; /* the same rounds come again */
    broad_data *data = data_of_values(x, y, ROWS / 2, INPUTS);
    broad_data *more = data_of_values(x + ROWS / 2 * INPUTS, y + ROWS / 2, ROWS / 2, INPUTS);
    assert_ok(broad_fit(&model, NULL, data, &o));
    if (round % 5 == 0) {
        assert_ok(broad_stats_new(&stats, model, data, THREADS(2)));
        assert_ok(broad_stats_learn(stats, model, more, THREADS(2)));
    }
    assert_ok(broad_model_save(model, path, 0));
    assert_ok(broad_predictor_load(&predictor, path));
    crowd_end(c);
    crowd_start(c, predictor);
    broad_stats_free(stats);
    broad_model_free(model);
    broad_data_free(data);
    broad_data_free(more);
}

static double from_environment(const char *name, double otherwise)
{
    return getenv(name) ? strtod(getenv(name), NULL) : otherwise;
}

static void memory_and_files_stay_flat(void **state)
{
    (void)state;
    static crowd threads;
    char folder[HELPER_PATH], path[HELPER_PATH];
    double seconds = from_environment("BROAD_SOAK_SECONDS", 0.5), pause = from_environment("BROAD_SOAK_PAUSE", 0);
    size_t rounds = 0, warm = 0, files = 0, memory = 0;
    problem_random r = {5};
    for (size_t i = 0; i < ROWS * INPUTS; i++) x[i] = problem_normal(&r);
    for (size_t i = 0; i < ROWS; i++) y[i] = sin(x[i * INPUTS] + x[i * INPUTS + 1]);
    temporary_folder(folder);
    join_path(path, folder, "m.broad");
    double began = broad__seconds();
    for (; !warm || rounds < warm + LEAST_ROUNDS || broad__seconds() - began < seconds; rounds++) {
        if (!warm && rounds >= WARM_UP && broad__seconds() - began >= seconds / 4) {
            crowd_end(&threads);
            warm = rounds;
            files = open_files();
            memory = memory_used();
        }
        one_round(&threads, path, rounds);
        usleep((useconds_t)(1e6 * pause));
    }
    crowd_end(&threads);
    size_t files_now = open_files(), memory_now = memory_used();
    print_message("%zu rounds, %d threads: %zu files open, then %zu; %.1f MB, then %.1f MB\n", rounds, THREADS_AT_ONCE,
                  files, files_now, (double)memory / 1e6, (double)memory_now / 1e6);
    assert_int_equal(files_now, files);
    if (!HELPER_SANITIZED) assert_true(memory_now < memory + GROWTH_MOST); /* a sanitizer keeps what was freed */
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_and_files_stay_flat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
