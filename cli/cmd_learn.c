/* broad learn: new rows, with the old ones, with their sums, or with neither. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "io/output.h"
#include "io/progress.h"
#include "run/correction.h"
#include "run/corrections_file.h"
#include "run/files.h"
#include "run/input.h"
#include "run/kept_stats.h"
#include "run/recall.h"
#include "run/run_page.h"
#include "run/run_plan.h"
#include "run/run_report.h"
#include "run/show.h"
#include "values.h"

typedef struct learn_run {
    cli_run run;
    cli_files old;
    const char *path; /* NEW, or the folder of the corrections; NULL: none was given */
    cli_fresh source; /* what is learned */
    cli_corrections corrections;
    cli_recall *recall;  /* of photos that the model remembers; NULL: it does not */
    int anew;            /* some of them are not as they were: the network is fitted again */
    size_t plain;        /* number of old rows that count 1 */
    double *old_weights; /* what the others count */
    broad_data *fresh;   /* NULL: nothing is new, but old photos have changed */
    int had_stats;       /* sums were beside the model */
    enum { WITH_ROWS, WITH_SUMS, FORGETFUL } way;
    cli_correction correction;
} learn_run;

/* What there is to choose from without the old rows. */
static int fail_without_rows(const cli_run *run)
{
    static const char needed[] =
        "the old rows are needed too: give --with OLD, the file (or files, in order) the model "
        "was trained on";
    if (cli_stats_check_model(run->model)) return cli_fail(BROAD_USAGE, "%s", needed);
    return cli_fail(BROAD_USAGE,
                    "%s. Alternatives: fit with --keep-stats, so that %s.stats replaces the old rows; or "
                    "give --forgetful to fit a new layer to the new rows alone, which may make the model worse on the "
                    "old ones",
                    needed, run->model_path);
}

static int choose_way(learn_run *learn)
{
    const cli_run *run = &learn->run;
    const cli_arguments *arguments = run->arguments;
    int forgetful = cli_given(arguments, "forgetful") != NULL;
    learn->had_stats = cli_stats_exist(run->model_path);
    if (!forgetful && (learn->old.count || !learn->had_stats)) cli_files_complete(&learn->old, run->model, arguments);
    int recalled = !learn->had_stats && cli_recall_possible(run->model);
    learn->way = forgetful ? FORGETFUL : learn->old.count || recalled ? WITH_ROWS : WITH_SUMS;
    if (forgetful && learn->old.count)
        return cli_fail(BROAD_USAGE, "--forgetful ignores the old rows and --with reads them; choose one");
    if (forgetful && broad_model_fitting(run->model) != BROAD_FITTING_CHAIN)
        return cli_fail(BROAD_USAGE, "--forgetful: joint weights are solved on all rows and cannot be learned from new "
                                     "rows alone; give the old ones with --with OLD");
    if (run->keep_stats && learn->way == WITH_ROWS) return cli_stats_check_model(run->model);
    if (learn->way != WITH_SUMS) return BROAD_OK;
    if (!learn->had_stats) return fail_without_rows(run);
    if (cli_given(arguments, "enhance"))
        return cli_fail(BROAD_USAGE,
                        "with the sums in %s.stats every layer is solved again and none is added; omit --enhance, or "
                        "give --with OLD",
                        run->model_path);
    if (strcmp(run->output, "-") == 0)
        return cli_fail(BROAD_USAGE, "the sums are saved next to the model, so -o needs a file, not -");
    return BROAD_OK;
}

/* Unless --enhance says otherwise: nothing where one ridge over all nodes is solved again, else one layer of as many nodes
 * as fit was told. */
static int choose_nodes(learn_run *learn)
{
    cli_run *run = &learn->run;
    broad_options settings;
    if (learn->way == WITH_SUMS) return BROAD_OK;
    run->increment = (cli_increment){.nodes = run->options.enhance_nodes, .layers = run->options.enhance_layers};
    if (cli_given(run->arguments, "enhance")) return BROAD_OK;
    if (cli_solved_jointly(run->model)) {
        run->increment.nodes = run->increment.layers = 0;
        return BROAD_OK;
    }
    broad_options_init(&settings);
    int status = broad_model_settings(&settings, run->model);
    if (status) return status;
    run->increment.nodes = settings.enhance_nodes;
    run->increment.layers = 1;
    return BROAD_OK;
}

static int remember(broad_model *model, void *context)
{
    const learn_run *learn = context;
    if (learn->recall) return cli_recall_remember(model, learn->recall);
    return broad_model_remember(model, learn->source.path, learn->source.labels, learn->fresh, NULL);
}

/* Photos that are learned although they are not in the folder that was given. */
static void note_outside(const learn_run *learn, const char *list)
{
    const cli_corrections *all = &learn->corrections;
    char more[48] = "";
    if (!all->outside) return;
    if (all->outside > 1) snprintf(more, sizeof more, ", and %zu more", all->outside - 1);
    cli_note(learn->run.arguments, "%s names photos that do not lie below %s, but are there, and are learned: %s%s",
             list, learn->path, all->files[all->first_outside], more);
}

/* What is to be learned: the rows of NEW, or corrections of photos. */
static int choose_source(learn_run *learn)
{
    const cli_arguments *arguments = learn->run.arguments;
    const char *corrections = cli_given(arguments, "corrections"), *labels = cli_given(arguments, "labels");
    int new_classes = cli_given(arguments, "new-classes") != NULL;
    learn->source = (cli_fresh){.path = learn->path, .labels = labels};
    if (!corrections && !learn->path)
        return cli_fail_usage(arguments->command, "NEW is missing: give the new rows, or --corrections FILE");
    if (!corrections) return BROAD_OK;
    if (labels || cli_given(arguments, "target"))
        return cli_fail(BROAD_USAGE, "--corrections has the labels already; omit --labels and --target");
    if (!broad_model_maps(learn->run.model) || broad_model_task(learn->run.model) != BROAD_TASK_CLASSIFY)
        return cli_fail(BROAD_USAGE,
                        "--corrections is for models that tell photos apart by class; give the new rows of "
                        "other models as NEW");
    int status = cli_corrections_read(&learn->corrections, corrections, learn->path, learn->run.model, new_classes);
    if (!status) note_outside(learn, corrections);
    learn->source.path = learn->path ? learn->path : corrections;
    learn->source.labels = corrections;
    learn->source.list = learn->corrections.list_path;
    learn->source.files = (const char *const *)learn->corrections.files;
    learn->source.count = learn->corrections.count;
    learn->source.boxes = learn->corrections.boxes;
    return status;
}

static int prepare(learn_run *learn, const cli_arguments *arguments)
{
    cli_run *run = &learn->run;
    memset(learn, 0, sizeof *learn);
    learn->path = arguments->positional_count > 1 ? arguments->positional[1] : NULL;
    run->remember = remember;
    run->remember_context = learn;
    const char *model = arguments->positional[0], *output = cli_given(arguments, "output");
    run->model_path = model;
    int status = cli_increment_options(&run->options, arguments);
    if (!status) status = cli_files_given(&learn->old, arguments, "with", "with-labels");
    if (!status) status = cli_files_apart(&learn->old, output ? output : model);
    if (!status) status = cli_check_apart(output ? output : model, learn->path);
    if (!status) status = cli_check_apart(output ? output : model, cli_given(arguments, "labels"));
    if (!status) status = cli_run_prepare(run, arguments, output ? output : model);
    if (!status) status = cli_check_apart(output ? output : model, cli_given(arguments, "corrections"));
    if (!status) status = cli_run_load(run, model);
    if (!status) status = choose_way(learn);
    if (!status) status = choose_source(learn);
    if (!status) status = choose_nodes(learn);
    if (!status) status = cli_correction_weight(&learn->correction, run, learn->way == WITH_ROWS);
    run->correction = &learn->correction;
    return status ? status : cli_run_check_rules(run, run->test_path != NULL || learn->way == WITH_ROWS);
}

static int read_fresh(learn_run *learn)
{
    cli_run *run = &learn->run;
    broad_read_options read;
    cli_read_options(&read, run->arguments);
    read.model = run->model;
    read.training = 1;
    read.weight = NULL;
    read.new_classes = cli_given(run->arguments, "new-classes") != NULL;
    return cli_fresh_read(&learn->fresh, &run->photos, &learn->source, &read, run->arguments);
}

/* Rows of photos that the model remembers, and of those that it does not. */
static int recall_rows(learn_run *learn)
{
    cli_run *run = &learn->run;
    int status = cli_recall_open(&learn->recall, &run->photos, run->model, run->arguments, &learn->old, &learn->source);
    if (status) return status;
    const cli_recall *recall = learn->recall;
    cli_recall_note(recall, 1);
    if (!run->test_path) cli_recall_note_held_out(recall);
    if (run->photos) cli_json_put(run->photos, "remembered", cli_recall_json(recall));
    learn->anew = cli_recall_count(recall, CLI_FATE_GONE) || cli_recall_count(recall, CLI_FATE_CHANGED) ||
                  cli_recall_count(recall, CLI_FATE_RELABELLED);
    status = cli_recall_training(&run->train, &learn->plain, &learn->old_weights, recall);
    if (!status && !run->test_path) status = cli_recall_held_out(&run->test, recall);
    if (!status) status = cli_recall_new(&learn->fresh, recall);
    if (!status && !learn->fresh && !learn->anew)
        status = cli_fail(BROAD_BAD_DATA,
                          "there is nothing to learn: the model was trained on all photos of %s already, "
                          "with the labels that they have, or they are held out and stay so",
                          learn->source.path);
    return status;
}

static int explain_label(const cli_run *run, int status)
{
    if (!status || cli_given(run->arguments, "new-classes") || broad_error_reason() != BROAD_REASON_UNKNOWN_LABEL)
        return status;
    return cli_fail(status, "%s; correct the labels, or give --new-classes to add them as classes", cli_error());
}

static int read_rows(learn_run *learn)
{
    cli_run *run = &learn->run;
    broad_data **apart = run->test_path ? NULL : &run->test;
    int recalled = learn->way == WITH_ROWS && cli_recall_possible(run->model);
    int status = explain_label(run, recalled ? recall_rows(learn) : read_fresh(learn));
    if (!status && learn->way == WITH_ROWS && !recalled)
        status = cli_read_training(&run->train, apart, &run->photos, run->model, run->arguments, &learn->old);
    if (!status) status = cli_run_read_test(run, run->model);
    if (!status) status = cli_run_check_rules(run, run->test != NULL);
    run->fresh = learn->fresh;
    if (!learn->fresh) run->correction = NULL;
    else if (!status) status = cli_correction_compare(&learn->correction, run);
    run->read_seconds = broad__seconds() - run->start;
    return status;
}

/* ---- the three ways ---- */

static int learn_by_layers(learn_run *learn)
{
    cli_run *run = &learn->run;
    run->increment.rows = learn->fresh;
    run->increment.forgetful = learn->way == FORGETFUL;
    if (learn->way == FORGETFUL)
        cli_note(run->arguments,
                 "forgetful: the new layers are fitted to the %zu new rows alone; the model may become worse on the "
                 "old ones, which cannot be measured without them",
                 broad_data_rows(learn->fresh));
    cli_run_begin(run);
    if (learn->correction.automatic) return cli_correction_learn(&learn->correction, run);
    int status = broad_trainer_resume(&run->trainer, run->model, run->train, &run->options,
                                      cli_given(run->arguments, "force") != NULL);
    if (!status) status = cli_run_validate(run);
    if (!status) status = cli_run_grow(run);
    if (status) cli_progress_end(&run->progress);
    return status;
}

static int learn_by_sums(learn_run *learn)
{
    cli_run *run = &learn->run;
    cli_model_file source = {0};
    broad_stats *stats = NULL;
    double start = broad__seconds();
    int status =
        cli_same_file(run->output, run->model_path) ? BROAD_OK : cli_model_file_hold_to_read(&source, run->model_path);
    if (!status) status = cli_stats_load(&stats, run->model, run->model_path);
    cli_model_file_release(&source);
    if (!status) status = broad_stats_learn(stats, run->model, learn->fresh, cli_watch(run->options.threads));
    run->seconds.layers = run->seconds.total = broad__seconds() - start;
    if (!status) status = cli_run_remember(run);
    if (!status) status = cli_run_save(run, run->model, stats);
    run->stats_kept = run->resolved = status == BROAD_OK;
    broad_stats_free(stats);
    return status;
}

/* ---- old photos that are not as they were ---- */

/* "a:1,b:3", for the option; for free(). NULL: there are none. */
static char *class_weights(const broad_model *model)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = broad_model_weighs_classes(model) ? open_memstream(&text, &bytes) : NULL;
    for (size_t i = 0; out && i < broad_model_outputs(model); i++)
        fprintf(out, "%s%s:%.17g", i ? "," : "", broad_model_output_name(model, i), broad_model_class_weight(model, i));
    if (out) fclose(out);
    return text;
}

/* The settings of the model, for this run. */
static int settings_again(broad_options *out, const cli_run *run)
{
    broad_options_init(out);
    int status = broad_model_settings(out, run->model);
    out->threads = run->options.threads;
    out->memory = run->options.memory;
    out->progress = run->options.progress;
    out->progress_context = run->options.progress_context;
    out->profile = run->options.profile;
    out->positive = broad_model_output_name(run->model, broad_model_positive(run->model));
    return status;
}

/* Opens a trainer with the rows that count 1 and lets it learn the others. */
static int train_again(cli_run *run, const broad_data *plain, const broad_data *weighted, const double *weights)
{
    broad_options options;
    char *classes = class_weights(run->model);
    int status = settings_again(&options, run);
    options.class_weight = classes;
    if (!status) status = broad_trainer_open(&run->trainer, plain, &options);
    if (!status) status = broad_trainer_enhance(run->trainer, options.enhance_nodes, broad_model_layers(run->model));
    if (!status && weighted)
        status = broad_trainer_learn_weighted(run->trainer, weighted, weights, 0, 0, BROAD_LEARN_ALL_ROWS);
    if (!status) cli_run_take_model(run);
    free(classes);
    return status;
}

/* What was gone or has changed is no longer in the network, as if it had never been. */
static int fit_again(learn_run *learn)
{
    cli_run *run = &learn->run;
    size_t rows = broad_data_rows(run->train), *numbers = calloc(rows + 1, sizeof *numbers);
    broad_data *plain = NULL, *weighted = NULL;
    const char *normal = broad_model_output_name(run->model, broad_model_normal(run->model));
    if (!numbers) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < rows; i++) numbers[i] = i;
    cli_note(run->arguments,
             "so the network is fitted again, with the settings of the model, on the %zu old rows that are "
             "there",
             rows);
    int status = broad_data_pick(&plain, run->train, numbers, learn->plain);
    if (!status && learn->plain < rows)
        status = broad_data_pick(&weighted, run->train, numbers + learn->plain, rows - learn->plain);
    cli_run_begin(run);
    if (!status) status = train_again(run, plain, weighted, learn->old_weights);
    cli_progress_end(&run->progress);
    if (!status && strcmp(broad_model_output_name(run->model, broad_model_normal(run->model)), normal))
        status = broad_model_set_normal(run->model, normal);
    cli_signals_release();
    run->layers_before = broad_model_layers(run->model);
    broad_data_free(plain);
    broad_data_free(weighted);
    free(numbers);
    if (!status && cli_interrupted())
        return cli_fail(BROAD_INTERRUPTED, "interrupted; %s is as it was", run->model_path);
    if (status || learn->fresh) return status;
    status = cli_run_remember(run);
    return status ? status : cli_run_save(run, run->model, NULL);
}

/* All rows together, now that the model knows the new classes. */
static int join_rows(learn_run *learn)
{
    cli_run *run = &learn->run;
    broad_data *all = NULL;
    if (!run->train || !learn->fresh) return BROAD_OK;
    int status = broad_data_append(&all, run->train, learn->fresh);
    if (status) return status;
    broad_data_free(run->train);
    run->train = all;
    return BROAD_OK;
}

/* The rows held out, which were read before there were new classes, with these too. */
static int widen_test(learn_run *learn)
{
    cli_run *run = &learn->run;
    broad_data *all = NULL, *wide = NULL;
    size_t rows = broad_data_rows(run->test);
    if (!run->test || broad_data_outputs(learn->fresh) <= broad_data_outputs(run->test)) return BROAD_OK;
    size_t *numbers = calloc(rows + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < rows; i++) numbers[i] = i;
    int status =
        numbers ? broad_data_append(&all, run->test, learn->fresh) : cli_fail(BROAD_NO_MEMORY, "out of memory");
    if (!status) status = broad_data_pick(&wide, all, numbers, rows);
    broad_data_free(all);
    free(numbers);
    if (status) return status;
    broad_data_free(run->test);
    run->test = wide;
    return BROAD_OK;
}

static int save_stats(learn_run *learn)
{
    cli_run *run = &learn->run;
    int had = learn->had_stats, in_place = cli_same_file(run->output, run->model_path);
    if (learn->way == WITH_SUMS) return BROAD_OK;
    if (learn->way == WITH_ROWS && (run->keep_stats || (had && in_place))) return cli_run_keep_stats(run, run->train);
    if (had && in_place)
        cli_note(run->arguments,
                 "the sums in %s.stats are not those of the new model and were put aside as %s.stats~; "
                 "new ones need the old rows",
                 run->model_path, run->model_path);
    return BROAD_OK;
}

static int learn_fresh(learn_run *learn)
{
    cli_run *run = &learn->run;
    int status = learn->way == WITH_SUMS ? learn_by_sums(learn) : learn_by_layers(learn);
    if (cli_interrupted()) run->correction = NULL; /* there is no time to compare */
    if (!status && run->correction) status = cli_correction_count(&learn->correction, run);
    if (!status && run->correction) status = cli_correction_measure_after(&learn->correction, run);
    if (!status) status = widen_test(learn);
    return status ? status : join_rows(learn);
}

static int learn_rows(learn_run *learn)
{
    cli_run *run = &learn->run;
    int status = learn->fresh ? cli_correction_measure(&learn->correction, run) : BROAD_OK;
    if (!status && learn->anew) status = fit_again(learn);
    if (!status && learn->fresh) status = learn_fresh(learn);
    if (!status) status = save_stats(learn);
    if (!status) status = cli_run_measure(run);
    if (status) return status;
    cli_files all = learn->old;
    if (all.count == CLI_GIVEN_MAX) all.count--;
    all.paths[all.count] = learn->source.path;
    all.labels[all.count++] = learn->source.labels;
    status = cli_run_page(run, learn->old.count ? &all : NULL);
    return status ? status : cli_run_report(run, all.paths, all.count);
}

int cli_learn(const cli_arguments *arguments)
{
    learn_run learn;
    cli_run *run = &learn.run;
    int planned = 0;
    int status = prepare(&learn, arguments);
    if (!status) status = read_rows(&learn);
    if (!status) {
        const broad_data *some = learn.fresh ? learn.fresh : run->train;
        size_t rows = broad_data_rows(learn.fresh) + broad_data_rows(run->train);
        status = cli_run_plan(&planned, run, rows, broad_data_inputs(some), broad_data_outputs(some), 1);
    }
    if (!status && !planned) status = learn_rows(&learn);
    status = cli_run_end(run, status);
    cli_correction_clear(&learn.correction);
    cli_corrections_clear(&learn.corrections);
    cli_recall_close(learn.recall);
    free(learn.old_weights);
    broad_data_free(learn.fresh);
    return status;
}
