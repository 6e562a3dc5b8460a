#include "run/train_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "io/output.h"
#include "io/ranks.h"
#include "run/kept_stats.h"
#include "run/load_model.h"
#include "run/measures.h"
#include "run/run_page.h"
#include "run/show.h"
#include "values.h"

/* ---- before ---- */

static int check_output(const cli_run *run)
{
    const cli_arguments *arguments = run->arguments;
    int piped = strcmp(run->output, "-") == 0;
    if (piped && (cli_given(arguments, "json") || cli_on_terminal()))
        return cli_fail(
            BROAD_USAGE,
            "-o - writes the model to standard output, which must be a file or a pipe, and does not go with --json");
    if (piped && (run->checkpoint || run->keep_stats))
        return cli_fail(BROAD_USAGE, "--checkpoint and --keep-stats need a file; give one with -o");
    int status = cli_check_apart(run->output, run->test_path);
    if (!status) status = cli_check_apart(run->output, cli_given(arguments, "test-labels"));
    if (!status && run->test_path && strcmp(run->test_path, "-") && access(run->test_path, R_OK))
        status = cli_fail(BROAD_NO_INPUT, "%s: %s", run->test_path, strerror(errno));
    if (!status && !cli_given(arguments, "plan")) status = cli_check_writable(run->output);
    return status ? status : cli_run_check_page(run);
}

/* Until the model is saved. */
static void keep_old(const cli_run *run)
{
    if (strcmp(run->output, "-") && access(run->output, F_OK) == 0) cli_keeps("%s is unchanged", run->output);
    else cli_keeps("nothing was saved");
}

static void keep_new(const cli_run *run, const broad_model *model)
{
    size_t layers = broad_model_layers(model);
    if (strcmp(run->output, "-") == 0) cli_keeps("the model was written to standard output");
    else cli_keeps("the model with %zu layer%s is saved in %s", layers, cli_plural(layers), run->output);
}

int cli_run_prepare(cli_run *run, const cli_arguments *arguments, const char *output)
{
    run->start = broad__seconds();
    run->arguments = arguments;
    run->output = output;
    keep_old(run);
    run->test_path = cli_given(arguments, "test");
    run->compact = cli_given(arguments, "compact") != NULL;
    run->keep_stats = cli_given(arguments, "keep-stats") != NULL;
    run->report = cli_given(arguments, "report");
    int status = cli_count(&run->checkpoint, arguments, "checkpoint");
    if (status) return status;
    if (cli_given(arguments, "test-labels") && !run->test_path)
        return cli_fail(BROAD_USAGE, "--test-labels was given without --test");
    if (cli_given(arguments, "labels") && run->test_path && !cli_given(arguments, "test-labels"))
        return cli_fail(BROAD_USAGE, "with --labels, --test needs --test-labels");
    status = check_output(run);
    if (status || strcmp(output, "-") == 0 || cli_given(arguments, "plan")) return status;
    return cli_model_file_hold(&run->file, output);
}

int cli_run_load(cli_run *run, const char *path)
{
    run->model_path = path;
    int status = cli_model_load(&run->model, run->arguments);
    if (status) return status;
    run->layers_before = broad_model_layers(run->model);
    run->compact |= broad_model_is_compact(run->model); /* a compact file stays one */
    return BROAD_OK;
}

int cli_run_read_test(cli_run *run, const broad_model *model)
{
    broad_read_options read;
    if (!run->test_path) return BROAD_OK;
    cli_read_options(&read, run->arguments);
    read.labels = cli_given(run->arguments, "test-labels");
    read.group = read.weight = NULL; /* the model knows them, and testing can do without */
    read.model = model;
    broad_data_free(run->test);
    run->test = NULL;
    return cli_read(&run->test, &run->photos, run->test_path, &read, run->arguments);
}

int cli_run_check_rules(const cli_run *run, int has_test)
{
    if (run->options.patience == 0 || has_test) return BROAD_OK;
    return cli_fail(BROAD_USAGE,
                    "--patience needs rows that are not trained on: give --holdout FRACTION to fit, or --test");
}

/* ---- growing ---- */

/* --max-seconds is for the whole run: what was read counts, and saving and measuring follow. */
static void limit_time(cli_run *run)
{
    const double after = 0.05, least = 1e-3;
    double left = (1 - after) * run->options.max_seconds - (broad__seconds() - run->start);
    if (run->options.max_seconds > 0) run->options.max_seconds = left > least ? left : least;
}

void cli_run_begin(cli_run *run)
{
    limit_time(run);
    broad_kind kind = run->model ? broad_model_kind(run->model) : run->options.kind;
    cli_progress_begin(&run->progress, &run->options, cli_kind_name(kind), run->arguments);
}

int cli_run_validate(cli_run *run)
{
    int looked_at = run->options.patience > 0 || run->options.until_accuracy > 0;
    if (run->options.until_accuracy > 0 && broad_model_task(broad_trainer_model(run->trainer)) != BROAD_TASK_CLASSIFY)
        return cli_fail(BROAD_USAGE, "--until-accuracy: a regression has no accuracy; give --until");
    return looked_at && run->test ? broad_trainer_validate(run->trainer, run->test) : BROAD_OK;
}

/* The increment, or what is left of it after `done` layers. */
static int advance(cli_run *run, size_t done)
{
    const cli_increment *more = &run->increment;
    if (more->rows && done == 0)
        return more->weights
                   ? broad_trainer_learn_weighted(run->trainer, more->rows, more->weights, more->nodes, more->layers,
                                                  more->forgetful)
                   : broad_trainer_learn(run->trainer, more->rows, more->nodes, more->layers, more->forgetful);
    if (more->groups) return broad_trainer_features(run->trainer, more->groups - done, more->group_nodes, more->nodes);
    return broad_trainer_enhance(run->trainer, more->nodes, more->layers - done);
}

/* A checkpoint stops the trainer after a layer as an interrupt would, so that a model left behind by a lost run says
 * that it was stopped; going on from it in another process and in this one are the same. */
static int grow_in_parts(cli_run *run)
{
    size_t before = broad_model_layers(broad_trainer_model(run->trainer)), done = 0;
    for (;;) {
        if (run->checkpoint) run->progress.stop_at = before + done + run->checkpoint;
        int status = advance(run, done);
        if (status) return status;
        const broad_model *model = broad_trainer_model(run->trainer);
        size_t last = done;
        done = broad_model_layers(model) - before;
        int over = cli_interrupted_any() || broad_model_outcome(model) != BROAD_OUTCOME_STOPPED;
        if (over || done == last) return BROAD_OK;
        status = cli_run_save(run, model, NULL);
        if (status) return status;
        if (cli_interrupted_any()) return BROAD_OK;
    }
}

void cli_run_take_model(cli_run *run)
{
    if (run->before) broad_model_free(run->model);
    else run->before = run->model; /* texts of it are still in use */
    broad_trainer_close(&run->model, run->trainer);
    run->trainer = NULL;
}

/* Of a new network on a table, before it is saved. It is something extra: a failure leaves it out. */
static void find_importance(cli_run *run)
{
    if (run->model_path || !run->train || broad_data_maps(run->train) || cli_interrupted()) return;
    if (run->options.preset != BROAD_PRESET_AUTO || run->options.max_seconds > 0) return;
    if (cli_choice(run->arguments, "importance") == 0)
        broad_model_find_importance(run->model, run->train, cli_watch(run->options.threads));
}

/* Where training has left the residuals of the rows; otherwise they are predicted later. */
static void measure_fitted(cli_run *run)
{
    broad_metrics_clear(&run->train_metrics);
    broad_metrics_init(&run->train_metrics);
    broad_trainer_measure(&run->train_metrics, run->trainer, run->train);
}

int cli_run_settle(cli_run *run, int status)
{
    cli_progress_end(&run->progress);
    if (!status && cli_interrupted() && broad_model_layers(broad_trainer_model(run->trainer)) == run->layers_before)
        status = BROAD_INTERRUPTED; /* there is nothing new to save */
    if (!status) {
        broad_seconds_init(&run->seconds);
        broad_trainer_seconds(&run->seconds, run->trainer);
        if (run->train) measure_fitted(run);
        cli_run_take_model(run);
        find_importance(run);
        status = cli_run_remember(run);
    }
    if (!status) {
        status = cli_run_save(run, run->model, NULL);
    }
    cli_signals_release();
    return status;
}

int cli_run_remember(cli_run *run)
{
    size_t rows = 0;
    int status = run->remember ? run->remember(run->model, run->remember_context) : BROAD_OK;
    for (size_t i = 0; !status && i < broad_model_sources(run->model); i++) {
        broad_source source = {.size = sizeof source};
        status = broad_model_source(&source, run->model, i);
        rows += source.rows;
    }
    int forced = cli_given(run->arguments, "force") && run->model_path;
    if (rows != broad_model_rows(run->model) || forced || cli_given(run->arguments, "no-names"))
        broad_model_forget(run->model);
    return status;
}

int cli_run_grow(cli_run *run) { return cli_run_settle(run, grow_in_parts(run)); }

/* ---- saving ---- */

static int save(cli_run *run, const broad_model *model, const broad_stats *stats)
{
    if (strcmp(run->output, "-")) return cli_model_file_save(&run->file, model, run->compact, stats);
    void *bytes = NULL;
    size_t count = 0;
    int status = broad_model_to_memory(&bytes, &count, model, run->compact);
    if (!status && (fwrite(bytes, 1, count, stdout) != count || fflush(stdout)))
        status = cli_fail(BROAD_IO, "cannot write the model to standard output: %s", strerror(errno));
    broad_free(bytes);
    return status;
}

int cli_run_save(cli_run *run, const broad_model *model, const broad_stats *stats)
{
    cli_signals_catch();
    int status = save(run, model, stats);
    if (!status) keep_new(run, model);
    cli_signals_release();
    return status;
}

int cli_run_keep_stats(cli_run *run, const broad_data *training)
{
    int status = cli_stats_make(run->model, training, run->output, run->options.threads);
    run->stats_kept = status == BROAD_OK;
    if (!status) return BROAD_OK;
    return cli_fail(status, "the model is saved in %s, but its sums could not be saved: %s", run->output, cli_error());
}

/* ---- after ---- */

int cli_run_measure(cli_run *run)
{
    size_t threads = run->options.threads;
    int status = BROAD_OK;
    if (strcmp(run->output, "-") == 0 && !run->report) return BROAD_OK;
    if (run->train && !run->train_metrics.rows)
        status = cli_judge(&run->train_metrics, run->model, run->train, threads);
    if (!status && run->fresh) status = cli_judge(&run->fresh_metrics, run->model, run->fresh, threads);
    if (!status && run->test) status = cli_judge(&run->test_metrics, run->model, run->test, threads);
    if (status != BROAD_INTERRUPTED) return status;
    broad_data_free(run->train); /* what could not be measured is not reported */
    broad_data_free(run->test);
    run->train = run->test = NULL;
    run->fresh = NULL;
    return BROAD_OK;
}

int cli_run_end(cli_run *run, int status)
{
    if (!status && cli_interrupted()) {
        cli_say("interrupted; %s", cli_kept());
        status = 128 + cli_interrupted();
    }
    cli_model_file_release(&run->file);
    broad_metrics_clear(&run->train_metrics);
    broad_metrics_clear(&run->fresh_metrics);
    broad_metrics_clear(&run->test_metrics);
    if (run->trainer) broad_trainer_close(NULL, run->trainer);
    broad_model_free(run->model);
    broad_model_free(run->before);
    broad_data_free(run->train);
    broad_data_free(run->test);
    json_decref(run->photos);
    json_decref(run->notes);
    return status;
}
