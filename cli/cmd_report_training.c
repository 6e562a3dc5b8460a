/* broad report --training: the page about the training of a model. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/progress.h"
#include "page/training_html.h"
#include "run/files.h"
#include "run/input.h"
#include "run/load_model.h"
#include "run/measures.h"
#include "run/photo_summary.h"
#include "run/show.h"
#include "values.h"

typedef struct page_run {
    const cli_arguments *arguments;
    const char *output;
    cli_files files;
    broad_model *model;
    broad_data *train, *test;
    broad_metrics train_metrics, test_metrics;
    json_t *photos;
    cli_training page;
} page_run;

static int prepare(page_run *run)
{
    static const char *const photos_only[] = {"cards", "worst", "note", "replace"};
    const cli_arguments *arguments = run->arguments;
    const char *test = cli_given(arguments, "test");
    run->output = cli_given(arguments, "output");
    if (!run->output) return cli_fail(BROAD_USAGE, "the output is missing: give a file, such as -o training.html");
    if (strcmp(run->output, "-") == 0 && cli_given(arguments, "json"))
        return cli_fail(BROAD_USAGE, "-o - writes the page to standard output; omit --json, or give a file");
    for (size_t i = 0; i < sizeof photos_only / sizeof photos_only[0]; i++)
        if (cli_given(arguments, photos_only[i]))
            return cli_fail(BROAD_USAGE, "--%s only applies to a report on photos, not to --training", photos_only[i]);
    if (cli_given(arguments, "test-labels") && !test)
        return cli_fail(BROAD_USAGE, "--test-labels was given without --test");
    int status = cli_threads(&run->page.threads, arguments);
    if (!status) status = cli_files_after_model(&run->files, arguments);
    if (!status) status = cli_check_apart(run->output, arguments->positional[0]);
    if (!status) status = cli_files_apart(&run->files, run->output);
    if (!status) status = cli_check_apart(run->output, test);
    if (!status) status = cli_check_apart(run->output, cli_given(arguments, "test-labels"));
    if (!status) status = cli_model_load(&run->model, arguments);
    return status ? status : cli_check_writable(run->output);
}

static int read_test(page_run *run, const char *path)
{
    broad_read_options read;
    cli_read_options(&read, run->arguments);
    read.labels = cli_given(run->arguments, "test-labels");
    read.model = run->model;
    return cli_read(&run->test, &run->photos, path, &read, run->arguments);
}

static int read_rows(page_run *run)
{
    const char *test = cli_given(run->arguments, "test");
    int status = BROAD_OK;
    if (run->files.count)
        status = cli_read_training(&run->train, test ? NULL : &run->test, &run->photos, run->model, run->arguments,
                                   &run->files);
    if (!status && test) status = read_test(run, test);
    if (!status && run->train) status = cli_judge(&run->train_metrics, run->model, run->train, run->page.threads);
    if (!status && run->test) status = cli_judge(&run->test_metrics, run->model, run->test, run->page.threads);
    return status;
}

static int make_page(page_run *run)
{
    cli_training *page = &run->page;
    const char *title = cli_given(run->arguments, "title");
    int status = read_rows(run);
    if (status) return status;
    page->arguments = run->arguments;
    page->model = run->model;
    page->model_path = run->arguments->positional[0];
    page->title = title ? title : "Training report";
    page->files = &run->files;
    page->train = run->train;
    page->test = run->test;
    page->train_metrics = &run->train_metrics;
    page->test_metrics = &run->test_metrics;
    page->test_path = cli_given(run->arguments, "test");
    status = cli_training_make(page);
    if (!status && cli_interrupted()) status = BROAD_INTERRUPTED;
    return status ? status : cli_training_write(page, run->output);
}

static json_t *verify_json(const cli_training *page)
{
    if (!page->verified) return json_null();
    json_t *object = json_object();
    cli_json_put(object, "holds", json_boolean(page->verdict.holds));
    cli_json_put(object, "layers", json_integer((json_int_t)page->verdict.layers));
    cli_json_put(object, "reached", cli_json_real(page->verdict.reached));
    cli_json_put(object, "product_bound", cli_json_real(page->verdict.product_bound));
    cli_json_put(object, "since_layer", json_integer((json_int_t)page->verdict.since_layer));
    cli_json_put(object, "worst_norm_error", cli_json_real(page->verdict.worst_norm_error));
    cli_json_put(object, "reason", cli_json_text(page->verdict.reason));
    return object;
}

static int report_json(page_run *run)
{
    const cli_training *page = &run->page;
    const broad_model *model = run->model;
    json_t *object = cli_json_object("report");
    cli_json_put(object, "model", cli_json_text(page->model_path));
    cli_json_put(object, "html", cli_json_text(run->output));
    cli_json_put(object, "pictures", json_integer((json_int_t)page->charts.count));
    cli_json_put(object, "no_pictures", json_null());
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model)));
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "photos", run->photos ? json_incref(run->photos) : json_null());
    cli_json_put(object, "train", run->train ? cli_metrics_json(&run->train_metrics, model) : json_null());
    cli_json_put(object, "loo", cli_estimate_json(model));
    cli_json_put(object, "test", run->test ? cli_metrics_json(&run->test_metrics, model) : json_null());
    cli_json_put(object, "verify", verify_json(page));
    return cli_json_give(run->arguments, object);
}

static void report_text(const page_run *run)
{
    const cli_training *page = &run->page;
    char line[256];
    if (strcmp(run->output, "-") == 0) return;
    if (run->train) {
        cli_metrics_line(line, sizeof line, &run->train_metrics);
        cli_print("train        %s\n", line);
    }
    if (cli_estimate_line(line, sizeof line, run->model)) cli_print("estimate     %s\n", line);
    if (run->test) {
        cli_metrics_line(line, sizeof line, &run->test_metrics);
        cli_print("test         %s\n", line);
    }
    if (page->verified) cli_print("certificate  %s\n", page->verdict.holds ? "holds" : "does NOT hold");
    cli_print("report       %s (%zu picture%s)\n", run->output, page->charts.count, cli_plural(page->charts.count));
}

static void clear(page_run *run)
{
    cli_training_clear(&run->page);
    broad_metrics_clear(&run->train_metrics);
    broad_metrics_clear(&run->test_metrics);
    json_decref(run->photos);
    broad_data_free(run->train);
    broad_data_free(run->test);
    broad_model_free(run->model);
}

int cli_report_training(const cli_arguments *arguments)
{
    page_run run = {.arguments = arguments};
    int status = prepare(&run);
    if (status) goto cleanup;
    cli_signals_catch();
    status = make_page(&run);
    cli_signals_release();
    if (status == BROAD_INTERRUPTED && cli_interrupted()) {
        cli_note(arguments, "interrupted; %s was not written", run.output);
        status = 128 + cli_interrupted();
    }
    if (status) goto cleanup;
    cli_training_note(&run.page);
    if (cli_given(arguments, "json")) status = report_json(&run);
    else report_text(&run);
    if (!status && run.page.verified && !run.page.verdict.holds) status = -BROAD_FAILED;

cleanup:
    clear(&run);
    return status;
}
