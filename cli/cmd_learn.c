/* broad learn: new rows, with the old ones, with their sums, or with neither. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "io/output.h"
#include "io/progress.h"
#include "run/correction.h"
#include "run/files.h"
#include "run/input.h"
#include "run/kept_stats.h"
#include "run/run_page.h"
#include "run/run_report.h"
#include "run/show.h"
#include "values.h"

typedef struct learn_run {
    cli_run run;
    cli_files old;
    const char *path;
    broad_data *fresh;
    int had_stats; /* sums were beside the model */
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
    learn->way = forgetful ? FORGETFUL : learn->old.count ? WITH_ROWS : WITH_SUMS;
    learn->had_stats = cli_stats_exist(run->model_path);
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

static int prepare(learn_run *learn, const cli_arguments *arguments)
{
    cli_run *run = &learn->run;
    memset(learn, 0, sizeof *learn);
    learn->path = arguments->positional[1];
    const char *model = arguments->positional[0], *output = cli_given(arguments, "output");
    run->model_path = model;
    int status = cli_increment_options(&run->options, arguments);
    if (!status) status = cli_files_given(&learn->old, arguments, "with", "with-labels");
    if (!status) status = cli_files_apart(&learn->old, output ? output : model);
    if (!status) status = cli_check_apart(output ? output : model, learn->path);
    if (!status) status = cli_check_apart(output ? output : model, cli_given(arguments, "labels"));
    if (!status) status = cli_run_prepare(run, arguments, output ? output : model);
    if (!status) status = cli_run_load(run, model);
    if (!status) status = choose_way(learn);
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
    int status = cli_read(&learn->fresh, &run->photos, learn->path, &read, run->arguments);
    if (!status || read.new_classes || broad_error_reason() != BROAD_REASON_UNKNOWN_LABEL) return status;
    return cli_fail(status, "%s; correct the labels, or give --new-classes to add them as classes", cli_error());
}

static int read_rows(learn_run *learn)
{
    cli_run *run = &learn->run;
    broad_data **apart = run->test_path ? NULL : &run->test;
    int status = read_fresh(learn);
    if (!status && learn->way == WITH_ROWS)
        status = cli_read_training(&run->train, apart, &run->photos, run->model, run->arguments, &learn->old);
    if (!status) status = cli_run_read_test(run, run->model);
    if (!status) status = cli_run_check_rules(run, run->test != NULL);
    run->fresh = learn->fresh;
    if (!status) status = cli_correction_compare(&learn->correction, run);
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
    if (!status) status = cli_run_save(run, run->model, stats);
    run->stats_kept = run->resolved = status == BROAD_OK;
    broad_stats_free(stats);
    return status;
}

/* All rows together, now that the model knows the new classes. */
static int join_rows(learn_run *learn)
{
    cli_run *run = &learn->run;
    broad_data *all = NULL;
    if (!run->train) return BROAD_OK;
    int status = broad_data_append(&all, run->train, learn->fresh);
    if (status) return status;
    broad_data_free(run->train);
    run->train = all;
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

static int learn_rows(learn_run *learn)
{
    cli_run *run = &learn->run;
    int status = cli_correction_measure(&learn->correction, run);
    if (!status) status = learn->way == WITH_SUMS ? learn_by_sums(learn) : learn_by_layers(learn);
    if (!status) status = cli_correction_count(&learn->correction, run);
    if (!status) status = cli_correction_measure_after(&learn->correction, run);
    if (!status) status = join_rows(learn);
    if (!status) status = save_stats(learn);
    if (!status) status = cli_run_measure(run);
    if (status) return status;
    cli_files all = learn->old;
    if (all.count == CLI_GIVEN_MAX) all.count--;
    all.paths[all.count] = learn->path;
    all.labels[all.count++] = cli_given(run->arguments, "labels");
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
        size_t rows = broad_data_rows(learn.fresh) + (run->train ? broad_data_rows(run->train) : 0);
        status = cli_run_plan(&planned, run, rows, broad_data_inputs(learn.fresh), broad_data_outputs(learn.fresh));
    }
    if (!status && !planned) status = learn_rows(&learn);
    status = cli_run_end(run, status);
    cli_correction_clear(&learn.correction);
    broad_data_free(learn.fresh);
    return status;
}
