/* Long calls report what they do, on the thread that made them, and end with BROAD_INTERRUPTED when asked to. */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "helper.h"

enum { ROWS = 20000, INPUTS = 4 };

typedef struct watcher {
    pthread_t thread;
    const char *stage;
    size_t calls, stop_at; /* the call that asks to stop; 0: none does */
    double last, longest;
} watcher;

static int on_progress(const broad_progress *progress, void *context)
{
    watcher *w = context;
    double now = broad__seconds();
    assert_true(pthread_equal(w->thread, pthread_self()));
    assert_string_equal(progress->stage, w->stage);
    assert_true(progress->done <= progress->total);
    if (w->calls++) w->longest = fmax(w->longest, now - w->last);
    w->last = now;
    return w->stop_at && w->calls >= w->stop_at;
}

static broad_data *make_data(void)
{
    static double x[ROWS][INPUTS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < INPUTS; j++) x[i][j] = (double)(i * (7 + 2 * j) % 101) / 101;
        y[i] = x[i][0] * x[i][1] + x[i][2];
    }
    return data_of_values(&x[0][0], y, ROWS, INPUTS);
}

static broad_model *make_model(const broad_data *data)
{
    broad_options options;
    broad_model *model = NULL;
    broad_options_init(&options);
    assert_ok(broad_options_preset(&options, BROAD_PRESET_PAPER));
    assert_ok(broad_options_set(&options, "features", "5x10"));
    assert_ok(broad_options_set(&options, "enhance", "50x3"));
    assert_ok(broad_fit(&model, NULL, data, &options));
    return model;
}

typedef struct scene {
    broad_data *data;
    broad_model *model;
    double *scores;
} scene;

/* One call of each kind. */
static int call(const scene *s, const char *stage, const broad_run_options *run)
{
    if (strcmp(stage, "predict") == 0) return broad_predict_data(s->scores, s->model, s->data, run);
    if (strcmp(stage, "verify") == 0) {
        broad_verdict verdict = {.size = sizeof verdict};
        return broad_verify(&verdict, s->model, s->data, run);
    }
    if (strcmp(stage, "curve") == 0) {
        broad_curve_point points[3] = {{.size = sizeof *points}};
        return broad_model_curve_loo(points, s->model, s->data, run);
    }
    if (strcmp(stage, "stats") == 0) {
        broad_stats *stats = NULL;
        int status = broad_stats_new(&stats, s->model, s->data, run);
        assert_true((status == BROAD_OK) == (stats != NULL));
        broad_stats_free(stats);
        return status;
    }
    broad_metrics metrics = {.size = sizeof metrics};
    int status = broad_eval(&metrics, s->model, s->data, run);
    assert_true((status == BROAD_OK) == (metrics.rows == ROWS));
    broad_metrics_clear(&metrics);
    return status;
}

static void calls_report_and_stop(void **state)
{
    (void)state;
    static const char *const stages[] = {"predict", "eval", "verify", "curve", "stats"};
    scene s = {.data = make_data()};
    s.model = make_model(s.data);
    s.scores = calloc(ROWS, sizeof *s.scores);
    for (size_t k = 0; k < sizeof stages / sizeof stages[0]; k++) {
        for (size_t threads = 1; threads <= 3; threads += 2) {
            watcher w = {.thread = pthread_self(), .stage = stages[k]};
            broad_run_options run = {
                .size = sizeof run, .threads = threads, .progress = on_progress, .progress_context = &w};
            assert_ok(call(&s, stages[k], &run));
            assert_true(w.calls >= 1);
            w = (watcher){.thread = pthread_self(), .stage = stages[k], .stop_at = 1};
            assert_fails(call(&s, stages[k], &run), BROAD_INTERRUPTED, "stopped by the progress function");
            assert_int_equal(w.calls, 1);
        }
        assert_ok(call(&s, stages[k], NULL)); /* a request to stop does not outlive its call */
    }
    free(s.scores);
    broad_model_free(s.model);
    broad_data_free(s.data);
}

static void reading_reports_and_stops(void **state)
{
    (void)state;
    char path[] = "/tmp/broad_watch_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    for (int i = 0; i < 300000; i++) fprintf(file, "%d,%d,%d,%d\n", i % 13, i % 7, i % 5, i % 3);
    fclose(file);
    for (size_t stop_at = 0; stop_at <= 2; stop_at++) {
        watcher w = {.thread = pthread_self(), .stage = "read", .stop_at = stop_at};
        broad_read_options read;
        broad_read_options_init(&read);
        read.threads = 2;
        read.progress = on_progress;
        read.progress_context = &w;
        broad_data *data = NULL;
        int status = broad_data_read(&data, path, &read);
        assert_true(w.calls >= 1);
        int asked = stop_at && w.calls >= stop_at;
        assert_int_equal(status, asked ? BROAD_INTERRUPTED : BROAD_OK);
        assert_true((data == NULL) == asked);
        broad_data_free(data);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_report_and_stop),
        cmocka_unit_test(reading_reports_and_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
