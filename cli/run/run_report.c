#include "run/run_report.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "run/correct.h"
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

static void put_correction(json_t *object, const cli_run *run)
{
    const cli_correction *c = run->correction;
    int classify = broad_model_task(run->model) == BROAD_TASK_CLASSIFY, old = c->known && run->train;
    cli_json_put(object, "weight", cli_json_real(c->weight));
    cli_json_put(object, "wrong", classify ? json_integer((json_int_t)c->wrong) : json_null());
    cli_json_put(object, "old", old ? cli_metrics_json(&c->old_after, run->model) : json_null());
    cli_json_put(object, "before", before_json(run));
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
    cli_json_put(object, "photos", photos_json(run));
    if (run->model_path) put_growth(object, run);
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "reason", cli_json_text(broad_model_reason(model)));
    cli_json_put(object, "train", run->train ? cli_metrics_json(&run->train_metrics, model) : json_null());
    cli_json_put(object, "joint", cli_joint_json(model));
    cli_json_put(object, "loo", cli_estimate_json(model));
    cli_json_put(object, "test", run->test ? cli_metrics_json(&run->test_metrics, model) : json_null());
    cli_json_put(object, "seconds", seconds_json(run));
    cli_json_put(object, "model", cli_json_text(run->output));
    cli_json_put(object, "stats", stats_json(run));
    cli_json_put(object, "report", run->report ? cli_json_text(run->report) : json_null());
    cli_json_put(object, "layers", cli_layers_json(model));
    return cli_json_give(run->arguments, object);
}

/* ---- text ---- */

static void print_data(const cli_run *run, const char *path)
{
    char names[256];
    const broad_model *model = run->model;
    const broad_data *data = run->fresh ? run->fresh : run->train;
    size_t outputs = broad_model_outputs(model);
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    int part = run->test && !run->test_path && !run->fresh;
    cli_format_names(names, sizeof names, broad_model_output_name, model, outputs);
    printf("data     %s (%s): %zu %srows, %zu inputs, %zu %s (%s)\n", path,
           broad_enum_name(BROAD_ENUM_FORMAT, (int)broad_data_format(data)),
           broad_data_rows(data) + (part ? broad_data_rows(run->test) : 0), run->fresh ? "new " : "",
           broad_model_inputs(model), outputs,
           classify       ? "classes"
           : outputs == 1 ? "target"
                          : "targets",
           names);
    if (run->test)
        printf("split    %zu rows to train on, %zu to test on%s%s\n", broad_model_rows(model),
               broad_data_rows(run->test), run->test_path ? " from " : "", run->test_path ? run->test_path : "");
    cli_print_maps(&run->maps, broad_model_maps(model), broad_data_components(data));
}

static void print_network(const cli_run *run)
{
    const broad_model *model = run->model;
    size_t layers = broad_model_layers(model), wanted = run->increment.layers;
    char size[64];
    cli_format_size(size, sizeof size, model);
    printf("network  %s, ", cli_kind_name(broad_model_kind(model)));
    if (!run->model_path && !cli_in_blocks(model))
        printf("%zu nodes in %zu of %zu layers", broad_model_nodes(model), layers, wanted);
    else printf("%s", size);
    if (solved_again(run)) printf(", all solved again on %zu rows", broad_model_rows(model));
    else if (run->model_path && layers >= run->layers_before) printf(", %zu of them new", layers - run->layers_before);
    printf(", %.2f s\n", run->seconds.total);
}

static void print_measures(const char *name, const broad_metrics *metrics, const char *remark)
{
    char line[256];
    cli_metrics_line(line, sizeof line, metrics);
    printf("%-8s %s%s\n", name, line, remark);
}

/* Measures with what they were before; `more` goes on after them. */
static void print_change(const char *name, const broad_metrics *after, const broad_metrics *before, const char *more)
{
    char line[256], was[300] = "";
    int classify = after->task != BROAD_TASK_REGRESS;
    if (before)
        snprintf(was, sizeof was, " (before: %s %.4g)", classify ? "accuracy" : "RMSE",
                 classify ? before->accuracy : before->rmse);
    cli_metrics_line(line, sizeof line, after);
    printf("%-8s %s%s%s\n", name, line, was, more);
}

/* What learning has changed. */
static void print_correction(const cli_run *run)
{
    const cli_correction *c = run->correction;
    char dropped[96] = "";
    if (c->known && run->train) print_change("old", &c->old_after, &c->old_before, "");
    print_change("new", &run->fresh_metrics, c->known ? &c->fresh_before : NULL, "");
    if (c->dropped) snprintf(dropped, sizeof dropped, ", without %zu rows that are learned now", c->dropped);
    if (run->test) print_change("test", &run->test_metrics, c->known ? &c->test_before : NULL, dropped);
    if (c->automatic || c->given)
        printf("weight   %s%.4g: what a new row counts beside an old one%s\n", c->automatic ? "at most " : "",
               c->weight, c->automatic ? ", each as little as does" : "");
}

static void print_files(const cli_run *run, const char *const *paths, size_t count)
{
    struct stat info;
    char size[32] = "";
    if (stat(run->output, &info) == 0) cli_format_bytes(size, sizeof size, (double)info.st_size);
    printf("wrote    %s (%s)%s\n", run->output, size, run->stats_kept ? " and its sums, beside it as .stats" : "");
    if (run->report) printf("report   %s\n", run->report);
    int all = run->train != NULL;
    for (size_t i = 0; i < count; i++) all = all && strcmp(paths[i], "-");
    printf("next     broad %s %s", all ? "verify" : "info", run->output);
    for (size_t i = 0; all && i < count; i++) printf(" %s", paths[i]);
    const char *labels[CLI_GIVEN_MAX];
    size_t label_count = run->fresh ? 0 : cli_given_all(labels, run->arguments, "labels");
    for (size_t i = 0; all && i < label_count; i++) printf(" --labels %s", labels[i]);
    const char *boxes = cli_given(run->arguments, "boxes"), *detector = cli_given(run->arguments, "detector");
    if (all && boxes) printf(" --boxes %s", boxes);
    if (all && detector) printf(" --detector '%s'", detector);
    printf("\n");
}

static void report_text(const cli_run *run, const char *const *paths, size_t count)
{
    const broad_model *model = run->model;
    const char *reason = broad_model_reason(model);
    char estimate[256];
    int looked_at = run->options.patience > 0 || run->options.until_accuracy > 0;
    print_data(run, paths[run->fresh && count ? count - 1 : 0]);
    print_network(run);
    cli_print_layers(model, 0);
    cli_print_joint(model);
    printf("status   %s%s%s\n", cli_outcome_name(broad_model_outcome(model)), reason[0] ? ": " : "", reason);
    if (run->train) print_measures("train", &run->train_metrics, "");
    if (cli_estimate_line(estimate, sizeof estimate, model)) printf("loo      %s (leave-one-out)\n", estimate);
    if (run->correction) print_correction(run);
    else if (run->test)
        print_measures("test", &run->test_metrics, looked_at ? " (these rows also decided when to stop)" : "");
    print_files(run, paths, count);
}

int cli_run_report(const cli_run *run, const char *const *paths, size_t count)
{
    if (strcmp(run->output, "-") == 0) return BROAD_OK;
    if (cli_given(run->arguments, "json")) return report_json(run);
    report_text(run, paths, count);
    return BROAD_OK;
}
