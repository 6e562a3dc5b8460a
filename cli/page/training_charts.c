/* Which charts a page about training has. Where there is nothing to see in one, it is left out. */
#include "page/training_charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"

enum { SCATTER_MOST = 1200, BAR_COUNT = 25, MOST_STEPS = 12 };

static int no_memory(void) { return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the figures of a chart"); }

/* ---- layer by layer ---- */

/* Marks where rows or nodes of another kind were added. */
static void mark_stages(cli_chart *chart, const cli_training *t)
{
    for (size_t i = 2; i < t->layer_count; i++) {
        int other = t->layers[i].origin != t->layers[i - 1].origin || cli_training_starts(t, i);
        if (other && chart->start_count < CLI_STARTS_MAX) chart->starts[chart->start_count++] = (double)i + 0.5;
    }
}

static cli_chart *add_layer_chart(cli_training *t, const char *id, const char *heading, size_t count)
{
    cli_chart *chart = cli_charts_add(&t->charts, id, heading, count);
    if (!chart) return NULL;
    chart->x.whole = 1;
    chart->x.name = "layer";
    for (size_t i = 0; i < count; i++) chart->at[i] = (double)i + 1;
    chart->x.range[0] = 0.5;
    chart->x.range[1] = (double)t->layer_count + 0.5;
    mark_stages(chart, t);
    return chart;
}

static int any_test(const cli_training *t)
{
    for (size_t i = 0; i < t->layer_count; i++)
        if (t->layers[i].test != BROAD_SUPERVISE_NONE) return 1;
    return 0;
}

/* A small part of the largest value is lost on a plain axis. */
static int wants_log(const cli_chart *chart)
{
    double least = INFINITY, largest = 0;
    for (size_t j = 0; j < chart->series_count; j++)
        for (size_t i = 0; i < chart->count; i++) {
            double value = chart->series[j].values[i];
            if (!isfinite(value)) continue;
            least = fmin(least, value);
            largest = fmax(largest, value);
        }
    return least > 0 && least < 0.05 * largest;
}

static void set_scale(cli_chart *chart)
{
    chart->y.log = wants_log(chart);
    if (!chart->y.log) chart->y.range[0] = 0;
}

static size_t stage_points(const cli_training *t)
{
    size_t count = t->layer_count;
    for (size_t i = 0; i < t->layer_count; i++) count += 2 * (size_t)cli_training_starts(t, i);
    return count;
}

/* The norm before a stage, after each of its layers, and a gap before the next; beside it what the bounds promise. */
static int chart_norms(cli_training *t)
{
    size_t at = 0;
    cli_chart *chart = add_layer_chart(t, "norms", "Error left after each layer", stage_points(t));
    if (!chart) return no_memory();
    double *norm = cli_chart_series(chart, "norm of the error", CLI_LINE, 1);
    double *promise = any_test(t) ? cli_chart_series(chart, "guaranteed by the bounds", CLI_DASHED, 2) : NULL;
    int joint = t->joint.known && fabs(t->joint.norm - t->layers[t->layer_count - 1].norm_after) > 0.01 * t->joint.norm;
    double *last = joint ? cli_chart_series(chart, "with the final weights", CLI_POINTS, 3) : NULL;
    if (!norm || (any_test(t) && !promise) || (joint && !last)) return no_memory();
    double bound = 0;
    for (size_t i = 0; i < t->layer_count; i++) {
        const broad_layer *layer = &t->layers[i];
        if (cli_training_starts(t, i)) {
            if (i) chart->at[at++] = NAN;
            chart->at[at] = (double)i;
            norm[at++] = bound = layer->norm_before;
            if (promise) promise[at - 1] = bound;
        }
        bound *= cli_training_bound(layer);
        chart->at[at] = (double)i + 1;
        norm[at++] = layer->norm_after;
        if (promise) promise[at - 1] = bound;
    }
    if (last) last[at - 1] = t->joint.norm;
    chart->count = at;
    chart->x.range[0] = 0;
    set_scale(chart);
    chart->words = promise ? "norms" : "norms-untested";
    return BROAD_OK;
}

/* A chart with the state before each stage, after each of its layers, and a gap before the next: from a layer, and whether
 * before it. */
typedef double (*layer_value)(const broad_layer *layer, int before);

static void put_stages(cli_chart *chart, const cli_training *t, double *out, layer_value value)
{
    size_t at = 0;
    for (size_t i = 0; i < t->layer_count; i++) {
        const broad_layer *layer = &t->layers[i];
        if (cli_training_starts(t, i)) {
            if (i) chart->at[at++] = NAN;
            chart->at[at] = (double)i;
            out[at++] = value(layer, 1);
        }
        chart->at[at] = (double)i + 1;
        out[at++] = value(layer, 0);
    }
    chart->count = at;
    chart->x.range[0] = 0;
}

static double norm_of(const broad_layer *layer, int before) { return before ? layer->norm_before : layer->norm_after; }

static double score_of(const broad_layer *layer, int before)
{
    return layer->test != BROAD_SUPERVISE_GCV ? NAN : before ? layer->score / layer->tested : layer->score;
}

static double freedom_of(const broad_layer *layer, int before)
{
    if (layer->test != BROAD_SUPERVISE_GCV) return NAN;
    return (before ? layer->df_before : layer->df) / (double)layer->rows;
}

static int chart_score(cli_training *t)
{
    cli_chart *chart = add_layer_chart(t, "score", "What is expected of new rows", stage_points(t));
    double *score = chart ? cli_chart_series(chart, "score of the chain", CLI_LINE, 1) : NULL;
    double *norm = score ? cli_chart_series(chart, "norm of the error on the training rows", CLI_DASHED, 2) : NULL;
    if (!norm) return no_memory();
    put_stages(chart, t, score, score_of);
    put_stages(chart, t, norm, norm_of);
    set_scale(chart);
    chart->words = "score";
    return BROAD_OK;
}

static int chart_freedom(cli_training *t)
{
    cli_chart *chart = add_layer_chart(t, "freedom", "Degrees of freedom, as a part of the rows", stage_points(t));
    double *part = chart ? cli_chart_series(chart, "degrees of freedom / rows", CLI_LINE, 1) : NULL;
    if (!part) return no_memory();
    put_stages(chart, t, part, freedom_of);
    chart->y.range[0] = 0;
    chart->words = "freedom";
    return BROAD_OK;
}

static double positive(double value) { return value > 0 ? value : NAN; }

static int tests_differ(const cli_training *t)
{
    for (size_t i = 0; i < t->layer_count; i++)
        if (t->layers[i].test != BROAD_SUPERVISE_NONE && t->layers[i].tested != t->layers[i].ratio) return 1;
    return 0;
}

static int chart_drops(cli_training *t)
{
    int tested = any_test(t), differ = tests_differ(t);
    cli_chart *chart = add_layer_chart(t, "drops", "What each layer removed", t->layer_count);
    if (!chart) return no_memory();
    double *drop = cli_chart_series(chart, "part of the error removed (1 - ratio)", CLI_LINE, 1);
    double *asked = tested ? cli_chart_series(chart, "required (1 - bound)", CLI_STEPS, 2) : NULL;
    double *seen = differ ? cli_chart_series(chart, "as measured by the test (1 - tested)", CLI_POINTS, 3) : NULL;
    if (!drop || (tested && !asked) || (differ && !seen)) return no_memory();
    for (size_t i = 0; i < t->layer_count; i++) {
        const broad_layer *layer = &t->layers[i];
        int none = layer->test == BROAD_SUPERVISE_NONE;
        drop[i] = positive(1 - layer->ratio);
        if (asked && !none) asked[i] = positive(1 - layer->bound);
        if (seen && !none) seen[i] = positive(1 - layer->tested);
    }
    chart->y.log = 1;
    chart->words = tested ? "drops" : "drops-untested";
    return BROAD_OK;
}

static int chart_draws(cli_training *t)
{
    cli_chart *chart = add_layer_chart(t, "draws", "Draws per layer", t->layer_count);
    double *tries = chart ? cli_chart_series(chart, "draws", CLI_BARS, 1) : NULL;
    if (!tries) return no_memory();
    double most = 1;
    for (size_t i = 0; i < t->layer_count; i++) most = fmax(most, tries[i] = (double)t->layers[i].tries);
    chart->y.range[1] = 1.1 * fmax(most, 2);
    chart->y.whole = 1;
    chart->words = "draws";
    return BROAD_OK;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ranges that may be tried make the axis, unless they are too many. */
static void set_steps(cli_chart *chart, const cli_training *t)
{
    size_t count = t->settings.range_steps_count;
    if (count < 2 || count > MOST_STEPS) return;
    for (size_t i = 0; i < count; i++) chart->y.ticks[i] = t->settings.range_steps[i];
    qsort(chart->y.ticks, count, sizeof *chart->y.ticks, by_size);
    chart->y.tick_count = count;
    chart->y.range[0] = chart->y.ticks[0];
    chart->y.range[1] = chart->y.ticks[count - 1];
}

static int chart_ranges(cli_training *t)
{
    cli_chart *chart = add_layer_chart(t, "ranges", "Range of the random weights per layer", t->layer_count);
    double *kept = chart ? cli_chart_series(chart, "multiple of the base range", CLI_POINTS, 1) : NULL;
    if (!kept) return no_memory();
    for (size_t i = 0; i < t->layer_count; i++) kept[i] = positive(t->layers[i].range);
    chart->y.log = 1;
    set_steps(chart, t);
    chart->words = "ranges";
    return BROAD_OK;
}

/* ---- curves ---- */

static void copy_curve(double *out, const cli_training *t, const broad_curve_point *points, size_t offset, double unit)
{
    for (size_t i = 0; out && points && i < t->layer_count; i++) {
        double value = NAN;
        memcpy(&value, (const char *)&points[i] + offset, sizeof value);
        out[i] = isfinite(value) ? value * unit : NAN;
    }
}

static int has_loo(const cli_training *t)
{
    for (size_t i = 0; t->train_curve && i < t->layer_count; i++)
        if (isfinite(t->train_curve[i].loo)) return 1;
    return 0;
}

static int chart_accuracy(cli_training *t)
{
    int classify = broad_model_task(t->model) == BROAD_TASK_CLASSIFY;
    size_t offset = classify ? offsetof(broad_curve_point, accuracy) : offsetof(broad_curve_point, rmse);
    cli_chart *chart = add_layer_chart(
        t, "accuracy", classify ? "Part of the rows classified correctly" : "Root mean square error", t->layer_count);
    if (!chart) return no_memory();
    double *train = t->train_curve ? cli_chart_series(chart, "training rows", CLI_LINE, 1) : NULL;
    double *test = t->test_curve ? cli_chart_series(chart, "test rows, not seen in training", CLI_DASHED, 2) : NULL;
    if ((t->train_curve && !train) || (t->test_curve && !test)) return no_memory();
    copy_curve(train, t, t->train_curve, offset, 1);
    copy_curve(test, t, t->test_curve, offset, 1);
    if (classify) chart->y.range[1] = 1.01;
    else set_scale(chart);
    chart->words = classify ? "accuracy" : "rmse";
    return BROAD_OK;
}

static int chart_errors(cli_training *t)
{
    cli_chart *chart = add_layer_chart(t, "errors", "Error per row", t->layer_count);
    if (!chart) return no_memory();
    int scored = cli_training_scored(t), loo = !scored && has_loo(t);
    double *train = t->train_curve ? cli_chart_series(chart, "training rows", CLI_LINE, 1) : NULL;
    double *out = loo ? cli_chart_series(chart, "training rows, each left out in turn", CLI_DOTTED, 3) : NULL;
    double *score = scored ? cli_chart_series(chart, "expected of new rows by the score", CLI_DOTTED, 3) : NULL;
    double *test = t->test_curve ? cli_chart_series(chart, "test rows", CLI_DASHED, 2) : NULL;
    if ((t->train_curve && !train) || (t->test_curve && !test) || (loo && !out) || (scored && !score))
        return no_memory();
    double of_train = t->train ? 1 / sqrt((double)broad_data_rows(t->train)) : 1;
    double of_test = t->test ? 1 / sqrt((double)broad_data_rows(t->test)) : 1;
    copy_curve(train, t, t->train_curve, offsetof(broad_curve_point, norm), of_train);
    for (size_t i = 0; out && i < t->layer_count; i++) /* of the rows that the layer was fitted to */
        out[i] = t->train_curve[i].loo / sqrt((double)t->layers[i].rows);
    for (size_t i = 0; score && i < t->layer_count; i++)
        score[i] = score_of(&t->layers[i], 0) / sqrt((double)t->layers[i].rows);
    copy_curve(test, t, t->test_curve, offsetof(broad_curve_point, norm), of_test);
    set_scale(chart);
    chart->words = scored ? "errors-scored" : "errors";
    return BROAD_OK;
}

static int chart_layers(cli_training *t)
{
    if (!cli_training_layered(t)) return BROAD_OK;
    int status = chart_norms(t);
    if (!status && cli_training_scored(t)) status = chart_score(t);
    if (!status && cli_training_scored(t)) status = chart_freedom(t);
    if (!status) status = chart_drops(t);
    if (!status) status = chart_draws(t);
    if (!status) status = chart_ranges(t);
    if (status || (!t->train_curve && !t->test_curve)) return status;
    status = chart_accuracy(t);
    return status ? status : chart_errors(t);
}

/* ---- verdicts and values ---- */

/* Reliability: of the rows of each bin, the part that is correct and its interval, over the mean probability. */
static int chart_calibration(cli_training *t)
{
    size_t rows = 0, used = 0;
    for (size_t i = 0; i < CLI_BINS; i++) rows += t->bins[i].rows;
    for (size_t i = 0; i < CLI_BINS; i++) used += t->bins[i].rows > 0;
    if (!rows) return BROAD_OK;
    cli_chart *chart = cli_charts_add(&t->charts, "reliability", "Probability and accuracy", used);
    double *share = chart ? cli_chart_series(chart, "part of the test rows", CLI_BARS, 5) : NULL;
    double *high = share ? cli_chart_series(chart, "95 % interval", CLI_BAND, 4) : NULL;
    double *low = high ? cli_chart_low(chart) : NULL;
    double *right = low ? cli_chart_series(chart, "part of these classified correctly", CLI_LINE_POINTS, 1) : NULL;
    if (!right) return no_memory();
    for (size_t i = 0, at = 0; i < CLI_BINS; i++) {
        const cli_bin *bin = &t->bins[i];
        double range[2];
        if (!bin->rows) continue;
        chart->at[at] = bin->probability / (double)bin->rows;
        share[at] = (double)bin->rows / (double)rows;
        right[at] = (double)bin->right / (double)bin->rows;
        cli_training_wilson(range, right[at], (double)bin->rows);
        low[at] = range[0];
        high[at++] = range[1];
    }
    chart->x.name = "probability of the verdict";
    chart->diagonal = 1;
    chart->x.range[0] = broad_model_outputs(t->model) == 2 ? 0.48 : 0;
    chart->x.range[1] = 1.02;
    chart->y.range[0] = 0;
    chart->y.range[1] = 1.03;
    chart->words = "reliability";
    return BROAD_OK;
}

/* Evenly from all rows. */
static int chart_scatter(cli_training *t, size_t target)
{
    static const char *const ids[CLI_TARGETS_SHOWN] = {"values1", "values2", "values3", "values4"};
    const cli_fit_values *v = &t->values[target];
    size_t count = v->rows < SCATTER_MOST ? v->rows : SCATTER_MOST;
    cli_chart *chart = cli_charts_add(&t->charts, ids[target], "Predicted against true values", count);
    double *predicted = chart ? cli_chart_series(chart, "predicted", CLI_POINTS, 1) : NULL;
    if (!predicted) return no_memory();
    for (size_t i = 0; i < count; i++) {
        size_t row = (size_t)((double)i * (double)v->rows / (double)count);
        chart->at[i] = v->truth[row];
        predicted[i] = v->predicted[row];
    }
    chart->x.name = "true value";
    chart->diagonal = chart->untabled = 1;
    chart->words = t->test ? "values" : "values-train";
    return BROAD_OK;
}

static int chart_residuals(cli_training *t, size_t target)
{
    static const char *const ids[CLI_TARGETS_SHOWN] = {"residuals1", "residuals2", "residuals3", "residuals4"};
    const cli_fit_values *v = &t->values[target];
    double reach = v->rmse > 0 ? 3.5 * v->rmse : 1, width = 2 * reach / BAR_COUNT;
    cli_chart *chart = cli_charts_add(&t->charts, ids[target], "Errors of the predictions", BAR_COUNT);
    double *counts = chart ? cli_chart_series(chart, "rows", CLI_BARS, 1) : NULL;
    if (!counts) return no_memory();
    for (size_t i = 0; i < BAR_COUNT; i++) {
        chart->at[i] = -reach + ((double)i + 0.5) * width;
        counts[i] = 0;
    }
    for (size_t i = 0; i < v->rows; i++) {
        double place = floor((v->predicted[i] - v->truth[i] + reach) / width);
        if (!isnan(place)) counts[broad__whole(place, BAR_COUNT - 1)]++;
    }
    chart->y.whole = 1;
    chart->x.name = "predicted minus true value";
    chart->y.range[0] = 0;
    chart->words = "residuals";
    return BROAD_OK;
}

static int chart_coverage(cli_training *t)
{
    if (!t->level_count) return BROAD_OK;
    cli_chart *chart = cli_charts_add(&t->charts, "coverage", "Coverage of the intervals", t->level_count);
    double *kept = chart ? cli_chart_series(chart, "part of the test values inside", CLI_LINE_POINTS, 1) : NULL;
    if (!kept) return no_memory();
    for (size_t i = 0; i < t->level_count; i++) {
        chart->at[i] = t->levels[i].level;
        kept[i] = t->levels[i].inside;
    }
    chart->x.name = "part of the values that should be inside";
    chart->diagonal = 1;
    chart->words = "coverage";
    return BROAD_OK;
}

int cli_training_chart(cli_training *training)
{
    int status = chart_layers(training);
    if (!status) status = chart_calibration(training);
    for (size_t j = 0; !status && j < training->value_count; j++) {
        status = chart_scatter(training, j);
        if (!status) status = chart_residuals(training, j);
    }
    if (!status) status = chart_coverage(training);
    return status;
}
