/* broad fit: read, split, train, save, measure, report. */
#include <string.h>

#include "base/clock.h"
#include "io/output.h"
#include "run/files.h"
#include "run/input.h"
#include "run/kept_stats.h"
#include "run/measures.h"
#include "run/run_page.h"
#include "run/run_plan.h"
#include "run/run_report.h"
#include "run/train_run.h"
#include "values.h"

typedef struct fit_run {
    cli_run run;
    const char *path;
    double holdout;    /* 0: none */
    broad_data *whole; /* all rows, for --refit; NULL: without it */
    broad_read_options read;
} fit_run;

static int remember(broad_model *model, void *context)
{
    const fit_run *fit = context;
    const cli_run *run = &fit->run;
    return broad_model_remember(model, fit->path, fit->read.labels, run->train, fit->holdout > 0 ? run->test : NULL);
}

static int prepare(fit_run *fit, const cli_arguments *arguments)
{
    cli_run *run = &fit->run;
    memset(fit, 0, sizeof *fit);
    fit->path = arguments->positional[0];
    run->remember = remember;
    run->remember_context = fit;
    cli_read_options(&fit->read, arguments);
    int status = cli_training_options(&run->options, arguments);
    if (!status) status = cli_holdout(&fit->holdout, arguments);
    if (status) return status;
    if (fit->holdout > 0 && cli_given(arguments, "test"))
        return cli_fail(BROAD_USAGE, "--holdout and --test were both given; choose one");
    if (cli_given(arguments, "refit") && !(fit->holdout > 0))
        return cli_fail(BROAD_USAGE,
                        "--refit trains on all rows after a test: give --holdout FRACTION too, such as 0.3");
    if (cli_given(arguments, "refit") && (run->options.patience > 0 || run->options.until_accuracy > 0))
        return cli_fail(BROAD_USAGE,
                        "--refit leaves no held-out rows that could decide when to stop: omit --patience and "
                        "--until-accuracy, or --refit");
    run->increment = (cli_increment){.nodes = run->options.enhance_nodes, .layers = run->options.enhance_layers};
    if (cli_given(arguments, "keep-stats"))
        status = cli_stats_check(run->options.kind, run->options.weights == BROAD_WEIGHTS_CHAIN,
                                 run->options.class_weight || fit->read.weight);
    if (status) return status;
    const char *output = cli_value(arguments, "output");
    status = cli_check_apart(output, fit->path);
    if (!status) status = cli_check_apart(output, fit->read.labels);
    if (!status) status = cli_run_prepare(run, arguments, output);
    return status ? status : cli_run_check_rules(run, fit->holdout > 0 || run->test_path);
}

static int split_rows(fit_run *fit)
{
    broad_data *whole = fit->run.train;
    broad_split split;
    broad_split_init(&split);
    split.holdout = fit->holdout;
    split.seed = fit->run.options.seed;
    fit->run.train = NULL;
    int status = broad_data_split(&fit->run.train, &fit->run.test, whole, &split);
    if (!status && cli_given(fit->run.arguments, "refit")) fit->whole = whole;
    else broad_data_free(whole);
    return status;
}

static int read_rows(fit_run *fit)
{
    cli_run *run = &fit->run;
    int status = cli_read_table(&run->train, &run->photos, fit->path, &fit->read, run->arguments);
    if (status) return status;
    run->notes = cli_notes_json(run->train);
    if (fit->holdout > 0) status = split_rows(fit);
    run->read_seconds = broad__seconds() - run->start;
    return status;
}

/* By the training rows alone. */
static int choose_maps(cli_run *run)
{
    cli_progress progress;
    broad_options options = run->options;
    cli_progress_begin(&progress, &options, "maps", run->arguments);
    broad_map_choice_init(&run->maps);
    int status = broad_photos_prepare(&run->maps, &run->train, &run->test, &options);
    cli_progress_end(&progress);
    cli_signals_release();
    return status;
}

static int train(cli_run *run)
{
    cli_run_begin(run);
    int status = broad_trainer_open(&run->trainer, run->train, &run->options);
    if (!status) status = cli_run_read_test(run, broad_trainer_model(run->trainer));
    if (!status) status = cli_run_validate(run);
    if (!status) status = cli_run_grow(run);
    if (status) cli_progress_end(&run->progress);
    return status;
}

/* Tests a model of the training part, which then gives way to all rows. */
static int test_first(fit_run *fit)
{
    cli_run *run = &fit->run;
    broad_model *model = NULL;
    cli_run_begin(run);
    int status = broad_fit(&model, NULL, run->train, &run->options);
    cli_progress_end(&run->progress);
    cli_signals_release();
    if (!status && cli_interrupted())
        status = cli_fail(BROAD_INTERRUPTED, "interrupted before the test; nothing was written");
    if (!status) status = cli_judge(&run->test_metrics, model, run->test, run->options.threads);
    broad_model_free(model);
    if (status) return status;
    run->tested_rows = broad_data_rows(run->train);
    broad_data_free(run->train);
    broad_data_free(run->test);
    run->train = fit->whole;
    run->test = fit->whole = NULL;
    return choose_maps(run);
}

int cli_fit(const cli_arguments *arguments)
{
    fit_run fit;
    cli_run *run = &fit.run;
    int planned = 0;
    int status = prepare(&fit, arguments);
    if (!status) status = read_rows(&fit);
    if (!status) status = choose_maps(run);
    if (!status)
        status = cli_run_plan(&planned, run, broad_data_rows(run->train), broad_data_inputs(run->train),
                              broad_data_outputs(run->train), fit.whole ? 2 : 1);
    if (!status && !planned) {
        if (fit.whole) status = test_first(&fit);
        if (!status) status = train(run);
        if (!status && run->keep_stats) status = cli_run_keep_stats(run, run->train);
        cli_files files = {.count = 1, .paths = {fit.path}, .labels = {fit.read.labels}};
        if (!status) status = cli_run_measure(run);
        if (!status) status = cli_run_page(run, &files);
        if (!status) status = cli_run_report(run, &fit.path, 1);
    }
    broad_data_free(fit.whole);
    return cli_run_end(run, status);
}
