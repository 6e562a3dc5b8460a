/* broad eval: the measures of a model on rows with known targets. */
#include <stdio.h>
#include <string.h>

#include "photos.h"
#include "report.h"

static int report_json(const cli_arguments *arguments, const broad_model *model, const broad_metrics *metrics,
                       json_t *photos)
{
    json_t *object = cli_json_object("eval");
    cli_json_put(object, "model", cli_json_text(arguments->positional[0]));
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)metrics->rows));
    cli_json_put(object, "photos", photos ? json_incref(photos) : json_null());
    cli_json_put(object, "test", cli_metrics_json(metrics, model));
    return cli_json_print(object);
}

static void print_values(const broad_metrics *metrics)
{
    printf("rows            %zu\nRMSE            %.9g\nMAE             %.9g\nR2              %.6f\n", metrics->rows,
           metrics->rmse, metrics->mae, metrics->r2);
    if (metrics->level > 0)
        printf("coverage        %.6f of intervals of level %g\nmean width      %.9g\n", metrics->coverage,
               metrics->level, metrics->interval_width);
}

static void report_text(const broad_model *model, const broad_metrics *metrics)
{
    if (metrics->task == BROAD_TASK_REGRESS) {
        print_values(metrics);
        return;
    }
    printf(
        "rows            %zu\naccuracy        %.6f\nprecision       %.6f\nrecall          %.6f\nF1              %.6f\n",
        metrics->rows, metrics->accuracy, metrics->precision, metrics->recall, metrics->f1);
    printf("false positive  %.6f\nfalse negative  %.6f\n", metrics->false_positive, metrics->false_negative);
    if (metrics->has_probabilities)
        printf("Brier score     %.6f\nlog loss        %.6f\ncalibration     %.6f error\n", metrics->brier,
               metrics->log_loss, metrics->calibration_error);
    if (metrics->classes == 2)
        printf("positive class  %s\n", broad_model_output_name(model, broad_model_positive(model)));
    cli_print_confusion(metrics, model);
}

int cli_eval(const cli_arguments *arguments)
{
    broad_model *model = NULL;
    broad_data *data = NULL;
    json_t *photos = NULL;
    broad_metrics metrics;
    broad_read_options read;
    size_t threads = 0;
    double level = 0;
    memset(&metrics, 0, sizeof metrics);
    int status = cli_threads(&threads, arguments);
    if (!status) status = cli_level(&level, arguments);
    if (!status) status = broad_model_load(&model, arguments->positional[0]);
    if (!status) {
        cli_read_options(&read, arguments);
        read.model = model;
        status = cli_read(&data, &photos, &arguments->positional[1], 1, &read, arguments);
    }
    if (!status)
        status = level > 0 ? broad_eval_level(&metrics, model, data, level, threads)
                           : broad_eval(&metrics, model, data, threads);
    if (!status && cli_given(arguments, "json")) status = report_json(arguments, model, &metrics, photos);
    else if (!status) report_text(model, &metrics);
    broad_metrics_clear(&metrics);
    json_decref(photos);
    broad_data_free(data);
    broad_model_free(model);
    return status;
}
