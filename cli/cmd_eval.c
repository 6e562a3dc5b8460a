/* broad eval: the measures of a model on rows with known targets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/progress.h"
#include "run/files.h"
#include "run/input.h"
#include "run/load_model.h"
#include "run/measures.h"
#include "run/show.h"
#include "values.h"

static int report_json(const cli_arguments *arguments, const broad_model *model, const broad_metrics *metrics,
                       const broad_curve_point *curve, json_t *photos)
{
    json_t *object = cli_json_object("eval");
    cli_json_put(object, "model", cli_json_text(arguments->positional[0]));
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)metrics->rows));
    cli_json_put(object, "photos", photos ? json_incref(photos) : json_null());
    cli_json_put(object, "test", cli_metrics_json(metrics, model));
    cli_json_put(object, "curve", curve ? cli_curve_json(curve, model) : json_null());
    return cli_json_give(arguments, object);
}

static void report_text(const broad_model *model, const broad_metrics *metrics, const broad_curve_point *curve)
{
    cli_print_measures(metrics, model);
    if (!curve) return;
    cli_print("\n");
    cli_print_curve(curve, model);
}

/* The rows that --part means; as fit had them where it is not all. */
static int read_rows(broad_data **out, json_t **photos, const broad_model *model, const cli_arguments *arguments)
{
    enum { ALL, TRAIN, TEST };
    int part = cli_choice(arguments, "part");
    broad_read_options read;
    broad_data *train = NULL, *apart = NULL;
    cli_files files;
    if (part == ALL) {
        cli_read_options(&read, arguments);
        read.model = model;
        return cli_read(out, photos, arguments->positional[1], &read, arguments);
    }
    int status = cli_files_after_model(&files, arguments);
    if (!status) status = cli_read_training(&train, &apart, photos, model, arguments, &files);
    if (!status && part == TEST && !apart)
        status = cli_fail(
            BROAD_BAD_DATA,
            "--part test: fit held out no rows of %s, or trained on them in the end (--refit); omit --part to measure "
            "on all rows",
            files.paths[0]);
    if (!status) *out = part == TEST ? apart : train;
    broad_data_free(status || part == TEST ? train : apart);
    if (status) broad_data_free(apart);
    return status;
}

static int make_curve(broad_curve_point **out, const broad_model *model, const broad_data *data, size_t threads,
                      const cli_arguments *arguments)
{
    int loo = cli_given(arguments, "loo") != NULL;
    if (!cli_given(arguments, "curve")) return BROAD_OK;
    *out = calloc(broad_model_layers(model) + 1, sizeof **out);
    if (!*out) return cli_fail(BROAD_NO_MEMORY, "out of memory while computing the curve");
    broad_curve_point_init(*out);
    return (loo ? broad_model_curve_loo : broad_model_curve)(*out, model, data, cli_watch(threads));
}

static int measure(broad_metrics *out, const broad_model *model, const broad_data *data,
                   const broad_eval_options *options, size_t threads)
{
    const broad_run_options *watch = cli_watch(threads);
    broad_eval_options all = *options;
    all.threads = watch->threads;
    all.progress = watch->progress;
    all.progress_context = watch->progress_context;
    all.comm = watch->comm;
    return broad_eval_with(out, model, data, &all);
}

int cli_eval(const cli_arguments *arguments)
{
    broad_model *model = NULL;
    broad_data *data = NULL;
    json_t *photos = NULL;
    broad_curve_point *curve = NULL;
    broad_metrics metrics = {.size = sizeof metrics};
    size_t threads = 0;
    broad_eval_options options;
    broad_eval_options_init(&options);
    if (cli_given(arguments, "loo") && !cli_given(arguments, "curve"))
        return cli_fail(BROAD_USAGE, "--loo needs --curve");
    int status = cli_threads(&threads, arguments);
    if (!status) status = cli_device(&options.device, arguments);
    if (!status) status = cli_level(&options.level, arguments);
    if (!status) status = cli_threshold(&options.threshold, arguments);
    if (!status) status = cli_model_load(&model, arguments);
    if (!status) status = read_rows(&data, &photos, model, arguments);
    if (!status) status = measure(&metrics, model, data, &options, threads);
    if (!status) status = make_curve(&curve, model, data, threads, arguments);
    if (!status) cli_note_untested(arguments, &metrics, model);
    if (!status && cli_given(arguments, "json")) status = report_json(arguments, model, &metrics, curve, photos);
    else if (!status) report_text(model, &metrics, curve);
    broad_metrics_clear(&metrics);
    free(curve);
    json_decref(photos);
    broad_data_free(data);
    broad_model_free(model);
    return status;
}
