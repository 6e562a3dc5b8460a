/* broad tune: tries settings one after the other until the time is up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/output.h"
#include "io/progress.h"
#include "run/input.h"
#include "run/measures.h"
#include "run/model_file.h"
#include "run/show.h"
#include "tune/tune_report.h"
#include "tune/tune_state.h"
#include "values.h"

typedef struct tune_run {
    const cli_arguments *arguments;
    const char *path, *output, *state_path;
    cli_model_file file; /* the output, held while the search is at work */
    broad_read_options read;
    double budget;
    size_t folds, trials, rows; /* trials, rows: 0 for no limit */
    int by_loo;
    broad_data *data, *part; /* part: the rows that are searched on, where they are not all */
    json_t *photos;          /* what the result says of them; NULL: the rows are not photos */
    broad_map_choice maps;
    tune_search search;
    tune_state state;
    size_t resumed;
    int cut, wrote; /* the current trial was stopped; the model was written */
    double start, read_seconds, search_start, search_seconds, last_drawn;
    int visible, drawn;
} tune_run;

/* ---- before ---- */

static int read_budget(double *out, const cli_arguments *arguments)
{
    const char *text = cli_value(arguments, "budget");
    char *end = NULL;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out > 0 && *out <= 1e9) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--budget: '%s' is not a number of seconds above 0, such as 60", text);
}

static int check_files(tune_run *run)
{
    const char *const inputs[] = {run->path, run->read.labels};
    int status = BROAD_OK;
    if (run->output && strcmp(run->output, "-") == 0)
        return cli_fail(BROAD_USAGE, "-o needs a file; standard output is for the result");
    for (size_t i = 0; !status && i < 2; i++) {
        status = cli_check_apart(run->output, inputs[i]);
        if (!status && run->state_path && inputs[i] && cli_same_file(run->state_path, inputs[i]))
            status = cli_fail(BROAD_USAGE, "--state: '%s' is an input; give another name", run->state_path);
    }
    if (!status && run->output && run->state_path && cli_same_file(run->output, run->state_path))
        status = cli_fail(BROAD_USAGE, "-o and --state name the same file");
    if (!status && run->output) status = cli_check_writable(run->output);
    if (!status && run->output) status = cli_model_file_hold(&run->file, run->output);
    if (!status && run->state_path) status = cli_check_writable(run->state_path);
    return status;
}

static int prepare(tune_run *run, const cli_arguments *arguments)
{
    broad_options options;
    memset(run, 0, sizeof *run);
    run->arguments = arguments;
    run->path = arguments->positional[0];
    run->output = cli_given(arguments, "output");
    run->state_path = cli_given(arguments, "state");
    run->start = broad__seconds();
    run->visible = isatty(STDERR_FILENO) && !cli_given(arguments, "quiet");
    run->by_loo = cli_given(arguments, "by") ? cli_choice(arguments, "by") == 1 : !cli_given(arguments, "folds");
    cli_read_options(&run->read, arguments);
    int status = cli_training_options(&options, arguments);
    if (!status) status = tune_search_begin(&run->search, arguments);
    run->search.seed = options.seed;
    run->search.by_loo = run->by_loo;
    if (!status) status = read_budget(&run->budget, arguments);
    if (!status) status = cli_count(&run->folds, arguments, "folds");
    if (!status) status = cli_count(&run->trials, arguments, "trials");
    if (!status) status = cli_count(&run->rows, arguments, "rows");
    if (!status && run->folds < 2)
        status = cli_fail(BROAD_USAGE, "--folds: cross-validation needs at least 2 folds, for example 5");
    if (!status && options.patience) status = cli_fail(BROAD_USAGE, "--patience needs held-out rows; omit it here");
    return status ? status : check_files(run);
}

static int choose_measure(tune_run *run)
{
    const char *name = cli_value(run->arguments, "metric");
    broad_task task = broad_data_task(run->data);
    const cli_measure *measure = strcmp(name, "auto") ? cli_measure_named(name) : cli_measure_at(task, 0);
    if (!measure || measure->task != task)
        return cli_fail(BROAD_USAGE, "--metric %s does not apply to %s", name,
                        task == BROAD_TASK_CLASSIFY ? "classification" : "regression");
    run->search.measure = measure;
    return BROAD_OK;
}

/* The rows that are searched on are drawn as a holdout is: class by class, or by whole groups. */
static int draw_rows(tune_run *run)
{
    broad_split split;
    broad_data *rest = NULL;
    size_t rows = broad_data_rows(run->data);
    if (!run->rows || run->rows >= rows) return BROAD_OK;
    broad_split_init(&split);
    split.holdout = (double)run->rows / (double)rows;
    split.seed = run->search.seed;
    int status = broad_data_split(&rest, &run->part, run->data, &split);
    broad_data_free(rest);
    return status;
}

/* What cannot be dealt is known before the first trial. */
static int check_folds(const tune_run *run)
{
    broad_data *train = NULL, *test = NULL;
    broad_folds folds;
    if (run->by_loo) return BROAD_OK;
    broad_folds_init(&folds);
    folds.count = run->folds;
    folds.seed = run->search.seed;
    int status = broad_data_fold(&train, &test, run->part ? run->part : run->data, &folds);
    broad_data_free(train);
    broad_data_free(test);
    return status;
}

/* ---- the state ---- */

/* The options given, of the library's table or of how the data are read; not what the scores do not depend on. */
static json_t *given_json(const cli_arguments *arguments, int library)
{
    static const char *const apart[] = {
        "seed",  "threads", "kind",  "kinds",  "output", "state", "budget", "trials",          "by",
        "folds", "json",    "quiet", "metric", "rows",   "cache", "strict", "detector-seconds"};
    json_t *object = json_object();
    for (size_t i = 0; i < arguments->given_count; i++) {
        const broad_option *option = arguments->given[i].option;
        int skip = (cli_library_option(option->name) == option) != library;
        for (size_t k = 0; k < sizeof apart / sizeof apart[0]; k++) skip |= strcmp(option->name, apart[k]) == 0;
        if (!skip) cli_json_put(object, option->name, cli_json_text(arguments->given[i].value));
    }
    return object;
}

static int state_key(json_t **out, const tune_run *run)
{
    char hash[33];
    const tune_search *search = &run->search;
    int status = tune_data_hash(hash, run->part ? run->part : run->data);
    if (status) return status;
    json_t *key = cli_json_object("tune"), *kinds = json_array();
    for (size_t i = 0; i < search->kind_count; i++) cli_json_append(kinds, cli_json_text(search->kinds[i]));
    cli_json_put(key, "version", cli_json_text(broad_version()));
    cli_json_put(key, "by", cli_json_text(run->by_loo ? "loo" : "cv"));
    cli_json_put(key, "folds", json_integer((json_int_t)run->folds));
    cli_json_put(key, "metric", cli_json_text(search->measure->name));
    cli_json_put(key, "seed", cli_json_uint(search->seed));
    cli_json_put(key, "kinds", kinds);
    cli_json_put(key, "fixed", given_json(run->arguments, 1));
    cli_json_put(key, "reading", given_json(run->arguments, 0));
    cli_json_put(key, "data", cli_json_text(hash));
    *out = key;
    return BROAD_OK;
}

/* Once, by all rows: the networks that are tried share their inputs. */
static int choose_maps(tune_run *run)
{
    cli_progress progress;
    broad_options options;
    int status = cli_training_options(&options, run->arguments);
    if (status) return status;
    cli_progress_begin(&progress, &options, "maps", run->arguments);
    broad_map_choice_init(&run->maps);
    status = broad_photos_prepare(&run->maps, &run->data, NULL, &options);
    cli_progress_end(&progress);
    cli_signals_release();
    return status;
}

static int open_search(tune_run *run)
{
    json_t *key = NULL;
    int status = cli_read_table(&run->data, &run->photos, run->path, &run->read, run->arguments);
    if (!status) status = choose_maps(run);
    if (!status) status = choose_measure(run);
    if (!status) status = draw_rows(run);
    if (!status) status = check_folds(run);
    if (!status) status = state_key(&key, run);
    if (!status) status = tune_state_open(&run->state, &run->search, run->state_path, key);
    run->resumed = run->search.count;
    run->read_seconds = broad__seconds() - run->start;
    if (!status && run->resumed)
        cli_note(run->arguments, "continuing after the %zu trial%s in %s", run->resumed, cli_plural(run->resumed),
                 run->state_path);
    return status;
}

/* ---- one trial ---- */

static double seconds_left(const tune_run *run) { return run->budget - (broad__seconds() - run->search_start); }

static void draw_progress(tune_run *run, double now)
{
    char text[160], left[32], score[32] = "none yet";
    const tune_search *search = &run->search;
    double seconds = seconds_left(run);
    size_t best = 0;
    if (tune_best(&best, 1, search))
        cli_format_measure(score, sizeof score, search->measure->task, search->trials[best].score);
    cli_format_duration(left, sizeof left, seconds > 0 ? seconds : 0);
    snprintf(text, sizeof text, "trial %zu, best %s %s, left %s", search->count + 1, search->measure->title, score,
             left);
    cli_bar("tune", seconds > 0 ? 1 - seconds / run->budget : 1, text);
    run->last_drawn = now;
    run->drawn = 1;
}

static int on_progress(const broad_progress *state, void *context)
{
    tune_run *run = context;
    double now = broad__seconds();
    (void)state;
    if (run->visible && now - run->last_drawn > 0.1) draw_progress(run, now);
    run->cut = run->cut || cli_interrupted() || seconds_left(run) <= 0;
    return run->cut;
}

static int set_scores(tune_trial *trial, const double *scores, size_t count)
{
    trial->scores = calloc(count ? count : 1, sizeof *trial->scores);
    if (!trial->scores) return cli_fail(BROAD_NO_MEMORY, "out of memory while storing the scores of a trial");
    for (size_t i = 0; i < count; i++) trial->scores[i] = scores[i];
    trial->count = count;
    trial->score = cli_mean(scores, count);
    trial->sd = cli_deviation(scores, count);
    return BROAD_OK;
}

/* Two folds and more, on each of them worse than the best was there, and in the mean by more than the best's deviation. */
static int is_hopeless(const tune_search *search, const double *scores, size_t count)
{
    size_t best = 0;
    if (count < 2 || !tune_best(&best, 1, search)) return 0;
    const tune_trial *leader = &search->trials[best];
    double gap = 0;
    for (size_t i = 0; i < count && i < leader->count; i++) {
        if (!tune_better(search, leader->scores[i], scores[i])) return 0;
        gap += fabs(leader->scores[i] - scores[i]);
    }
    return gap / (double)count > leader->sd;
}

static int score_by_folds(tune_trial *trial, tune_run *run, const broad_options *options)
{
    cli_folds cv;
    double *scores = calloc(run->folds, sizeof *scores);
    int status = scores ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory while storing the scores of a trial");
    memset(&cv, 0, sizeof cv);
    if (!status) status = cli_folds_open(&cv, run->part ? run->part : run->data, options, run->folds, 1, 0);
    while (!status && cv.done < run->folds) {
        if (on_progress(NULL, run)) status = BROAD_INTERRUPTED;
        if (!status) status = cli_folds_next(&cv);
        if (status) break;
        cli_folds_values(scores, &cv, run->search.measure);
        if (cv.done < run->folds && is_hopeless(&run->search, scores, cv.done)) {
            trial->end = TUNE_DROPPED;
            break;
        }
    }
    if (!status) status = set_scores(trial, scores, cv.done);
    free(scores);
    cli_folds_close(&cv);
    return status;
}

/* The model's own estimate of the measure, from the rows it was trained on. */
static int estimated(double *out, const broad_model *model, const cli_measure *measure)
{
    broad_metrics metrics;
    if (!cli_estimate_metrics(&metrics, model))
        return cli_fail(BROAD_FAILED, "this network has no estimate of its own; use --by cv");
    *out = cli_measure_value(measure, &metrics);
    return BROAD_OK;
}

static int score_by_loo(tune_trial *trial, tune_run *run, const broad_options *options)
{
    broad_model *model = NULL;
    broad_options with = *options;
    double score = NAN;
    with.loo = BROAD_LOO_YES;
    int status = broad_fit(&model, NULL, run->part ? run->part : run->data, &with);
    if (!status && broad_model_outcome(model) == BROAD_OUTCOME_STOPPED) status = BROAD_INTERRUPTED;
    if (!status) status = estimated(&score, model, run->search.measure);
    if (!status) status = set_scores(trial, &score, 1);
    broad_model_free(model);
    return status;
}

/* A failure is a result of the trial; run->cut says that there is none. */
static void try_setting(tune_trial *trial, tune_run *run)
{
    broad_options options;
    double began = broad__seconds();
    int status = tune_options(&options, &trial->setting, run->arguments);
    options.progress = on_progress;
    options.progress_context = run;
    if (!status) status = run->by_loo ? score_by_loo(trial, run, &options) : score_by_folds(trial, run, &options);
    if (!status && !isfinite(trial->score)) status = cli_fail(BROAD_FAILED, "the score is not a number");
    trial->seconds = broad__seconds() - began;
    run->cut = status == BROAD_INTERRUPTED;
    if (!status || run->cut) return;
    trial->end = TUNE_FAILED;
    trial->score = trial->sd = NAN;
    snprintf(trial->reason, sizeof trial->reason, "%s", cli_error());
}

/* ---- all trials ---- */

/* Nothing of what every search begins with has worked: nor will the rest. */
static int all_failed(const tune_search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->trials[i].end != TUNE_FAILED) return 0;
    return search->count >= tune_starts(search);
}

static int next_trial(int *out_more, tune_run *run)
{
    tune_trial trial;
    memset(&trial, 0, sizeof trial);
    int status = tune_propose(&trial, out_more, &run->search);
    if (status || !*out_more) return status;
    try_setting(&trial, run);
    *out_more = !run->cut;
    if (run->cut) {
        tune_trial_clear(&trial);
        return BROAD_OK;
    }
    status = tune_add(&run->search, &trial);
    return status ? status : tune_state_add(&run->state, &run->search);
}

static int search_settings(tune_run *run)
{
    int status = BROAD_OK, more = 1;
    run->search_start = broad__seconds();
    cli_signals_catch();
    while (!status && more && !(run->trials && run->search.count >= run->trials) && !all_failed(&run->search) &&
           seconds_left(run) > 0 && !cli_interrupted())
        status = next_trial(&more, run);
    cli_signals_release();
    run->search_seconds = broad__seconds() - run->search_start;
    if (run->drawn) cli_bar_wipe();
    return status;
}

static int check_found(const tune_run *run)
{
    size_t best = 0;
    const tune_search *search = &run->search;
    if (tune_best(&best, 1, search) || cli_interrupted()) return BROAD_OK;
    if (search->count && all_failed(search))
        return cli_fail(BROAD_FAILED, "none of the %zu settings tried can be used; the last one failed: %s",
                        search->count, search->trials[search->count - 1].reason);
    return cli_fail(
        BROAD_FAILED,
        "no trial finished within %g seconds; give a larger --budget, fewer --folds, or --rows to search on "
        "a part of the rows",
        run->budget);
}

/* ---- after ---- */

static int fit_best(tune_run *run)
{
    size_t best = 0;
    broad_options options;
    broad_model *model = NULL;
    cli_progress progress;
    if (!run->output || cli_interrupted() || !tune_best(&best, 1, &run->search)) return BROAD_OK;
    int status = tune_options(&options, &run->search.trials[best].setting, run->arguments);
    if (status) return status;
    cli_progress_begin(&progress, &options, "best", run->arguments);
    status = broad_fit(&model, NULL, run->data, &options);
    cli_progress_end(&progress);
    if (!status) status = broad_model_remember(model, run->path, run->read.labels, run->data, NULL);
    if (!status) status = cli_model_file_save(&run->file, model, 0, NULL);
    cli_signals_release();
    run->wrote = !status;
    broad_model_free(model);
    return status;
}

static int report(const tune_run *run)
{
    tune_result result = {
        .search = &run->search,
        .data = run->data,
        .photos = run->photos,
        .maps = &run->maps,
        .path = run->path,
        .by = run->by_loo ? "loo" : "cv",
        .state = run->state_path,
        .model = run->wrote ? run->output : NULL,
        .rows = broad_data_rows(run->part ? run->part : run->data),
        .folds = run->folds,
        .resumed = run->resumed,
        .complete = !cli_interrupted(),
        .read_seconds = run->read_seconds,
        .search_seconds = run->search_seconds,
        .total_seconds = broad__seconds() - run->start,
    };
    int status = cli_given(run->arguments, "json") ? tune_report_json(&result) : tune_report_text(&result);
    if (status || !cli_interrupted()) return status;
    cli_note(run->arguments, "interrupted after %zu trial%s%s%s", run->search.count, cli_plural(run->search.count),
             run->state_path ? "; the same command continues from " : "", run->state_path ? run->state_path : "");
    return 128 + cli_interrupted();
}

int cli_tune(const cli_arguments *arguments)
{
    tune_run run;
    int status = prepare(&run, arguments);
    if (!status) status = open_search(&run);
    if (!status) status = search_settings(&run);
    if (!status) status = check_found(&run);
    if (!status) status = fit_best(&run);
    if (!status) status = report(&run);
    cli_model_file_release(&run.file);
    tune_state_close(&run.state);
    tune_search_end(&run.search);
    json_decref(run.photos);
    broad_data_free(run.part);
    broad_data_free(run.data);
    return status;
}
