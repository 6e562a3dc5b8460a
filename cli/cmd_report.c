/* broad report: a folder with all that a model finds in photos, for people and for other programs. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/folder.h"
#include "io/jobs.h"
#include "io/progress.h"
#include "page/findings.h"
#include "page/heatmap.h"
#include "page/picture_file.h"
#include "page/report_charts.h"
#include "page/report_html.h"
#include "run/input.h"
#include "run/load_model.h"
#include "run/paths.h"
#include "run/photo_summary.h"
#include "run/show.h"
#include "values.h"

enum { WORST_MOST = 1000, FEWEST_CARDS = 6, THUMB_SIDE = 320, THUMB_QUALITY = 80 };

typedef struct report_run {
    const cli_arguments *arguments;
    size_t worst, threads;
    broad_model *model;
    broad_data *data;
    json_t *photos; /* what reading them said */
    cli_findings findings;
    cli_heat_maker *maker;
    cli_report_card *cards;
    size_t card_count;
    size_t *looked_at; /* findings that need a heat map, and how many */
    size_t looked_count;
    cli_folder folder;
} report_run;

/* ---- pictures ---- */

static int encode(cli_jpeg *out, const broad_picture *picture)
{
    out->width = broad_picture_width(picture);
    out->height = broad_picture_height(picture);
    return broad_picture_jpeg(&out->bytes, &out->count, picture, THUMB_QUALITY);
}

static int fill_card(cli_report_card *out, const cli_heat_task *task)
{
    broad_picture *whole = NULL, *framed = NULL, *canvas = NULL;
    int status = cli_photo_decode(&whole, task->photo, THUMB_SIDE);
    if (!status) status = cli_photo_framed(&framed, whole, task->photo, THUMB_SIDE);
    if (!status) status = encode(&out->photo, framed);
    if (!status) status = cli_photo_part(&canvas, whole, task->photo, THUMB_SIDE);
    if (!status) status = cli_heat_draw(canvas, &task->heat);
    if (!status) status = encode(&out->heat, canvas);
    broad_picture_free(whole);
    broad_picture_free(framed);
    broad_picture_free(canvas);
    return status;
}

/* Areas, and pictures for the cards. */
static int look_job(void *context, size_t first, size_t count)
{
    report_run *run = context;
    cli_findings *all = &run->findings;
    cli_heat_task tasks[CLI_HEAT_BATCH] = {0};
    for (size_t i = 0; i < count; i++) {
        const cli_finding *item = &all->items[run->looked_at[first + i]];
        tasks[i].photo = item->photo;
        tasks[i].output = cli_heat_output(run->model, all->scores + item->row * broad_model_outputs(run->model));
    }
    int status = cli_heat_make(tasks, count, run->maker);
    for (size_t i = 0; !status && i < count; i++) {
        size_t index = run->looked_at[first + i];
        if (cli_finding_is_positive(all, &all->items[index])) all->items[index].area = cli_heat_area(&tasks[i].heat);
        if (index < run->card_count) status = fill_card(&run->cards[index], &tasks[i]);
    }
    cli_heat_tasks_clear(tasks, count);
    return status;
}

/* The worst, but none that is surely good, unless there are hardly any others. */
static size_t count_cards(const report_run *run)
{
    const cli_findings *all = &run->findings;
    size_t most = run->worst < all->count ? run->worst : all->count, count = 0;
    while (count < most && (count < FEWEST_CARDS || cli_report_band(all, &all->items[count]) != CLI_BAND_NEGATIVE))
        count++;
    return count;
}

static int look(report_run *run)
{
    const cli_findings *all = &run->findings;
    run->card_count = count_cards(run);
    run->cards = calloc(run->card_count + 1, sizeof *run->cards);
    run->looked_at = calloc(all->count + 1, sizeof *run->looked_at);
    if (!run->cards || !run->looked_at)
        return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot store the images of %zu photos", all->count);
    for (size_t i = 0; i < all->count; i++)
        if (i < run->card_count || cli_finding_is_positive(all, &all->items[i]))
            run->looked_at[run->looked_count++] = i;
    return cli_jobs_run(run->looked_count, CLI_HEAT_BATCH, cli_heat_threads(run->threads), look_job, run, "heat maps",
                        run->arguments);
}

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
                            .title = cli_value(run->arguments, "title"),
                            .model_path = run->arguments->positional[0],
                            .card_count = run->card_count,
                            .cards = run->cards,
                            .charts = &charts};
    int status = place(path, run, "findings.csv");
    if (!status) status = cli_findings_write_csv(&run->findings, path);
    if (!status) status = place(path, run, "findings.geojson");
    if (!status) status = cli_findings_write_geojson(&run->findings, path);
    if (!status) status = place(path, run, "skipped.csv");
    if (!status) status = cli_skipped_write_csv(run->data, path);
    if (!status) status = place(path, run, "report.html");
    if (!status) status = cli_report_charts(&charts, &run->findings, run->card_count);
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

static int report_json(report_run *run, const char *folder)
{
    const cli_findings *all = &run->findings;
    cli_tally found = cli_report_count(all);
    json_t *object = cli_json_object("report");
    cli_json_put(object, "model", cli_json_text(run->arguments->positional[0]));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(run->model))));
    cli_json_put(object, "folder", cli_json_text(folder));
    cli_json_put(object, "findings", json_integer((json_int_t)all->count));
    cli_json_put(object, "positive",
                 all->classes ? cli_json_text(broad_model_output_name(run->model, broad_model_positive(run->model)))
                              : json_null());
    cli_json_put(object, "positive_count", count_json(found.positive, all->classes));
    cli_json_put(object, "unsure_count", count_json(found.unsure, all->probabilities));
    cli_json_put(object, "negative_count", count_json(found.negative, all->classes));
    cli_json_put(object, "with_place", json_integer((json_int_t)found.placed));
    cli_json_put(object, "skipped_count", json_integer((json_int_t)broad_data_skipped_count(run->data)));
    cli_json_put(object, "pictures", json_integer((json_int_t)run->card_count));
    cli_json_put(object, "html", file_json(folder, "report.html"));
    cli_json_put(object, "csv", file_json(folder, "findings.csv"));
    cli_json_put(object, "geojson", file_json(folder, "findings.geojson"));
    cli_json_put(object, "skipped", file_json(folder, "skipped.csv"));
    cli_json_put(object, "photos", run->photos ? json_incref(run->photos) : json_null());
    return cli_json_give(run->arguments, object);
}

static void report_text(const report_run *run, const char *folder)
{
    const cli_findings *all = &run->findings;
    cli_tally found = cli_report_count(all);
    cli_print("photos    %zu classified, %zu skipped\n", all->count, broad_data_skipped_count(run->data));
    if (all->classes) {
        cli_print("verdicts  %zu %s", found.positive,
                  broad_model_output_name(run->model, broad_model_positive(run->model)));
        if (all->probabilities) cli_print(", %zu unsure", found.unsure);
        cli_print(", %zu other\n", found.negative);
    } else if (all->count) {
        cli_print("values    %.4g to %.4g\n", all->items[all->count - 1].severity, all->items[0].severity);
    }
    cli_print("report    %s/report.html\n", folder);
}

/* ---- the command ---- */

/* What belongs to the other kind of report alone. */
static int check_photos(const cli_arguments *arguments)
{
    static const char *const others[] = {"target", "labels", "header", "separator", "test", "test-labels", "memory"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (cli_given(arguments, others[i]))
            return cli_fail(BROAD_USAGE, "--%s only applies to --training; give that too, or omit it", others[i]);
    if (arguments->positional_count > 1) return BROAD_OK;
    return cli_fail(BROAD_USAGE,
                    "the photos are missing: 'broad report MODEL PHOTOS... -o DIR'; for a report on the training of a "
                    "model, give --training");
}

static int prepare(report_run *run)
{
    const cli_arguments *arguments = run->arguments;
    int status = check_photos(arguments);
    if (!status) status = cli_threads(&run->threads, arguments);
    if (!status) status = cli_count(&run->worst, arguments, "worst");
    if (status) return status;
    if (run->worst > WORST_MOST)
        return cli_fail(BROAD_USAGE, "--worst: %zu photos are too many for one page; the maximum is %d", run->worst,
                        WORST_MOST);
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

static int make_report(report_run *run)
{
    int status = read_photos(run);
    if (!status) status = cli_findings_make(&run->findings, run->model, run->data, run->threads);
    if (!status) status = look(run);
    if (!status) status = write_files(run);
    return !status && cli_interrupted() ? BROAD_INTERRUPTED : status;
}

static void clear(report_run *run)
{
    for (size_t i = 0; run->cards && i < run->card_count; i++) {
        broad_free(run->cards[i].photo.bytes);
        broad_free(run->cards[i].heat.bytes);
    }
    free(run->cards);
    free(run->looked_at);
    cli_findings_clear(&run->findings);
    cli_heat_maker_close(run->maker);
    json_decref(run->photos);
    broad_data_free(run->data);
    broad_model_free(run->model);
}

int cli_report(const cli_arguments *arguments)
{
    if (cli_given(arguments, "training")) return cli_report_training(arguments);
    report_run run = {.arguments = arguments};
    const char *folder = cli_given(arguments, "output");
    int status = prepare(&run);
    if (status) goto cleanup;
    cli_signals_catch();
    status = cli_folder_begin(&run.folder, folder);
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
