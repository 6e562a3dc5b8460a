#include "run/run_page.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/output.h"
#include "page/training_html.h"

static int refuse_same(const char *report, const char *other, const char *what)
{
    struct stat info;
    if (!other || !cli_same_file(report, other) || (stat(report, &info) == 0 && !S_ISREG(info.st_mode)))
        return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--report %s would overwrite %s; give another name", report, what);
}

int cli_run_check_page(const cli_run *run)
{
    static const char *const inputs[] = {"labels", "with", "with-labels", "test", "test-labels", "boxes"};
    const cli_arguments *arguments = run->arguments;
    const char *report = run->report;
    if (!report) return BROAD_OK;
    if (strcmp(report, "-") == 0)
        return cli_fail(BROAD_USAGE, "--report needs a file; standard output is for the result");
    int status = refuse_same(report, run->output, "the model");
    for (size_t i = 0; !status && i < arguments->positional_count; i++)
        status = refuse_same(report, arguments->positional[i], "an input");
    for (size_t i = 0; !status && i < sizeof inputs / sizeof inputs[0]; i++) {
        const char *values[CLI_GIVEN_MAX];
        size_t count = cli_given_all(values, arguments, inputs[i]);
        for (size_t j = 0; !status && j < count; j++) status = refuse_same(report, values[j], "an input");
    }
    return status || cli_given(arguments, "plan") ? status : cli_check_writable(report);
}

int cli_run_page(const cli_run *run, const cli_files *files)
{
    if (!run->report || cli_interrupted()) return BROAD_OK;
    cli_training page = {.arguments = run->arguments,
                         .model = run->model,
                         .model_path = run->output,
                         .title = "Training report",
                         .files = files,
                         .train = run->train,
                         .test = run->test,
                         .train_metrics = &run->train_metrics,
                         .test_metrics = &run->test_metrics,
                         .test_path = run->test_path,
                         .looked_at = run->options.patience > 0 || run->options.until_accuracy > 0,
                         .threads = run->options.threads,
                         .timed = 1,
                         .seconds = run->seconds,
                         .read_seconds = run->read_seconds};
    int status = cli_training_make(&page);
    if (!status) status = cli_training_write(&page, run->report);
    if (!status) cli_training_note(&page);
    cli_training_clear(&page);
    if (!status) return BROAD_OK;
    return cli_fail(status, "the model is saved in %s, but the report could not be written: %s", run->output,
                    cli_error());
}
