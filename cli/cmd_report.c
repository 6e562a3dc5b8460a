/* broad report: a folder with all that a model finds in photos, for people and for other programs. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/folder.h"
#include "io/progress.h"
#include "page/findings.h"
#include "page/heatmap.h"
#include "page/report_charts.h"
#include "page/report_html.h"
#include "page/report_pictures.h"
#include "run/input.h"
#include "run/load_model.h"
#include "run/measures.h"
#include "run/paths.h"
#include "run/photo_summary.h"
#include "run/show.h"
#include "values.h"

enum { CARDS_MOST = 1000 };

/* An earlier report, which --replace removes. */
static const char *const earlier_files[] = {"report.html", "findings.csv", "findings.geojson", "skipped.csv", NULL};
static const char *const earlier_others[] = {".pictures", NULL};
static const cli_folder_content earlier = {earlier_files, earlier_others};

typedef struct report_run {
    const cli_arguments *arguments;
    size_t cards, threads;
    broad_model *model;
    broad_data *data;
    json_t *photos; /* what reading them said */
    cli_findings findings;
    cli_heat_maker *maker;
    cli_report_pictures pictures;
    broad_metrics test; /* no rows: none was asked for */
    size_t note_count;
    const char *notes[CLI_GIVEN_MAX];
    cli_folder folder;
} report_run;

/* ---- files ---- */

static int place(char out[PATH_MAX], const report_run *run, const char *name)
{
    int length = snprintf(out, PATH_MAX, "%s/%s", run->folder.temporary, name);
    if (length > 0 && length < PATH_MAX) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: the path is too long", run->folder.path);
}

static int write_files(const report_run *run)
{
    char path[PATH_MAX];
    cli_charts charts = {0};
    cli_report_page page = {.findings = &run->findings,
                            .pictures = &run->pictures,
                            .title = cli_value(run->arguments, "title"),
                            .model_path = run->arguments->positional[0],
                            .test = run->test.rows ? &run->test : NULL,
                            .note_count = run->note_count,
                            .notes = run->notes,
                            .charts = &charts};
    const cli_links *links = &run->pictures.links;
    int status = place(path, run, "findings.csv");
    if (!status) status = cli_findings_write_csv(&run->findings, links, path);
    if (!status) status = place(path, run, "findings.geojson");
    if (!status) status = cli_findings_write_geojson(&run->findings, links, path);
    if (!status) status = place(path, run, "skipped.csv");
    if (!status) status = cli_skipped_write_csv(run->data, path);
    if (!status) status = place(path, run, "report.html");
    if (!status) status = cli_report_charts(&charts, &run->findings);
    if (!status) status = cli_report_write_html(&page, path);
    cli_charts_clear(&charts);
    return status;
}

/* ---- what is said at the end ---- */

static json_t *count_json(size_t count, int known) { return known ? json_integer((json_int_t)count) : json_null(); }

static json_t *file_json(const char *folder, const char *name)
{
    char path[PATH_MAX];
    size_t length = strlen(folder);
    snprintf(path, sizeof path, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name);
    return cli_json_text(path);
}

/* How many photos got each verdict. */
static json_t *verdicts_json(const cli_findings *all)
{
    if (!all->classes) return json_null();
    json_t *object = json_object();
    for (size_t i = 0; i < broad_model_outputs(all->model); i++) {
        json_t *name = cli_json_text(broad_model_output_name(all->model, i));
        if (name)
            cli_json_put(object, json_string_value(name), json_integer((json_int_t)cli_report_count_class(all, i)));
        json_decref(name);
    }
    return object;
}

static void put_counts(json_t *object, const cli_findings *all)
{
    cli_tally found = cli_report_count(all);
    const broad_model *model = all->model;
    size_t positive = all->classes ? cli_report_count_class(all, broad_model_positive(model)) : 0;
    cli_json_put(object, "positive",
                 all->classes ? cli_json_text(broad_model_output_name(model, broad_model_positive(model)))
                              : json_null());
    cli_json_put(object, "positive_count", count_json(positive, all->classes));
    cli_json_put(object, "unsure_count", count_json(found.unsure, all->probabilities));
    cli_json_put(object, "negative_count", count_json(found.faults + found.normal - positive, all->classes));
    cli_json_put(object, "normal", cli_normal_json(model));
    cli_json_put(object, "unlike_count", json_integer((json_int_t)found.unlike));
    cli_json_put(object, "fault_count", count_json(found.faults, all->classes));
    cli_json_put(object, "verdicts", verdicts_json(all));
    cli_json_put(object, "with_place", json_integer((json_int_t)found.placed));
}

static int report_json(report_run *run, const char *folder)
{
    const cli_findings *all = &run->findings;
    json_t *object = cli_json_object("report");
    cli_json_put(object, "model", cli_json_text(run->arguments->positional[0]));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(run->model))));
    cli_json_put(object, "folder", cli_json_text(folder));
    cli_json_put(object, "findings", json_integer((json_int_t)all->count));
    put_counts(object, all);
    cli_json_put(object, "skipped_count", json_integer((json_int_t)broad_data_skipped_count(run->data)));
    cli_json_put(object, "test", run->test.rows ? cli_metrics_json(&run->test, run->model) : json_null());
    cli_json_put(object, "pictures", json_integer((json_int_t)run->pictures.card_count));
    cli_json_put(object, "html", file_json(folder, "report.html"));
    cli_json_put(object, "csv", file_json(folder, "findings.csv"));
    cli_json_put(object, "geojson", file_json(folder, "findings.geojson"));
    cli_json_put(object, "skipped", file_json(folder, "skipped.csv"));
    cli_json_put(object, "photos", run->photos ? json_incref(run->photos) : json_null());
    return cli_json_give(run->arguments, object);
}

/* "verdicts  20 Dusty, 4 Broken, 5 unsure, 34 Clean": the normal class comes last. */
static void print_verdicts(const cli_findings *all)
{
    size_t classes = broad_model_outputs(all->model), normal = broad_model_normal(all->model);
    const cli_tally found = cli_report_count(all);
    const char *between = "verdicts  ";
    for (size_t i = 0; i < classes; i++) {
        size_t count = cli_report_count_class(all, i);
        if (i == normal || (!count && classes > 2)) continue;
        cli_print("%s%zu %s", between, count, broad_model_output_name(all->model, i));
        between = ", ";
    }
    if (all->probabilities) cli_print("%s%zu unsure", between, found.unsure);
    if (found.unlike) cli_print(", %zu not like the training photos", found.unlike);
    cli_print(", %zu %s\n", found.normal, cli_report_normal(all));
}

static void report_text(const report_run *run, const char *folder)
{
    const cli_findings *all = &run->findings;
    cli_print("photos    %zu classified, %zu skipped\n", all->count, broad_data_skipped_count(run->data));
    if (all->classes) print_verdicts(all);
    else if (all->count) cli_print("values    %.4g to %.4g\n", all->items[all->count - 1].value, all->items[0].value);
    cli_print("report    %s/report.html\n", folder);
}

/* ---- the command ---- */

/* What belongs to the other kind of report alone. */
static int check_photos(const cli_arguments *arguments)
{
    static const char *const others[] = {"target", "labels", "header", "separator", "memory"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (cli_given(arguments, others[i]))
            return cli_fail(BROAD_USAGE, "--%s only applies to --training; give that too, or omit it", others[i]);
    if (arguments->positional_count > 1) return BROAD_OK;
    return cli_fail(BROAD_USAGE,
                    "the photos are missing: 'broad report MODEL PHOTOS... -o DIR'; for a report on the training of a "
                    "model, give --training");
}

static int take_notes(report_run *run)
{
    run->note_count = cli_given_all(run->notes, run->arguments, "note");
    for (size_t i = 0; i < run->note_count; i++) {
        const char *sign = strchr(run->notes[i], '=');
        if (!sign || sign == run->notes[i])
            return cli_fail(BROAD_USAGE, "--note '%s': give a name and a text, such as --note 'Site=Roof 7'",
                            run->notes[i]);
    }
    return BROAD_OK;
}

static int take_cards(report_run *run)
{
    const char *option = cli_given(run->arguments, "worst") ? "worst" : "cards"; /* its name in version 0.1 */
    int status = cli_count(&run->cards, run->arguments, option);
    if (status || run->cards <= CARDS_MOST) return status;
    return cli_fail(BROAD_USAGE, "--%s: %zu photos are too many for one page; the maximum is %d", option, run->cards,
                    CARDS_MOST);
}

static int prepare(report_run *run)
{
    const cli_arguments *arguments = run->arguments;
    int status = check_photos(arguments);
    if (!status) status = cli_threads(&run->threads, arguments);
    if (!status) status = take_cards(run);
    if (!status) status = take_notes(run);
    if (status) return status;
    if (!cli_given(arguments, "output"))
        return cli_fail(BROAD_USAGE, "the output is missing: give a new folder, such as -o report");
    status = cli_model_load(&run->model, arguments);
    if (!status && !broad_model_maps(run->model))
        return cli_fail(BROAD_USAGE, "%s was not trained on photos; for a report on its training, give --training",
                        arguments->positional[0]);
    return status ? status : cli_heat_maker_open(&run->maker, run->model);
}

static int read_photos(report_run *run)
{
    cli_paths paths;
    broad_read_options read;
    cli_read_options(&read, run->arguments);
    read.model = run->model;
    read.target_optional = 1;
    int status = cli_paths_take(&paths, run->arguments, 1, 1);
    const cli_input input = {paths.items, paths.count, &read, CLI_TO_REPORT, run->arguments};
    if (!status) status = cli_input_read(&run->data, &run->photos, &input);
    cli_paths_clear(&paths);
    return status;
}

/* Photos whose classes or values are known, to say how good the model is. */
static int measure_test(report_run *run)
{
    broad_read_options read;
    broad_data *data = NULL;
    json_t *record = NULL;
    const char *path = cli_given(run->arguments, "test");
    if (!path) return BROAD_OK;
    cli_read_options(&read, run->arguments);
    read.labels = cli_given(run->arguments, "test-labels");
    read.model = run->model;
    int status = cli_read(&data, &record, path, &read, run->arguments);
    if (!status) status = cli_judge(&run->test, run->model, data, run->threads);
    json_decref(record);
    broad_data_free(data);
    return status;
}

static int make_report(report_run *run)
{
    int status = measure_test(run);
    if (!status) status = read_photos(run);
    if (!status) status = cli_findings_make(&run->findings, run->model, run->data, run->threads);
    if (!status)
        status = cli_report_pictures_make(&run->pictures, &run->findings, run->maker, &run->folder, run->cards,
                                          run->threads, run->arguments);
    if (!status) status = write_files(run);
    return !status && cli_interrupted() ? BROAD_INTERRUPTED : status;
}

static void clear(report_run *run)
{
    cli_report_pictures_clear(&run->pictures);
    broad_metrics_clear(&run->test);
    cli_findings_clear(&run->findings);
    cli_heat_maker_close(run->maker);
    json_decref(run->photos);
    broad_data_free(run->data);
    broad_model_free(run->model);
}

int cli_report(const cli_arguments *arguments)
{
    if (cli_given(arguments, "training")) return cli_report_training(arguments);
    report_run run = {.arguments = arguments, .test = {.size = sizeof run.test}};
    const char *folder = cli_given(arguments, "output");
    int status = prepare(&run);
    if (status) goto cleanup;
    cli_signals_catch();
    status = cli_folder_begin_again(&run.folder, folder, &earlier, cli_given(arguments, "replace") != NULL);
    if (status) goto cleanup;
    status = make_report(&run);
    if (status) {
        int left = cli_folder_abandon(&run.folder); /* a folder left behind matters more than why */
        if (left) status = left;
        else if (status == BROAD_INTERRUPTED && cli_interrupted()) {
            cli_note(arguments, "interrupted; %s was not written", folder);
            status = 128 + cli_interrupted();
        }
        goto cleanup;
    }
    status = cli_folder_commit(&run.folder);
    cli_signals_release();
    if (status) goto cleanup;
    if (cli_given(arguments, "json")) status = report_json(&run, folder);
    else report_text(&run, folder);

cleanup:
    clear(&run);
    return status;
}
