#include "run/cv_folds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/measures.h"
#include "run/show.h"

/* ---- measures ---- */

/* clang-format off */
#define CLASSES(name, title, lower, of) {#name, title, BROAD_TASK_CLASSIFY, lower, offsetof(broad_metrics, name), of}
#define VALUES(name, title, lower, of) {#name, title, BROAD_TASK_REGRESS, lower, offsetof(broad_metrics, name), of}

static const cli_measure measures[] = {
    CLASSES(accuracy, "accuracy", 0, OF_VERDICTS),
    CLASSES(baseline, "baseline", 0, OF_VERDICTS),
    CLASSES(balanced_accuracy, "balanced accuracy", 0, OF_VERDICTS),
    CLASSES(precision, "precision", 0, OF_VERDICTS),
    CLASSES(recall, "recall", 0, OF_VERDICTS),
    CLASSES(f1, "F1", 0, OF_VERDICTS),
    CLASSES(false_positive, "false positive", 1, OF_VERDICTS),
    CLASSES(false_negative, "false negative", 1, OF_VERDICTS),
    CLASSES(mcc, "MCC", 0, OF_VERDICTS),
    CLASSES(roc_auc, "ROC AUC", 0, OF_VERDICTS),
    CLASSES(pr_auc, "PR AUC", 0, OF_VERDICTS),
    CLASSES(brier, "Brier score", 1, OF_PROBABILITIES),
    CLASSES(log_loss, "log loss", 1, OF_PROBABILITIES),
    CLASSES(calibration_error, "calibration error", 1, OF_PROBABILITIES),
    VALUES(rmse, "RMSE", 1, OF_VERDICTS),
    VALUES(baseline, "RMSE of the mean", 1, OF_VERDICTS),
    VALUES(mae, "MAE", 1, OF_VERDICTS),
    VALUES(r2, "R2", 0, OF_VERDICTS),
    VALUES(coverage, "coverage", 0, OF_INTERVALS),
};
/* clang-format on */

enum { MEASURES = sizeof measures / sizeof measures[0] };

const cli_measure *cli_measure_at(broad_task task, size_t index)
{
    for (size_t i = 0; i < MEASURES; i++)
        if (measures[i].task == task && index-- == 0) return &measures[i];
    return NULL;
}

const cli_measure *cli_measure_named(const char *name)
{
    for (size_t i = 0; i < MEASURES; i++)
        if (strcmp(measures[i].name, name) == 0) return &measures[i];
    return NULL;
}

double cli_measure_value(const cli_measure *measure, const broad_metrics *metrics)
{
    double value = 0;
    if (measure->of == OF_PROBABILITIES && !metrics->has_probabilities) return (double)NAN;
    if (measure->of == OF_INTERVALS && !(metrics->level > 0)) return (double)NAN;
    memcpy(&value, (const char *)metrics + measure->offset, sizeof value);
    return value;
}

void cli_format_measure(char *out, size_t bytes, broad_task task, double value)
{
    snprintf(out, bytes, task == BROAD_TASK_CLASSIFY ? "%.4f" : "%.6g", value);
}

double cli_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : (double)NAN;
}

double cli_deviation(const double *values, size_t count)
{
    double mean = cli_mean(values, count), squares = 0;
    for (size_t i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN;
}

/* ---- folds ---- */

static int cut_fold(broad_data **out_train, broad_data **out_test, const cli_folds *cv, size_t repeat, size_t fold)
{
    broad_folds folds;
    broad_folds_init(&folds);
    folds.count = cv->folds;
    folds.index = fold;
    folds.seed = cv->options.seed + repeat;
    return broad_data_fold(out_train, out_test, cv->data, &folds);
}

static int check_memory(cli_folds *cv, int force)
{
    broad_plan plan = {.size = sizeof plan};
    size_t rows = broad_data_rows(cv->data);
    int status = broad_plan_run(&plan, &cv->options, NULL, rows - rows / cv->folds, broad_data_inputs(cv->data),
                                broad_data_outputs(cv->data));
    if (status || plan.fits) return status;
    if (force) {
        cv->options.memory = SIZE_MAX;
        return BROAD_OK;
    }
    char training[32], available[32];
    cli_format_bytes(training, sizeof training, plan.bytes_training);
    cli_format_bytes(available, sizeof available, plan.bytes_available);
    return cli_fail(BROAD_NO_MEMORY,
                    "training on one fold needs %s of memory, but only %s is available; use fewer nodes, layers or "
                    "rows, or give --force to try anyway",
                    training, available);
}

int cli_folds_open(cli_folds *out, const broad_data *data, const broad_options *options, size_t folds, size_t repeats,
                   int force)
{
    broad_data *train = NULL, *test = NULL;
    *out = (cli_folds){.data = data, .options = *options, .folds = folds, .repeats = repeats};
    if (options->patience)
        return cli_fail(BROAD_USAGE,
                        "--patience needs held-out rows, and a fold has none: its other rows are for testing");
    /* One for all folds, whose training rows might not agree. */
    if (!options->positive && !options->normal && broad_data_task(data) == BROAD_TASK_CLASSIFY)
        out->options.normal = broad_data_output_name(data, broad_data_normal(data));
    int status = cut_fold(&train, &test, out, 0, 0);
    broad_data_free(train);
    broad_data_free(test);
    if (!status) status = check_memory(out, force);
    if (status) return status;
    if (repeats <= SIZE_MAX / folds) out->results = calloc(folds * repeats, sizeof *out->results);
    if (out->results) return BROAD_OK;
    return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot store the results of %zu x %zu folds", repeats, folds);
}

int cli_folds_next(cli_folds *cv)
{
    cli_fold *result = &cv->results[cv->done];
    broad_data *train = NULL, *test = NULL;
    broad_seconds seconds = {.size = sizeof seconds};
    broad_options options = cv->options;
    *result = (cli_fold){.repeat = cv->done / cv->folds, .fold = cv->done % cv->folds};
    options.seed += result->repeat;
    int status = cut_fold(&train, &test, cv, result->repeat, result->fold);
    double start = broad__seconds();
    broad_model_free(cv->model);
    cv->model = NULL;
    if (!status) status = broad_photos_prepare(NULL, &train, &test, &options);
    double chosen = broad__seconds() - start;
    if (!status) status = broad_fit(&cv->model, &seconds, train, &options);
    if (!status && broad_model_outcome(cv->model) == BROAD_OUTCOME_STOPPED) status = BROAD_INTERRUPTED;
    if (!status) status = cli_judge(&result->test, cv->model, test, options.threads);
    if (!status) {
        result->train_rows = broad_data_rows(train);
        result->nodes = broad_model_nodes(cv->model);
        result->layers = broad_model_layers(cv->model);
        result->outcome = broad_model_outcome(cv->model);
        result->seconds = seconds.total + chosen;
        result->maps = broad_data_maps(train);
        cv->done++;
    }
    broad_data_free(train);
    broad_data_free(test);
    return status;
}

void cli_folds_close(cli_folds *cv)
{
    for (size_t i = 0; i < cv->done; i++) broad_metrics_clear(&cv->results[i].test);
    free(cv->results);
    broad_model_free(cv->model);
    memset(cv, 0, sizeof *cv);
}

void cli_folds_values(double *out, const cli_folds *cv, const cli_measure *measure)
{
    for (size_t i = 0; i < cv->done; i++) out[i] = cli_measure_value(measure, &cv->results[i].test);
}
