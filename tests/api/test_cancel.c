/* Training can be stopped at every moment: the progress function is asked all the time, and after it said stop there is soon
 * a valid model, or none. */
#include "base/clock.h"
#include "base/watch.h"
#include "helper.h"

enum { INPUTS = 3 };

/* At most this much of the calling thread's processor time from one call of the progress function to the next, and from the
 * request to stop to the end. A fifth of that is promised; a build with sanitizers, and a slow machine, take longer. */
static const double MOST_SECONDS = HELPER_SANITIZED ? 20 : 1;

typedef struct watcher {
    size_t calls, stop_at; /* from that call on it asks to stop; 0: never */
    double last, longest, asked;
} watcher;

static void look_at_clock(watcher *w)
{
    double now = broad__thread_seconds();
    if (now - w->last > w->longest) w->longest = now - w->last;
    w->last = now;
}

static int on_progress(const broad_progress *progress, void *context)
{
    watcher *w = context;
    assert_non_null(progress->stage);
    assert_true(progress->done <= progress->total);
    look_at_clock(w);
    w->calls++;
    if (w->calls == w->stop_at) w->asked = w->last;
    return w->stop_at && w->calls >= w->stop_at;
}

static broad_data *make_data(size_t rows, size_t first)
{
    double *x = malloc(rows * INPUTS * sizeof *x), *y = malloc(rows * sizeof *y);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < INPUTS; j++) x[i * INPUTS + j] = sin((double)((i + first) * (7 + 2 * j) % 1009));
        y[i] = x[i * INPUTS] * x[i * INPUTS + 1] + cos(3 * x[i * INPUTS + 2]);
    }
    broad_data *data = data_of_values(x, y, rows, INPUTS);
    free(x);
    free(y);
    return data;
}

static void assert_valid(const broad_model *model, const broad_data *data)
{
    broad_verdict verdict;
    double out[8];
    broad_verdict_init(&verdict);
    assert_true(broad_model_layers(model) > 0);
    assert_ok(broad_verify(&verdict, model, data, THREADS(1)));
    if (!verdict.holds) fail_msg("the certificate of a stopped run: %s", verdict.reason);
    assert_ok(broad_predict(out, model, broad_data_row(data, 0), 1, 0));
    assert_true(isfinite(out[0]));
}

/* ---- a fit ----------------------------------------------------------------------------------------------------- */

static const char *const ways[][2] = {
    {"auto", "kind=bscrls"},
    {"auto", "kind=bls"},
    {"paper", "kind=bscrls"},
    {"paper", "kind=brls;weights=joint;lambda=auto"},
    {"paper", "kind=scn;enhance=5x6;weights=window"},
    {"paper", "feature-weights=autoencoder"},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void set_each(broad_options *options, const char *text)
{
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *part = strtok_r(copy, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
        char *value = strchr(part, '=');
        *value++ = 0;
        assert_ok(broad_options_set(options, part, value));
    }
}

static broad_options options_of(size_t way, watcher *w)
{
    broad_options options;
    broad_options_init(&options);
    assert_ok(broad_options_set(&options, "preset", ways[way][0]));
    assert_ok(broad_options_set(&options, "features", "6x20"));
    assert_ok(broad_options_set(&options, "enhance", "30x3"));
    set_each(&options, ways[way][1]);
    options.threads = 2;
    options.progress = on_progress;
    options.progress_context = w;
    return options;
}

/* Stops at one moment; 0: it had ended by then. */
static int stop_fit(const broad_data *data, size_t way, size_t stop_at)
{
    watcher w = {.stop_at = stop_at};
    broad_options options = options_of(way, &w);
    broad_model *model = NULL;
    int status = broad_fit(&model, NULL, data, &options), asked = w.calls >= stop_at;
    if (asked) assert_true(broad__thread_seconds() - w.asked < MOST_SECONDS);
    if (status == BROAD_INTERRUPTED) {
        assert_true(asked);
        assert_null(model);
        return 1;
    }
    assert_ok(status);
    assert_valid(model, data);
    broad_model_free(model);
    return asked;
}

static void stopped_at_any_moment(void **state)
{
    (void)state;
    broad_data *data = make_data(100, 0);
    double interval = broad__watch_interval;
    size_t stops = 0;
    broad__watch_interval = 0; /* asked as often as it can be: every moment at which a run can be stopped */
    for (size_t way = 0; way < WAYS; way++)
        for (size_t stop_at = 1, more = 1; more; stop_at += stop_at) {
            more = (size_t)stop_fit(data, way, stop_at);
            stops += more;
        }
    broad__watch_interval = interval;
    print_message("stopped %zu times\n", stops);
    assert_true(stops >= 5 * WAYS);
    broad_data_free(data);
}

/* ---- increments ------------------------------------------------------------------------------------------------ */

static int advance(broad_trainer *trainer, const broad_data *more, size_t what)
{
    if (what == 0) return broad_trainer_enhance(trainer, 20, 2);
    if (what == 1) return broad_trainer_features(trainer, 1, 10, 10);
    return broad_trainer_learn(trainer, more, 20, 1, BROAD_LEARN_ALL_ROWS);
}

/* The increment is whole, or, where weights are joint, not there at all; and the trainer goes on. */
static int stop_growth(broad_data **tables, size_t way, size_t what, size_t stop_at)
{
    watcher w = {0};
    broad_options options = options_of(way, &w);
    broad_trainer *trainer = NULL;
    assert_ok(broad_trainer_open(&trainer, tables[0], &options));
    assert_ok(broad_trainer_enhance(trainer, 30, 2));
    size_t layers = broad_model_layers(broad_trainer_model(trainer)), rows = broad_data_rows(tables[0]);
    w = (watcher){.stop_at = stop_at};
    int status = advance(trainer, tables[1], what), asked = w.calls >= stop_at;
    const broad_model *model = broad_trainer_model(trainer);
    if (status == BROAD_INTERRUPTED) {
        assert_int_equal(broad_model_layers(model), layers);
        assert_int_equal(broad_model_rows(model), rows);
    } else {
        assert_ok(status);
    }
    assert_valid(model, tables[broad_model_rows(model) > rows ? 2 : 0]);
    w = (watcher){0};
    assert_ok(broad_trainer_enhance(trainer, 20, 1));
    model = broad_trainer_model(trainer);
    assert_valid(model, tables[broad_model_rows(model) > rows ? 2 : 0]);
    broad_trainer_close(NULL, trainer);
    return asked;
}

static void increments_stopped(void **state)
{
    (void)state;
    broad_data *tables[3] = {make_data(80, 0), make_data(30, 500), NULL};
    double interval = broad__watch_interval;
    broad__watch_interval = 0;
    assert_ok(broad_data_append(&tables[2], tables[0], tables[1]));
    for (size_t way = 0; way < 3; way += 2)
        for (size_t what = 0; what < 3; what++)
            for (size_t stop_at = 1; stop_growth(tables, way, what, stop_at); stop_at *= 8) continue;
    broad__watch_interval = interval;
    for (size_t i = 0; i < 3; i++) broad_data_free(tables[i]);
}

/* ---- how often it is asked ------------------------------------------------------------------------------------- */

static void asked_all_the_time(void **state)
{
    (void)state;
    broad_data *data = make_data(HELPER_SANITIZED ? 300 : 600, 0);
    watcher w = {.last = broad__thread_seconds()};
    broad_options options;
    broad_model *model = NULL;
    broad_options_init(&options);
    options.progress = on_progress;
    options.progress_context = &w;
    options.threads = 1;
    assert_ok(broad_fit(&model, NULL, data, &options));
    look_at_clock(&w);
    print_message("%zu calls, at most %.2f s apart\n", w.calls, w.longest);
    assert_true(w.longest < MOST_SECONDS);
    broad_model_free(model);
    broad_data_free(data);
}

/* A progress function that uses the library is not watched by the call that it was called from. */
static int predict_meanwhile(const broad_progress *progress, void *context)
{
    (void)progress;
    watcher *w = context;
    broad_data *data = make_data(300, 0);
    broad_options options;
    broad_model *model = NULL;
    broad_options_init(&options);
    assert_ok(broad_options_set(&options, "preset", "paper"));
    assert_ok(broad_options_set(&options, "enhance", "10x2"));
    assert_true(w->last == 0);
    w->last = 1;
    if (w->calls++ < 1) assert_ok(broad_fit(&model, NULL, data, &options));
    w->last = 0;
    broad_model_free(model);
    broad_data_free(data);
    return 0;
}

static void library_in_the_progress_function(void **state)
{
    (void)state;
    watcher w = {0};
    broad_data *data = make_data(150, 0);
    broad_options options = options_of(0, &w);
    broad_model *model = NULL;
    options.progress = predict_meanwhile;
    assert_ok(broad_fit(&model, NULL, data, &options));
    assert_valid(model, data);
    broad_model_free(model);
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_at_any_moment),
        cmocka_unit_test(increments_stopped),
        cmocka_unit_test(asked_all_the_time),
        cmocka_unit_test(library_in_the_progress_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
