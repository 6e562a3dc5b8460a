/* What a page about training tells, found out. */
#include "page/training.h"
#include "base/common.h"
#include "io/progress.h"
#include "page/training_charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/show.h"

enum { BLOCK = 1024 };

static int no_memory(void) { return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the figures of a report"); }

int cli_training_layered(const cli_training *training)
{
    return training->layer_count > 1 && !cli_in_blocks(training->model);
}

int cli_training_scored(const cli_training *training) { return cli_scored(training->model); }

int cli_training_starts(const cli_training *training, size_t layer)
{
    const broad_layer *layers = training->layers;
    return layer == 0 || layers[layer].rows != layers[layer - 1].rows ||
           layers[layer].first_row != layers[layer - 1].first_row;
}

double cli_training_bound(const broad_layer *layer)
{
    return layer->test == BROAD_SUPERVISE_OUTPUT ? sqrt(layer->bound) : layer->bound;
}

void cli_training_wilson(double out[2], double part, double rows)
{
    const double z = 1.959964;
    double middle = (part + z * z / (2 * rows)) / (1 + z * z / rows);
    double reach = z / (1 + z * z / rows) * sqrt(part * (1 - part) / rows + z * z / (4 * rows * rows));
    /* The part itself is within, also where rounding says otherwise: all of the rows, or none. */
    out[0] = fmax(fmin(middle - reach, part), 0);
    out[1] = fmin(fmax(middle + reach, part), 1);
}

/* ---- the model ---- */

static int take_model(cli_training *t)
{
    t->layer_count = broad_model_layers(t->model);
    t->layers = calloc(t->layer_count + 1, sizeof *t->layers);
    if (!t->layers) return no_memory();
    broad_options_init(&t->settings);
    int status = broad_model_settings(&t->settings, t->model);
    if (!status) status = cli_json_stored(&t->stored, t->model);
    for (size_t i = 0; !status && i < t->layer_count; i++) {
        broad_layer_init(&t->layers[i]);
        status = broad_model_layer(&t->layers[i], t->model, i);
    }
    broad_estimate_init(&t->estimate);
    broad_joint_init(&t->joint);
    if (!status) status = broad_model_estimate(&t->estimate, t->model);
    if (!status) status = cli_relevance_make(&t->relevance, t->model);
    return status ? status : broad_model_joint(&t->joint, t->model);
}

/* ---- rows ---- */

/* Of the training rows with the leave-one-out norms where they are known; rows that are others have none. */
static int take_curve(broad_curve_point **out, const cli_training *t, const broad_data *data)
{
    broad_curve_point *points = calloc(t->layer_count, sizeof *points);
    if (!points) return no_memory();
    broad_curve_point_init(points);
    int status = data == t->train && t->verdict.holds
                     ? broad_model_curve_loo(points, t->model, data, cli_watch(t->threads))
                     : broad_model_curve(points, t->model, data, cli_watch(t->threads));
    if (!status && isfinite(points[0].norm)) *out = points;
    else free(points);
    return status;
}

static void count_row(cli_training *t, const double *probabilities, size_t truth)
{
    size_t best = 0, classes = broad_model_outputs(t->model);
    for (size_t c = 1; c < classes; c++)
        if (probabilities[c] > probabilities[best]) best = c;
    double place = floor(probabilities[best] * CLI_BINS);
    if (isnan(place)) return;
    cli_bin *bin = &t->bins[broad__whole(place, CLI_BINS - 1)];
    bin->rows++;
    bin->right += best == truth;
    bin->probability += probabilities[best];
}

static void keep_row(cli_training *t, const broad_data *data, const double *scores, size_t row)
{
    for (size_t j = 0; j < t->value_count; j++) {
        t->values[j].truth[row] = broad_data_value(data, row, j);
        t->values[j].predicted[row] = scores[j];
    }
}

/* Predicts the rows in pieces, and counts or keeps what comes out. */
static int go_over(cli_training *t, const broad_data *data, int classify)
{
    size_t rows = broad_data_rows(data), outputs = broad_model_outputs(t->model);
    double *scores = calloc(outputs, BLOCK * sizeof *scores);
    int status = scores ? BROAD_OK : no_memory();
    for (size_t first = 0; !status && first < rows; first += BLOCK) {
        size_t count = rows - first < BLOCK ? rows - first : BLOCK;
        status = broad_predict_part(scores, t->model, data, first, count, cli_watch(t->threads));
        if (!status && classify) status = broad_probabilities(scores, t->model, scores, count);
        for (size_t i = 0; !status && i < count; i++) {
            if (classify) count_row(t, scores + i * outputs, broad_data_class(data, first + i));
            else keep_row(t, data, scores + i * outputs, first + i);
        }
    }
    free(scores);
    return status;
}

static int open_values(cli_training *t, size_t rows)
{
    size_t outputs = broad_model_outputs(t->model);
    t->value_count = outputs < CLI_TARGETS_SHOWN ? outputs : CLI_TARGETS_SHOWN;
    for (size_t j = 0; j < t->value_count; j++) {
        cli_fit_values *v = &t->values[j];
        v->rows = rows;
        v->truth = calloc(rows + 1, sizeof *v->truth);
        v->predicted = calloc(rows + 1, sizeof *v->predicted);
        if (!v->truth || !v->predicted) return no_memory();
    }
    return BROAD_OK;
}

/* The part of the shown values inside their intervals. scratch: 3 for each output. */
static int take_coverage(double *out, const cli_training *t, double level, double *scratch)
{
    size_t outputs = broad_model_outputs(t->model), rows = t->value_count ? t->values[0].rows : 0, count = 0;
    double *predicted = scratch, *ends = scratch + outputs;
    int status = broad_intervals(NULL, t->model, NULL, 0, level);
    for (size_t i = 0; i < rows && !status; i++) {
        for (size_t j = 0; j < t->value_count; j++) predicted[j] = t->values[j].predicted[i];
        status = broad_intervals(ends, t->model, predicted, 1, level);
        for (size_t j = 0; j < t->value_count && !status; j++)
            count += t->values[j].truth[i] >= ends[2 * j] && t->values[j].truth[i] <= ends[2 * j + 1];
    }
    *out = rows ? (double)count / (double)(rows * t->value_count) : 0;
    return status;
}

/* Levels that the estimate is too small for are left out. */
static int take_levels(cli_training *t)
{
    static const double levels[CLI_LEVELS] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99};
    double *scratch = calloc(broad_model_outputs(t->model), 3 * sizeof *scratch);
    if (!scratch) return no_memory();
    for (size_t i = 0; i < CLI_LEVELS && t->estimate.known; i++) {
        double part = 0;
        if (take_coverage(&part, t, levels[i], scratch)) break;
        t->levels[t->level_count++] = (cli_coverage){levels[i], part};
    }
    free(scratch);
    return BROAD_OK;
}

static int take_values(cli_training *t)
{
    const broad_data *data = t->test ? t->test : t->train;
    int status = open_values(t, broad_data_rows(data));
    if (!status) status = go_over(t, data, 0);
    for (size_t j = 0; !status && j < t->value_count; j++) {
        cli_fit_values *v = &t->values[j];
        double sum = 0;
        for (size_t i = 0; i < v->rows; i++) sum += pow(v->truth[i] - v->predicted[i], 2);
        v->rmse = v->rows ? sqrt(sum / (double)v->rows) : 0;
    }
    return status || !t->test ? status : take_levels(t);
}

static int take_rows(cli_training *t)
{
    int status = BROAD_OK, classify = broad_model_task(t->model) == BROAD_TASK_CLASSIFY;
    if (t->train) {
        double start = broad__seconds();
        broad_verdict_init(&t->verdict);
        status = broad_verify(&t->verdict, t->model, t->train, cli_watch(t->threads));
        t->verify_seconds = broad__seconds() - start;
        t->verified = status == BROAD_OK;
    }
    if (!status && t->train && t->layer_count) status = take_curve(&t->train_curve, t, t->train);
    if (!status && t->test && t->layer_count) status = take_curve(&t->test_curve, t, t->test);
    if (!status && classify && t->test && t->test_metrics->has_probabilities) status = go_over(t, t->test, 1);
    if (!status && !classify && (t->train || t->test)) status = take_values(t);
    return status;
}

int cli_training_make(cli_training *training)
{
    int status = take_model(training);
    if (!status) status = take_rows(training);
    return status ? status : cli_training_chart(training);
}

void cli_training_note(const cli_training *training)
{
    if (training->verified && !training->verdict.holds)
        cli_note(training->arguments, "the certificate does not hold: %s", training->verdict.reason);
}

void cli_training_clear(cli_training *training)
{
    json_decref(training->stored);
    free(training->layers);
    free(training->train_curve);
    free(training->test_curve);
    for (size_t j = 0; j < training->value_count; j++) {
        free(training->values[j].truth);
        free(training->values[j].predicted);
    }
    cli_relevance_clear(&training->relevance);
    cli_charts_clear(&training->charts);
}
