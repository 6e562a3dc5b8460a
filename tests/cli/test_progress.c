/* Checkpoints: a run that stops after some layers and goes on has the bytes of one that never stopped. */
#include "helper.h"
#include "io/progress.h"

#include "base/watch.h"

enum { ROWS = 300, LAYERS = 12 };

static broad_data *make_data(void)
{
    double x[ROWS * 2], y[ROWS];
    broad_data *data = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = sin((double)i * 1.3);
        x[2 * i + 1] = cos((double)i * 0.7);
        y[i] = x[2 * i] * x[2 * i + 1] + 0.1 * sin((double)i);
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = 2, arrays.x = x, arrays.values = y, arrays.outputs = 1;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    return data;
}

/* Stops each time `each` layers have been added; 0: never. */
static void grow(void **bytes, size_t *count, const broad_data *data, size_t each)
{
    cli_arguments none = {0};
    cli_progress progress;
    broad_options options;
    broad_trainer *trainer = NULL;
    broad_options_init(&options);
    assert_ok(broad_options_set(&options, "preset", "paper"));
    assert_ok(broad_options_set(&options, "kind", "brls"));
    options.threads = 1;
    cli_progress_begin(&progress, &options, "test", &none);
    assert_ok(broad_trainer_open(&trainer, data, &options));
    const broad_model *model = broad_trainer_model(trainer);
    for (size_t done = 0, stops = 0; done < LAYERS; done = broad_model_layers(model)) {
        progress.stop_at = each ? done + each : 0;
        assert_ok(broad_trainer_enhance(trainer, 5, LAYERS - done));
        assert_true(broad_model_layers(model) > done);
        stops += broad_model_layers(model) < LAYERS;
        if (each && broad_model_layers(model) < LAYERS) assert_int_equal(broad_model_layers(model), done + each);
        if (broad_model_layers(model) == LAYERS) assert_int_equal(stops, each ? (LAYERS - 1) / each : 0);
    }
    assert_ok(broad_model_to_memory(bytes, count, model, BROAD_FILE_FULL));
    broad_trainer_close(NULL, trainer);
    cli_progress_end(&progress);
    cli_signals_release();
}

static void checkpoints_leave_no_trace(void **state)
{
    (void)state;
    broad_data *data = make_data();
    void *whole = NULL;
    size_t count = 0;
    double interval = broad__watch_interval;
    broad__watch_interval = 0; /* asked as often as it can be */
    grow(&whole, &count, data, 0);
    for (size_t each = 1; each < 6; each += 2) {
        void *parts = NULL;
        size_t bytes = 0;
        grow(&parts, &bytes, data, each);
        assert_int_equal(bytes, count);
        assert_memory_equal(parts, whole, count);
        broad_free(parts);
    }
    broad__watch_interval = interval;
    broad_free(whole);
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(checkpoints_leave_no_trace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
