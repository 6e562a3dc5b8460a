/* broad cv: train on all folds but one and test on that one, for each; mean and deviation of every measure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/progress.h"
#include "run/cv_folds.h"
#include "run/input.h"
#include "run/measures.h"
#include "run/photo_summary.h"
#include "run/show.h"
#include "values.h"

typedef struct cv_run {
    const cli_arguments *arguments;
    const char *path;
    broad_options options;
    broad_read_options read;
    size_t folds, repeats;
    broad_data *data;
    json_t *photos; /* what the result says of them; NULL: the rows are not photos */
    cli_folds cv;
    double *values; /* room for one measure of every fold */
    broad_metrics pooled;
    double start, read_seconds, train_start, last_drawn;
    int visible, drawn;
} cv_run;

/* ---- running ---- */

static int prepare(cv_run *run, const cli_arguments *arguments)
{
    memset(run, 0, sizeof *run);
    run->arguments = arguments;
    run->path = arguments->positional[0];
    run->start = broad__seconds();
    run->visible = isatty(STDERR_FILENO) && !cli_given(arguments, "quiet");
    cli_read_options(&run->read, arguments);
    int status = cli_training_options(&run->options, arguments);
    if (!status) status = cli_count(&run->folds, arguments, "folds");
    if (!status) status = cli_count(&run->repeats, arguments, "repeat");
    if (!status && run->folds < 2)
        status = cli_fail(BROAD_USAGE, "--folds: cross-validation needs at least 2 folds, for example 5");
    if (!status && run->repeats > 100000)
        status = cli_fail(BROAD_USAGE, "--repeat: %zu is too large; the maximum is 100000", run->repeats);
    return status;
}

static int on_progress(const broad_progress *state, void *context)
{
    cv_run *run = context;
    double now = broad__seconds();
    if (run->visible && now - run->last_drawn > 0.1) {
        char text[160], left[48];
        size_t total = run->folds * run->repeats, done = run->cv.done;
        double part = ((double)done + state->part) / (double)total;
        cli_bar_left(left, sizeof left, part, now - run->train_start);
        snprintf(text, sizeof text, "fold %zu/%zu%s", done + 1, total, left);
        cli_bar("cv", part, text);
        run->last_drawn = now;
        run->drawn = 1;
    }
    return cli_interrupted() != 0;
}

static int open_folds(cv_run *run)
{
    int status = cli_read_table(&run->data, &run->photos, run->path, &run->read, run->arguments);
    run->read_seconds = broad__seconds() - run->start;
    run->options.progress = on_progress;
    run->options.progress_context = run;
    if (!status)
        status = cli_folds_open(&run->cv, run->data, &run->options, run->folds, run->repeats,
                                cli_given(run->arguments, "force") != NULL);
    if (status) return status;
    run->values = calloc(run->folds * run->repeats, sizeof *run->values);
    return run->values ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory while storing the results");
}

/* An interrupt ends it with the folds done so far. */
static int run_folds(cv_run *run)
{
    int status = BROAD_OK;
    size_t total = run->folds * run->repeats;
    run->train_start = broad__seconds();
    cli_signals_catch();
    while (!status && run->cv.done < total && !cli_interrupted()) status = cli_folds_next(&run->cv);
    cli_signals_release();
    if (run->drawn) cli_bar_wipe();
    return status == BROAD_INTERRUPTED ? BROAD_OK : status;
}

/* The confusion tables of all folds in one: every row counts once for each repeat. */
static int pool(cv_run *run)
{
    const cli_folds *cv = &run->cv;
    broad_metrics *pooled = &run->pooled;
    if (!cv->done || !cv->results[0].test.confusion) return BROAD_OK;
    size_t classes = cv->results[0].test.classes;
    pooled->task = BROAD_TASK_CLASSIFY;
    pooled->confusion = calloc(classes * classes, sizeof *pooled->confusion);
    if (!pooled->confusion) return cli_fail(BROAD_NO_MEMORY, "out of memory while storing the confusion matrix");
    pooled->classes = classes;
    for (size_t i = 0; i < cv->done; i++) {
        pooled->rows += cv->results[i].test.rows;
        for (size_t k = 0; k < classes * classes; k++) pooled->confusion[k] += cv->results[i].test.confusion[k];
    }
    return BROAD_OK;
}

/* ---- results ---- */

typedef struct summary {
    double mean, sd, repeat_sd; /* repeat_sd: of the means of the whole repeats; NaN where there are fewer than 2 */
} summary;

static summary summarise(const cv_run *run, const cli_measure *measure)
{
    const cli_folds *cv = &run->cv;
    cli_folds_values(run->values, cv, measure);
    summary s = {cli_mean(run->values, cv->done), cli_deviation(run->values, cv->done), (double)NAN};
    size_t whole = cv->done / cv->folds;
    for (size_t r = 0; r < whole; r++) run->values[r] = cli_mean(run->values + r * cv->folds, cv->folds);
    s.repeat_sd = cli_deviation(run->values, whole);
    return s;
}

static double training_seconds(const cli_folds *cv)
{
    double sum = 0;
    for (size_t i = 0; i < cv->done; i++) sum += cv->results[i].seconds;
    return sum;
}

/* In how many of the folds done these maps were kept. */
static size_t count_maps(const cli_folds *cv, unsigned maps)
{
    size_t count = 0;
    for (size_t i = 0; i < cv->done; i++) count += cv->results[i].maps == maps;
    return count;
}

static int in_groups(const cv_run *run) { return run->read.group || cli_photos_grouped(run->data); }

static const char *dealt_by(const cv_run *run)
{
    if (in_groups(run)) return "group";
    return broad_data_task(run->data) == BROAD_TASK_CLASSIFY ? "class" : "row";
}

static json_t *fold_json(const cv_run *run, const cli_fold *fold)
{
    json_t *object = json_object();
    cli_json_put(object, "repeat", json_integer((json_int_t)fold->repeat + 1));
    cli_json_put(object, "fold", json_integer((json_int_t)fold->fold + 1));
    cli_json_put(object, "seed", cli_json_uint(run->options.seed + fold->repeat));
    cli_json_put(object, "train_rows", json_integer((json_int_t)fold->train_rows));
    cli_json_put(object, "nodes", json_integer((json_int_t)fold->nodes));
    cli_json_put(object, "layers", json_integer((json_int_t)fold->layers));
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(fold->outcome)));
    if (fold->maps) cli_json_put(object, "maps", cli_maps_json(fold->maps));
    cli_json_put(object, "seconds", cli_json_real(fold->seconds));
    cli_json_put(object, "test", cli_metrics_json(&fold->test, run->cv.model));
    return object;
}

static json_t *summaries_json(const cv_run *run)
{
    json_t *object = json_object();
    const cli_measure *measure = NULL;
    for (size_t i = 0; run->cv.done && (measure = cli_measure_at(broad_data_task(run->data), i)); i++) {
        summary s = summarise(run, measure);
        json_t *figures = json_object();
        cli_json_put(figures, "mean", cli_json_real(s.mean));
        cli_json_put(figures, "sd", cli_json_real(s.sd));
        cli_json_put(figures, "repeat_sd", cli_json_real(s.repeat_sd));
        cli_json_put(object, measure->name, figures);
    }
    return object;
}

static void put_confusion(json_t *object, const cv_run *run)
{
    const broad_model *model = run->cv.model;
    size_t classes = run->pooled.classes;
    if (!model || !classes) return;
    if (classes == 2)
        cli_json_put(object, "positive", cli_json_text(broad_model_output_name(model, broad_model_positive(model))));
    cli_json_put(object, "classes", cli_names_json(broad_model_output_name, model, classes));
    cli_json_put(object, "confusion", cli_confusion_json(&run->pooled));
}

static int report_json(const cv_run *run)
{
    const cli_folds *cv = &run->cv;
    json_t *object = cli_json_object("cv"), *results = json_array(), *seconds = json_object();
    cli_json_put(object, "data", cli_json_text(run->path));
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(run->options.kind)));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_data_task(run->data))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_data_rows(run->data)));
    cli_json_put(object, "inputs", json_integer((json_int_t)broad_data_inputs(run->data)));
    cli_json_put(object, "outputs", json_integer((json_int_t)broad_data_outputs(run->data)));
    cli_json_put(object, "seed", cli_json_uint(run->options.seed));
    cli_json_put(object, "folds", json_integer((json_int_t)cv->folds));
    cli_json_put(object, "repeats", json_integer((json_int_t)cv->repeats));
    cli_json_put(object, "photos", run->photos ? json_incref(run->photos) : json_null());
    cli_json_put(object, "dealt_by", cli_json_text(dealt_by(run)));
    cli_json_put(object, "complete", json_boolean(cv->done == cv->folds * cv->repeats));
    cli_json_put(object, "test", summaries_json(run));
    put_confusion(object, run);
    cli_json_put(seconds, "read", cli_json_real(run->read_seconds));
    cli_json_put(seconds, "train", cli_json_real(training_seconds(cv)));
    cli_json_put(seconds, "total", cli_json_real(broad__seconds() - run->start));
    cli_json_put(object, "seconds", seconds);
    for (size_t i = 0; i < cv->done; i++) cli_json_append(results, fold_json(run, &cv->results[i]));
    cli_json_put(object, "results", results);
    return cli_json_give(run->arguments, object);
}

static void print_data(const cv_run *run)
{
    const broad_data *data = run->data;
    size_t outputs = broad_data_outputs(data);
    int classify = broad_data_task(data) == BROAD_TASK_CLASSIFY;
    cli_print("data     %s (%s): %zu rows, %zu input%s, %zu %s\n", run->path,
              broad_enum_name(BROAD_ENUM_FORMAT, (int)broad_data_format(data)), broad_data_rows(data),
              broad_data_inputs(data), cli_plural(broad_data_inputs(data)), outputs,
              classify       ? "classes"
              : outputs == 1 ? "target"
                             : "targets");
    cli_print("folds    %zu, ", run->folds);
    if (in_groups(run)) cli_print("whole groups of %s", run->read.group ? run->read.group : "near-duplicates");
    else cli_print("%s", classify ? "stratified by class" : "at random");
    cli_print(", seed %llu", (unsigned long long)run->options.seed);
    if (run->repeats > 1)
        cli_print("; repeated %zu times, with seeds up to %llu", run->repeats,
                  (unsigned long long)(run->options.seed + run->repeats - 1));
    cli_print("\n");
}

/* "inputs   descriptors + windows in 4 folds, windows in 1" */
static void print_maps(const cv_run *run)
{
    const char *between = "inputs   ";
    for (unsigned maps = 1; broad_data_maps(run->data) && maps <= BROAD_PHOTO_MAP_ALL; maps++) {
        char name[64];
        size_t count = count_maps(&run->cv, maps);
        if (!count) continue;
        cli_format_maps(name, sizeof name, maps);
        cli_print("%s%s in %zu fold%s", between, name, count, cli_plural(count));
        between = ", ";
    }
    if (between[0] == ',') cli_print("\n");
}

static void print_folds(const cv_run *run)
{
    char line[256];
    for (size_t i = 0; i < run->cv.done; i++) {
        const cli_fold *fold = &run->cv.results[i];
        cli_metrics_line(line, sizeof line, &fold->test);
        cli_print("  repeat %zu, fold %zu: %zu + %zu rows, %zu nodes, %.2f s: %s\n", fold->repeat + 1, fold->fold + 1,
                  fold->train_rows, fold->test.rows, fold->nodes, fold->seconds, line);
    }
}

static void print_summaries(const cv_run *run)
{
    const cli_measure *measure = NULL;
    broad_task task = broad_data_task(run->data);
    for (size_t i = 0; (measure = cli_measure_at(task, i)); i++) {
        char mean[32], sd[32], repeat_sd[32];
        summary s = summarise(run, measure);
        if (isnan(s.mean)) continue;
        cli_format_measure(mean, sizeof mean, task, s.mean);
        cli_format_measure(sd, sizeof sd, task, s.sd);
        cli_format_measure(repeat_sd, sizeof repeat_sd, task, s.repeat_sd);
        cli_print("  %-17s %10s", measure->title, mean);
        if (isfinite(s.sd)) cli_print(" ± %s", sd);
        if (isfinite(s.repeat_sd)) cli_print("   (± %s between repeats)", repeat_sd);
        cli_print("\n");
    }
}

static void report_text(const cv_run *run)
{
    const cli_folds *cv = &run->cv;
    double seconds = training_seconds(cv);
    print_data(run);
    print_maps(run);
    if (cli_given(run->arguments, "verbose")) print_folds(run);
    cli_print("test     %s, mean ± standard deviation of %zu folds\n", cli_kind_name(run->options.kind), cv->done);
    print_summaries(run);
    if (run->pooled.confusion) cli_print_confusion(&run->pooled, cv->model);
    cli_print("time     %.2f s of training, %.2f s per fold; %.2f s in total\n", seconds, seconds / (double)cv->done,
              broad__seconds() - run->start);
}

static int report(const cv_run *run)
{
    int status = BROAD_OK;
    size_t total = run->folds * run->repeats;
    if (cli_given(run->arguments, "json")) status = report_json(run);
    else if (run->cv.done) report_text(run);
    if (status || run->cv.done == total) return status;
    cli_note(run->arguments, "interrupted after %zu of %zu folds", run->cv.done, total);
    return 128 + cli_interrupted();
}

int cli_cv(const cli_arguments *arguments)
{
    cv_run run;
    int status = prepare(&run, arguments);
    if (!status) status = open_folds(&run);
    if (!status) status = run_folds(&run);
    if (!status) status = pool(&run);
    if (!status) status = report(&run);
    free(run.pooled.confusion);
    free(run.values);
    cli_folds_close(&run.cv);
    json_decref(run.photos);
    broad_data_free(run.data);
    return status;
}
