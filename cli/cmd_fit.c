/* broad fit: read, split, train, save, measure, report. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"
#include "report.h"

typedef struct fit_run {
    const cli_arguments *arguments;
    const char *data_path, *output, *test_path;
    double holdout; /* 0: none */
    broad_options options;
    broad_read_options read;

    broad_data *train, *test; /* test: NULL without */
    broad_model *model;
    broad_metrics train_metrics, test_metrics;
    broad_seconds seconds;
    double start, read_seconds;
} fit_run;

static int parse_holdout(double *out, const char *text)
{
    char *end = NULL;
    *out = 0;
    if (!text) return BROAD_OK;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out > 0 && *out < 1) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--holdout: '%s' is not a fraction; give a number above 0 and below 1, such as 0.3",
                    text);
}

static int check_paths(const fit_run *run)
{
    const cli_arguments *arguments = run->arguments;
    int status = cli_check_apart(run->output, run->data_path);
    if (!status) status = cli_check_apart(run->output, run->test_path);
    if (!status) status = cli_check_apart(run->output, cli_given(arguments, "labels"));
    if (!status) status = cli_check_apart(run->output, cli_given(arguments, "test-labels"));
    if (!status && run->test_path && strcmp(run->test_path, "-") && access(run->test_path, R_OK))
        status = cli_fail(BROAD_NO_INPUT, "%s: %s", run->test_path, strerror(errno));
    if (!status) status = cli_check_writable(run->output);
    return status;
}

static int prepare(fit_run *run, const cli_arguments *arguments)
{
    memset(run, 0, sizeof *run);
    run->start = cli_seconds();
    run->arguments = arguments;
    run->data_path = arguments->positional[0];
    run->output = cli_value(arguments, "output");
    run->test_path = cli_given(arguments, "test");
    cli_read_options(&run->read, arguments);
    int status = cli_training_options(&run->options, arguments);
    if (!status) status = parse_holdout(&run->holdout, cli_given(arguments, "holdout"));
    if (status) return status;
    if (run->holdout > 0 && run->test_path)
        return cli_fail(BROAD_USAGE, "--holdout and --test were both given; choose one");
    if (cli_given(arguments, "test-labels") && !run->test_path)
        return cli_fail(BROAD_USAGE, "--test-labels was given without --test");
    if (run->read.labels && run->test_path && !cli_given(arguments, "test-labels"))
        return cli_fail(BROAD_USAGE, "--labels needs --test-labels where --test is given");
    if (strcmp(run->output, "-") == 0 && (cli_given(arguments, "json") || isatty(STDOUT_FILENO)))
        return cli_fail(BROAD_USAGE,
                        "-o - writes the model to standard output, which must be a file or a pipe, without --json");
    return check_paths(run);
}

static int split_rows(fit_run *run)
{
    broad_data *whole = run->train;
    broad_split split;
    broad_split_init(&split);
    split.holdout = run->holdout;
    split.seed = run->options.seed;
    run->train = NULL;
    int status = broad_data_split(&run->train, &run->test, whole, &split);
    broad_data_free(whole);
    return status;
}

/* How many different whole numbers a target has, 0 if there are other numbers or more than `limit`. */
static size_t count_whole_values(const broad_data *data, size_t limit)
{
    double seen[16];
    size_t count = 0;
    for (size_t i = 0; i < broad_data_rows(data); i++) {
        double value = broad_data_value(data, i, 0);
        size_t at = 0;
        while (at < count && seen[at] != value) at++;
        if (at < count) continue;
        if (value != floor(value) || count == limit) return 0;
        seen[count++] = value;
    }
    return count;
}

static void hint_task(const fit_run *run)
{
    const broad_data *data = run->train;
    if (run->read.task != BROAD_TASK_AUTO || broad_data_task(data) != BROAD_TASK_REGRESS) return;
    if (broad_data_outputs(data) != 1) return;
    size_t values = count_whole_values(data, 16);
    if (values > 0 && broad_data_rows(data) >= 5 * values)
        cli_note(run->arguments,
                 "the target has only %zu different whole values; if these are classes, give --task classify", values);
}

static int read_rows(fit_run *run)
{
    int status = broad_data_read(&run->train, run->data_path, &run->read);
    if (status) return status;
    if (broad_data_task(run->train) == BROAD_TASK_AUTO)
        return cli_fail(BROAD_BAD_DATA, "%s has no targets; give them with --labels FILE", run->data_path);
    hint_task(run);
    if (run->holdout > 0) status = split_rows(run);
    run->read_seconds = cli_seconds() - run->start;
    return status;
}

static int save(const fit_run *run)
{
    int compact = cli_given(run->arguments, "compact") != NULL;
    if (strcmp(run->output, "-")) return broad_model_save(run->model, run->output, compact);
    void *bytes = NULL;
    size_t count = 0;
    int status = broad_model_to_memory(&bytes, &count, run->model, compact);
    if (!status && (fwrite(bytes, 1, count, stdout) != count || fflush(stdout)))
        status = cli_fail(BROAD_IO, "cannot write the model to standard output: %s", strerror(errno));
    broad_free(bytes);
    return status;
}

static int train_and_save(fit_run *run)
{
    cli_progress progress;
    cli_progress_begin(&progress, &run->options, cli_kind_name(run->options.kind), run->arguments);
    int status = broad_fit(&run->model, run->train, &run->options, &run->seconds);
    cli_progress_end(&progress);
    if (!status) status = save(run);
    cli_signals_release();
    return status;
}

/* The test file is read the way the model sees it, so only now that there is a model. */
static int read_test(fit_run *run)
{
    broad_read_options read = run->read;
    read.labels = cli_given(run->arguments, "test-labels");
    read.model = run->model;
    int status = broad_data_read(&run->test, run->test_path, &read);
    if (status) cli_note(run->arguments, "the model is saved in %s, but it could not be tested", run->output);
    return status;
}

static int measure(fit_run *run)
{
    int status = BROAD_OK;
    if (run->test_path) status = read_test(run);
    if (!status) status = broad_eval(&run->train_metrics, run->model, run->train, run->options.threads);
    if (!status && run->test) status = broad_eval(&run->test_metrics, run->model, run->test, run->options.threads);
    return status;
}

/* ---- report ---- */

static json_t *seconds_json(const fit_run *run)
{
    json_t *object = json_object();
    cli_json_put(object, "read", cli_json_real(run->read_seconds));
    cli_json_put(object, "features", cli_json_real(run->seconds.features));
    cli_json_put(object, "layers", cli_json_real(run->seconds.layers));
    cli_json_put(object, "total", cli_json_real(cli_seconds() - run->start));
    return object;
}

static int report_json(const fit_run *run)
{
    const broad_model *model = run->model;
    json_t *object = cli_json_object("fit");
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model)));
    cli_json_put(object, "inputs", json_integer((json_int_t)broad_model_inputs(model)));
    cli_json_put(object, "outputs", json_integer((json_int_t)broad_model_outputs(model)));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "seed", cli_json_uint(broad_model_seed(model)));
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "reason", cli_json_text(broad_model_reason(model)));
    cli_json_put(object, "train", cli_metrics_json(&run->train_metrics, model));
    cli_json_put(object, "test", run->test ? cli_metrics_json(&run->test_metrics, model) : json_null());
    cli_json_put(object, "seconds", seconds_json(run));
    cli_json_put(object, "model", cli_json_text(run->output));
    cli_json_put(object, "layers", cli_layers_json(model));
    return cli_json_print(object);
}

static void print_rows(const fit_run *run)
{
    char names[256];
    const broad_model *model = run->model;
    size_t outputs = broad_model_outputs(model);
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    cli_format_names(names, sizeof names, broad_model_output_name, model, outputs);
    printf("data     %s (%s): %zu rows, %zu inputs, %zu %s (%s)\n", run->data_path, broad_data_format(run->train),
           broad_data_rows(run->train) + (run->test_path || !run->test ? 0 : broad_data_rows(run->test)),
           broad_model_inputs(model), outputs,
           classify       ? "classes"
           : outputs == 1 ? "target"
                          : "targets",
           names);
    if (run->test)
        printf("split    %zu rows to train on, %zu to test on%s%s\n", broad_data_rows(run->train),
               broad_data_rows(run->test), run->test_path ? " from " : "", run->test_path ? run->test_path : "");
}

static void print_file(const fit_run *run)
{
    struct stat info;
    char size[32] = "";
    if (stat(run->output, &info) == 0) cli_format_bytes(size, sizeof size, (double)info.st_size);
    printf("wrote    %s (%s)\n", run->output, size);
    const char *labels = run->read.labels;
    if (strcmp(run->data_path, "-") == 0) printf("next     broad info %s\n", run->output);
    else
        printf("next     broad verify %s %s%s%s\n", run->output, run->data_path, labels ? " --labels " : "",
               labels ? labels : "");
}

static void report_text(const fit_run *run)
{
    char line[256];
    const broad_model *model = run->model;
    const char *reason = broad_model_reason(model);
    print_rows(run);
    printf("network  %s, %zu nodes in %zu of %zu layers, %.2f s\n", cli_kind_name(broad_model_kind(model)),
           broad_model_nodes(model), broad_model_layers(model), run->options.enhance_layers, run->seconds.total);
    cli_print_layers(model, 0);
    printf("status   %s%s%s\n", cli_outcome_name(broad_model_outcome(model)), reason[0] ? ": " : "", reason);
    cli_metrics_line(line, sizeof line, &run->train_metrics);
    printf("train    %s\n", line);
    if (run->test) {
        cli_metrics_line(line, sizeof line, &run->test_metrics);
        printf("test     %s\n", line);
    }
    print_file(run);
}

int cli_fit(const cli_arguments *arguments)
{
    fit_run run;
    int status = prepare(&run, arguments);
    if (!status) status = read_rows(&run);
    if (!status) status = train_and_save(&run);
    if (!status && strcmp(run.output, "-")) {
        status = measure(&run);
        if (!status && cli_given(arguments, "json")) status = report_json(&run);
        else if (!status) report_text(&run);
    }
    if (!status && cli_interrupted()) {
        cli_note(arguments, "interrupted; the model so far is saved in %s", run.output);
        status = 128 + cli_interrupted();
    }
    broad_metrics_clear(&run.train_metrics);
    broad_metrics_clear(&run.test_metrics);
    broad_model_free(run.model);
    broad_data_free(run.train);
    broad_data_free(run.test);
    return status;
}
