#include "run/run_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "io/output.h"
#include "io/quote.h"
#include "run/choices.h"
#include "run/correction.h"
#include "run/importance.h"
#include "run/measures.h"
#include "run/photo_summary.h"
#include "run/show.h"

/* ---- JSON ---- */

static json_t *seconds_json(const cli_run *run)
{
    json_t *object = json_object();
    cli_json_put(object, "read", cli_json_real(run->read_seconds));
    cli_json_put(object, "features", cli_json_real(run->seconds.features));
    cli_json_put(object, "layers", cli_json_real(run->seconds.layers));
    cli_json_put(object, "total", cli_json_real(broad__seconds() - run->start));
    return object;
}

static json_t *stats_json(const cli_run *run)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.stats", run->output);
    return run->stats_kept ? cli_json_text(path) : json_null();
}

/* Every weight was made anew and no node was added: from sums, or because one ridge makes them all. */
static int solved_again(const cli_run *run)
{
    return run->resolved ||
           (run->fresh && cli_solved_jointly(run->model) && broad_model_layers(run->model) == run->layers_before);
}

/* What the model was before it learned. */
static json_t *before_json(const cli_run *run)
{
    const cli_correction *c = run->correction;
    if (!c->known) return json_null();
    json_t *object = json_object();
    cli_json_put(object, "old", run->train ? cli_metrics_json(&c->old_before, run->model) : json_null());
    cli_json_put(object, "new", cli_metrics_json(&c->fresh_before, run->model));
    cli_json_put(object, "test", run->test ? cli_metrics_json(&c->test_before, run->model) : json_null());
    return object;
}

/* Whether learning has made the model worse on rows that say something about new ones, and by which figures. */
typedef struct worsening {
    int found;
    const char *rows, *measure; /* "held-out", "accuracy" */
    const char *source;         /* in words, where they are none of the test rows */
    double before, after;
} worsening;

static worsening find_worsening(const cli_run *run)
{
    const cli_correction *c = run->correction;
    broad_estimate old = {.size = sizeof old}, now = {.size = sizeof now};
    int classify = broad_model_task(run->model) == BROAD_TASK_CLASSIFY;
    worsening w = {.measure = classify ? "accuracy" : "RMSE"};
    if (!c || !c->known) return w;
    if (run->test) {
        w.rows = run->test_path ? "test" : "held-out";
        w.before = classify ? c->test_before.accuracy : c->test_before.rmse;
        w.after = classify ? run->test_metrics.accuracy : run->test_metrics.rmse;
    } else if (run->before && !broad_model_estimate(&old, run->before) && !broad_model_estimate(&now, run->model) &&
               old.known && now.known && old.method == now.method) {
        w.rows = broad_enum_name(BROAD_ENUM_ESTIMATE_METHOD, (int)now.method);
        w.source = cli_estimate_source(&now);
        w.before = classify ? old.accuracy : old.rmse;
        w.after = classify ? now.accuracy : now.rmse;
    }
    w.found = w.rows && (classify ? w.after < w.before : w.after > w.before);
    return w;
}

static json_t *worse_json(const cli_run *run)
{
    worsening w = find_worsening(run);
    json_t *object = json_object();
    if (!w.found) {
        json_decref(object);
        return json_null();
    }
    cli_json_put(object, "rows", cli_json_text(w.rows));
    cli_json_put(object, "measure", cli_json_text(w.measure));
    cli_json_put(object, "before", cli_json_real(w.before));
    cli_json_put(object, "after", cli_json_real(w.after));
    return object;
}

static void put_correction(json_t *object, const cli_run *run)
{
    const cli_correction *c = run->correction;
    int classify = broad_model_task(run->model) == BROAD_TASK_CLASSIFY, old = c->known && run->train;
    cli_json_put(object, "weight", cli_json_real(c->weight));
    cli_json_put(object, "wrong", classify ? json_integer((json_int_t)c->wrong) : json_null());
    cli_json_put(object, "old", old ? cli_metrics_json(&c->old_after, run->model) : json_null());
    cli_json_put(object, "before", before_json(run));
    cli_json_put(object, "worse", worse_json(run));
    cli_json_put(object, "not_tested", json_integer((json_int_t)c->dropped));
}

static void put_growth(json_t *object, const cli_run *run)
{
    size_t layers = broad_model_layers(run->model);
    size_t added = layers > run->layers_before ? layers - run->layers_before : 0;
    cli_json_put(object, "grown_from", cli_json_text(run->model_path));
    cli_json_put(object, "layers_before", json_integer((json_int_t)run->layers_before));
    cli_json_put(object, "layers_added", json_integer((json_int_t)added));
    if (!run->fresh) return;
    cli_json_put(object, "solved_again", json_boolean(solved_again(run)));
    cli_json_put(object, "new", cli_metrics_json(&run->fresh_metrics, run->model));
    if (run->correction) put_correction(object, run);
}

static int is_tested(const cli_run *run) { return run->test || run->tested_rows; }

static json_t *photos_json(const cli_run *run)
{
    if (!run->photos) return json_null();
    cli_record_maps(run->photos, &run->maps, broad_model_maps(run->model));
    return json_incref(run->photos);
}

static int report_json(const cli_run *run)
{
    const broad_model *model = run->model;
    json_t *object = cli_json_object(run->arguments->command->name);
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "fitting",
                 cli_json_text(broad_enum_name(BROAD_ENUM_FITTING, (int)broad_model_fitting(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model)));
    cli_json_put(object, "inputs", json_integer((json_int_t)broad_model_inputs(model)));
    cli_json_put(object, "outputs", json_integer((json_int_t)broad_model_outputs(model)));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "precision", cli_json_text(cli_precision_name(broad_model_precision(model))));
    cli_json_put(object, "seed", cli_json_uint(broad_model_seed(model)));
    cli_json_put(object, "normal", cli_normal_json(model));
    cli_json_put(object, "photos", photos_json(run));
    if (run->notes) cli_json_put(object, "notes", json_incref(run->notes));
    if (run->model_path) put_growth(object, run);
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "reason", cli_json_text(broad_model_reason(model)));
    cli_json_put(object, "train", run->train ? cli_metrics_json(&run->train_metrics, model) : json_null());
    cli_json_put(object, "joint", cli_joint_json(model));
    cli_json_put(object, "loo", cli_estimate_json(model));
    cli_json_put(object, "importance", cli_importance_json(model));
    cli_json_put(object, "chosen", cli_choices_json(model));
    cli_json_put(object, "test", is_tested(run) ? cli_metrics_json(&run->test_metrics, model) : json_null());
    cli_json_put(object, "tested_rows", run->tested_rows ? json_integer((json_int_t)run->tested_rows) : json_null());
    cli_json_put(object, "seconds", seconds_json(run));
    cli_json_put(object, "model", cli_json_text(run->output));
    cli_json_put(object, "stats", stats_json(run));
    cli_json_put(object, "report", run->report && !cli_interrupted() ? cli_json_text(run->report) : json_null());
    cli_json_put(object, "layers", cli_layers_json(model));
    return cli_json_give(run->arguments, object);
}

/* ---- text ---- */

static int is_verbose(const cli_run *run) { return cli_given(run->arguments, "verbose") != NULL; }

/* "test     accuracy 0.97 (...) on 30 held-out rows"; `which` rows, and more to say after them. */
static void print_measures(const char *name, const broad_metrics *metrics, const broad_model *model, const char *which,
                           const char *more)
{
    char line[256];
    cli_figure_line(line, sizeof line, metrics, model);
    cli_print("%-8s %s on %zu %s row%s%s\n", name, line, metrics->rows, which, cli_plural(metrics->rows), more);
}

/* Measures with what they were before. */
static void print_change(const char *name, const broad_metrics *after, const broad_metrics *before,
                         const broad_model *model, const char *which, const char *more)
{
    char text[300];
    int classify = after->task != BROAD_TASK_REGRESS, used = snprintf(text, sizeof text, "%s", more);
    if (before && used >= 0)
        snprintf(text + used, sizeof text - (size_t)used, " (before: %s %.4g)", classify ? "accuracy" : "RMSE",
                 classify ? before->accuracy : before->rmse);
    print_measures(name, after, model, which, text);
}

static void print_worsening(const cli_run *run)
{
    worsening w = find_worsening(run);
    if (!w.found) return;
    if (run->test) cli_print("worse    %s on the %s rows", w.measure, w.rows);
    else cli_print("worse    %s by %s, in which the new rows count,", w.measure, w.source);
    cli_print(" was %.4g before and is %.4g now", w.before, w.after);
    if (cli_same_file(run->output, run->model_path))
        cli_print("; 'broad undo %s' brings the old model back\n", run->output);
    else cli_print("; the old model is still in %s\n", run->model_path);
}

/* What learning has changed. */
static void print_correction(const cli_run *run)
{
    const cli_correction *c = run->correction;
    char dropped[64] = "";
    if (c->dropped) snprintf(dropped, sizeof dropped, ", without %zu that are learned now", c->dropped);
    if (run->test) {
        print_change("test", &run->test_metrics, c->known ? &c->test_before : NULL, run->model,
                     run->test_path ? "test" : "held-out", dropped);
        cli_print_more(&run->test_metrics, run->model);
    }
    print_change("new", &run->fresh_metrics, c->known ? &c->fresh_before : NULL, run->model, "new", "");
    if (c->known && run->train) print_change("old", &c->old_after, &c->old_before, run->model, "old", "");
    if (c->automatic)
        cli_print("weight   up to %.4g per new row (an old row has 1): the smallest weights that suffice\n", c->weight);
    else if (c->given) cli_print("weight   %.4g per new row (an old row has 1)\n", c->weight);
    print_worsening(run);
}

/* Of the rows it was fitted to, which says least: one figure. */
static void print_train(const cli_run *run)
{
    const broad_metrics *m = &run->train_metrics;
    if (m->task == BROAD_TASK_CLASSIFY) cli_print("train    accuracy %.4f", m->accuracy);
    else cli_print("train    RMSE %.6g", m->rmse);
    cli_print(" on %zu training row%s\n", m->rows, cli_plural(m->rows));
}

/* What to expect of the model, most important first. */
static void print_quality(const cli_run *run)
{
    char estimate[256];
    char more[128] = "";
    int decided = run->options.patience > 0 || run->options.until_accuracy > 0;
    if (decided) snprintf(more, sizeof more, ", which also decided when to stop");
    if (run->tested_rows) snprintf(more, sizeof more, ", by a model of the other %zu", run->tested_rows);
    if (run->correction) print_correction(run);
    else if (is_tested(run)) {
        print_measures("test", &run->test_metrics, run->model, run->test_path ? "test" : "held-out", more);
        cli_print_more(&run->test_metrics, run->model);
    }
    if (cli_estimate_line(estimate, sizeof estimate, run->model)) cli_print("estimate %s\n", estimate);
    if (!is_tested(run)) cli_print_more(NULL, run->model);
    if (run->train) print_train(run);
}

static void print_data(const cli_run *run, const char *path)
{
    const broad_model *model = run->model;
    const broad_data *data = run->fresh ? run->fresh : run->train;
    int part = run->test && !run->test_path && !run->fresh;
    size_t rows = broad_data_rows(data) + (part ? broad_data_rows(run->test) : 0), inputs = broad_model_inputs(model);
    cli_print("data     %s (%s): %zu %srow%s, %zu input%s", path,
              broad_enum_name(BROAD_ENUM_FORMAT, (int)broad_data_format(data)), rows, run->fresh ? "new " : "",
              cli_plural(rows), inputs, cli_plural(inputs));
    if (part) cli_print("; %zu to train on, %zu held out", broad_model_rows(model), broad_data_rows(run->test));
    if (part && !run->model_path) cli_print(" (--refit trains on these too, once they are tested on)");
    if (run->test_path) cli_print("; tested on %s", run->test_path);
    if (run->tested_rows) cli_print("; the model saved is trained on all of them");
    cli_print("\n");
    cli_print_outputs(model, "; --normal changes it");
    cli_print_maps(&run->maps, broad_model_maps(model), broad_data_components(data));
}

static void print_network(const cli_run *run)
{
    const broad_model *model = run->model;
    size_t layers = broad_model_layers(model), wanted = run->increment.layers;
    char size[64];
    cli_format_size(size, sizeof size, model);
    cli_print("network  %s, %s", cli_kind_name(broad_model_kind(model)), size);
    if (!run->model_path && !cli_in_blocks(model) && layers < wanted) cli_print(" (of at most %zu)", wanted);
    if (solved_again(run)) cli_print(", all solved again on %zu rows", broad_model_rows(model));
    else if (run->model_path && layers >= run->layers_before)
        cli_print(", %zu of them new", layers - run->layers_before);
    cli_print(", %.2f s\n", run->seconds.total);
}

/* How far the score of the chain fell, and why growth ended. Returns whether that says how the run ended. */
static int print_score(const cli_run *run)
{
    const broad_model *model = run->model;
    char line[256];
    int stalled = broad_model_outcome(model) == BROAD_OUTCOME_STALLED, done = stalled;
    if (!cli_scored(model)) return 0;
    if (!broad_model_layers(model) && stalled) {
        cli_print("score    %s\n", broad_model_reason(model));
        return 1;
    }
    if (!cli_score_line(line, sizeof line, model)) return 0;
    cli_print("score    %s", line);
    if (stalled) cli_print("; growth ended by itself: no further layer lowered it");
    else if (broad_model_outcome(model) == BROAD_OUTCOME_COMPLETE && !run->fresh)
        cli_print("; every layer that was asked for lowered it, and more may lower it further");
    cli_print("\n");
    return done;
}

/* How it ended: always where it was not as planned. */
static void print_end(const cli_run *run)
{
    const broad_model *model = run->model;
    const char *reason = broad_model_reason(model);
    int told = print_score(run);
    if (is_verbose(run)) {
        cli_print_layers(model, 0);
        cli_print_joint(model);
    }
    if (is_verbose(run) || (broad_model_outcome(model) != BROAD_OUTCOME_COMPLETE && !told))
        cli_print("status   %s%s%s\n", cli_outcome_words(model), reason[0] ? ": " : "", reason);
}

/* ---- what to do next ---- */

static void put_option(FILE *line, const char *name, const char *value)
{
    fprintf(line, " --%s ", name);
    cli_shell_word(line, value);
}

/* The label files of all training files, in order; 0: some have one and some do not, which verify cannot take. */
static int all_labels(const char **out, size_t *out_count, const cli_run *run, size_t files)
{
    size_t count = run->fresh ? cli_given_all(out, run->arguments, "with-labels") : 0;
    *out_count = count + cli_given_all(out + count, run->arguments, "labels");
    return *out_count == 0 || *out_count == files;
}

/* Checks the model against its rows; without them there is only the model to look at. Files that the model remembers
 * need not be named. */
static void put_check(FILE *line, const cli_run *run, const char *const *paths, size_t count)
{
    static const char *const kept[] = {"header", "separator", "boxes", "detector", "detector-seconds"};
    const char *labels[2 * CLI_GIVEN_MAX];
    size_t label_count = 0;
    int listed = all_labels(labels, &label_count, run, count);
    int remembered = broad_model_sources(run->model) && (broad_model_maps(run->model) || !listed);
    int all = run->train && (remembered || listed);
    for (size_t i = 0; i < count; i++) all = all && strcmp(paths[i], "-");
    if (remembered) count = label_count = 0;
    fprintf(line, "broad %s ", all ? "verify" : "info");
    cli_shell_word(line, run->output);
    for (size_t i = 0; all && i < count; i++) {
        fputc(' ', line);
        cli_shell_word(line, paths[i]);
    }
    for (size_t i = 0; all && i < label_count; i++) put_option(line, "labels", labels[i]);
    for (size_t i = 0; all && i < sizeof kept / sizeof kept[0]; i++)
        if (cli_given(run->arguments, kept[i])) put_option(line, kept[i], cli_given(run->arguments, kept[i]));
}

/* The command of this run once more, with --refit. */
static void put_refit(FILE *line, const cli_run *run)
{
    const cli_arguments *arguments = run->arguments;
    fprintf(line, "broad %s", arguments->command->name);
    for (size_t i = 0; i < arguments->positional_count; i++) {
        fputc(' ', line);
        cli_shell_word(line, arguments->positional[i]);
    }
    for (size_t i = 0; i < arguments->given_count; i++) {
        const broad_option *option = arguments->given[i].option;
        if (option->argument) put_option(line, option->name, arguments->given[i].value);
        else fprintf(line, " --%s", option->name);
    }
    fputs(" --refit", line);
}

static void print_next(const cli_run *run, const char *const *paths, size_t count)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *lines = open_memstream(&text, &bytes);
    if (!lines) return;
    fputs("next     broad predict ", lines);
    cli_shell_word(lines, run->output);
    broad_estimate estimate = {.size = sizeof estimate};
    int proba = broad_model_maps(run->model) && broad_model_task(run->model) == BROAD_TASK_CLASSIFY &&
                !broad_model_estimate(&estimate, run->model) && estimate.known;
    fprintf(lines, " %s%s\n         ", broad_model_maps(run->model) ? "NEW/" : "NEW.csv", proba ? " --proba" : "");
    put_check(lines, run, paths, count);
    if (!run->model_path && run->test && !run->test_path && !run->options.patience) {
        fputs("\n         ", lines);
        put_refit(lines, run);
    }
    if (fclose(lines) == 0) cli_put_plain(stdout, text, bytes, "\n");
    putchar('\n');
    free(text);
}

static void print_files(const cli_run *run)
{
    struct stat info;
    char size[32] = "";
    if (stat(run->output, &info) == 0) cli_format_bytes(size, sizeof size, (double)info.st_size);
    cli_print("model    %s (%s)%s\n", run->output, size, run->stats_kept ? ", with its sums in a .stats file" : "");
    if (run->report) cli_print("report   %s\n", run->report);
}

static void report_text(const cli_run *run, const char *const *paths, size_t count)
{
    print_quality(run);
    print_data(run, paths[run->fresh && count ? count - 1 : 0]);
    if (!run->model_path) cli_print_importance(run->model);
    print_network(run);
    if (!run->model_path) cli_print_choices(run->model);
    print_end(run);
    print_files(run);
    print_next(run, paths, count);
}

int cli_run_report(const cli_run *run, const char *const *paths, size_t count)
{
    if (strcmp(run->output, "-") == 0) return BROAD_OK;
    cli_note_missed(run->arguments, is_tested(run) ? &run->test_metrics : NULL, run->model);
    if (is_tested(run)) cli_note_untested(run->arguments, &run->test_metrics, run->model);
    if (!run->model_path) cli_note_suspect(run->arguments, run->model);
    if (cli_given(run->arguments, "json")) return report_json(run);
    int measured = run->train || run->fresh || !cli_interrupted();
    if (measured && !cli_given(run->arguments, "quiet")) report_text(run, paths, count);
    return BROAD_OK;
}
