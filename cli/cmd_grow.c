/* broad grow: more layers, or feature groups with their layers, on the rows the model was trained on. */
#include <string.h>

#include "base/clock.h"
#include "io/output.h"
#include "run/files.h"
#include "run/input.h"
#include "run/kept_stats.h"
#include "run/run_page.h"
#include "run/run_plan.h"
#include "run/run_report.h"
#include "run/train_run.h"
#include "values.h"

typedef struct grow_run {
    cli_run run;
    cli_files files;
    int had_stats; /* beside the model that grows */
} grow_run;

static int read_increment(cli_run *run, const cli_arguments *arguments)
{
    int status = cli_increment_options(&run->options, arguments);
    if (status) return status;
    const broad_options *options = &run->options;
    int features = cli_given(arguments, "features") != NULL, enhance = cli_given(arguments, "enhance") != NULL;
    if (!enhance && !features && cli_given(arguments, "keep-stats")) return BROAD_OK;
    if (!enhance)
        return cli_fail(
            BROAD_USAGE,
            "--enhance is missing: give the layers to add, such as --enhance 100x10 (see 'broad help grow')");
    if (features && options->enhance_layers > 1)
        return cli_fail(
            BROAD_USAGE,
            "with --features, each new group gets one layer; give its number of nodes alone, such as --enhance 200");
    run->increment = (cli_increment){
        .nodes = options->enhance_nodes,
        .layers = features ? options->feature_groups : options->enhance_layers,
        .groups = features ? options->feature_groups : 0,
        .group_nodes = features ? options->feature_nodes : 0,
    };
    return BROAD_OK;
}

static int prepare(grow_run *grow, const cli_arguments *arguments)
{
    cli_run *run = &grow->run;
    memset(grow, 0, sizeof *grow);
    const char *model = arguments->positional[0], *output = cli_given(arguments, "output");
    int status = read_increment(run, arguments);
    if (!status) status = cli_files_after_model(&grow->files, arguments);
    if (!status) status = cli_files_apart(&grow->files, output ? output : model);
    if (!status) status = cli_run_prepare(run, arguments, output ? output : model);
    if (!status) status = cli_run_load(run, model);
    if (!status && !grow->files.count) cli_files_complete(&grow->files, run->model, arguments);
    grow->had_stats = !status && cli_stats_exist(model);
    return status || !run->keep_stats ? status : cli_stats_check_model(run->model);
}

static int read_rows(grow_run *grow)
{
    cli_run *run = &grow->run;
    broad_data **apart = run->test_path ? NULL : &run->test;
    int status = cli_read_training(&run->train, apart, &run->photos, run->model, run->arguments, &grow->files);
    if (!status) status = cli_run_read_test(run, run->model);
    if (!status) status = cli_run_check_rules(run, run->test != NULL);
    run->read_seconds = broad__seconds() - run->start;
    return status;
}

static int grow_model(cli_run *run)
{
    int force = cli_given(run->arguments, "force") != NULL;
    if (run->increment.layers == 0)
        return cli_same_file(run->output, run->model_path) ? BROAD_OK : cli_run_save(run, run->model, NULL);
    cli_run_begin(run);
    int status = broad_trainer_resume(&run->trainer, run->model, run->train, &run->options, force);
    if (!status) status = cli_run_validate(run);
    if (!status) status = cli_run_grow(run);
    if (status) cli_progress_end(&run->progress);
    return status;
}

static int save_stats(grow_run *grow)
{
    cli_run *run = &grow->run;
    int in_place = cli_same_file(run->output, run->model_path);
    if (run->keep_stats || (grow->had_stats && in_place)) return cli_run_keep_stats(run, run->train);
    if (grow->had_stats)
        cli_note(run->arguments, "%s.stats belongs to %s; give --keep-stats to compute sums for %s too",
                 run->model_path, run->model_path, run->output);
    return BROAD_OK;
}

int cli_grow(const cli_arguments *arguments)
{
    grow_run grow;
    cli_run *run = &grow.run;
    int planned = 0;
    int status = prepare(&grow, arguments);
    if (!status) status = read_rows(&grow);
    if (!status)
        status = cli_run_plan(&planned, run, broad_data_rows(run->train), broad_data_inputs(run->train),
                              broad_data_outputs(run->train), 1);
    if (!status && !planned) {
        status = grow_model(run);
        if (!status) status = save_stats(&grow);
        if (!status) status = cli_run_measure(run);
        if (!status) status = cli_run_page(run, &grow.files);
        if (!status) status = cli_run_report(run, grow.files.paths, grow.files.count);
    }
    return cli_run_end(run, status);
}
