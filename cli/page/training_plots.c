/* Which pictures a page about training has. Where there is nothing to see in one, it is left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page/training.h"

enum { SCATTER_MOST = 1200, HEAP_COUNT = 25 };

static int no_memory(void) { return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the figures of a picture"); }

/* ---- layer by layer ---- */

/* Marks where rows or nodes of another kind were added. */
static void mark_stages(cli_plot *plot, const cli_training *t)
{
    for (size_t i = 2; i < t->layer_count; i++) {
        int other = strcmp(t->layers[i].origin, t->layers[i - 1].origin) != 0 || cli_training_starts(t, i);
        if (other && plot->start_count < CLI_STARTS_MAX) plot->starts[plot->start_count++] = (double)i + 0.5;
    }
}

static cli_plot *add_layer_plot(cli_training *t, const char *id, const char *heading, size_t count)
{
    cli_plot *plot = cli_plots_add(&t->plots, id, heading, count);
    if (!plot) return NULL;
    plot->whole = 1;
    plot->x_name = "layer";
    for (size_t i = 0; i < count; i++) plot->x[i] = (double)i + 1;
    plot->x_range[0] = 0.5;
    plot->x_range[1] = (double)t->layer_count + 0.5;
    mark_stages(plot, t);
    return plot;
}

static int any_test(const cli_training *t)
{
    for (size_t i = 0; i < t->layer_count; i++)
        if (strcmp(t->layers[i].test, "none") != 0) return 1;
    return 0;
}

/* A small part of the largest value is lost on a plain axis. */
static int wants_log(const cli_plot *plot)
{
    double least = INFINITY, largest = 0;
    for (size_t j = 0; j < plot->series_count; j++)
        for (size_t i = 0; i < plot->count; i++) {
            double value = plot->series[j].values[i];
            if (!isfinite(value)) continue;
            least = fmin(least, value);
            largest = fmax(largest, value);
        }
    return least > 0 && least < 0.05 * largest;
}

static void set_scale(cli_plot *plot)
{
    plot->log_y = wants_log(plot);
    if (!plot->log_y) plot->y_range[0] = 0;
}

/* The norm before a stage, after each of its layers, and a gap before the next; beside it what the bounds promise. */
static int plot_norms(cli_training *t)
{
    size_t at = 0, count = t->layer_count;
    for (size_t i = 0; i < t->layer_count; i++) count += 2 * (size_t)cli_training_starts(t, i);
    cli_plot *plot = add_layer_plot(t, "norms", "What is left of the error after each layer", count);
    if (!plot) return no_memory();
    double *norm = cli_plot_series(plot, "norm of the error reached", CLI_LINE, 1);
    double *promise =
        any_test(t) ? cli_plot_series(plot, "promised by the product of the bounds", CLI_DASHED, 2) : NULL;
    int joint = t->joint.known && fabs(t->joint.norm - t->layers[t->layer_count - 1].norm_after) > 0.01 * t->joint.norm;
    double *last = joint ? cli_plot_series(plot, "of the weights that predict", CLI_POINTS, 3) : NULL;
    if (!norm || (any_test(t) && !promise) || (joint && !last)) return no_memory();
    double bound = 0;
    for (size_t i = 0; i < t->layer_count; i++) {
        const broad_layer *layer = &t->layers[i];
        if (cli_training_starts(t, i)) {
            if (i) plot->x[at++] = NAN;
            plot->x[at] = (double)i;
            norm[at++] = bound = layer->norm_before;
            if (promise) promise[at - 1] = bound;
        }
        bound *= cli_training_bound(layer);
        plot->x[at] = (double)i + 1;
        norm[at++] = layer->norm_after;
        if (promise) promise[at - 1] = bound;
    }
    if (last) last[at - 1] = t->joint.norm;
    plot->count = at;
    plot->x_range[0] = 0;
    set_scale(plot);
    plot->words =
        promise ? "The error on the training rows, as one number: the length of the vector of all differences between "
                  "truth and answer. It must never be more than the bounds promise: that is what the certificate "
                  "is about."
                : "The error on the training rows, as one number: the length of the vector of all differences between "
                  "truth and answer. Layers of this network were not tested, so there is no promise but that it "
                  "does not rise.";
    return BROAD_OK;
}

static double positive(double value) { return value > 0 ? value : NAN; }

static int tests_differ(const cli_training *t)
{
    for (size_t i = 0; i < t->layer_count; i++)
        if (strcmp(t->layers[i].test, "none") != 0 && t->layers[i].tested != t->layers[i].ratio) return 1;
    return 0;
}

static int plot_drops(cli_training *t)
{
    int tested = any_test(t), differ = tests_differ(t);
    cli_plot *plot = add_layer_plot(
        t, "drops", tested ? "What each layer removed, and what it had to" : "What each layer removed", t->layer_count);
    if (!plot) return no_memory();
    double *drop = cli_plot_series(plot, "part of the error removed (1 - ratio)", CLI_LINE, 1);
    double *asked = tested ? cli_plot_series(plot, "asked for (1 - bound)", CLI_DASHED, 2) : NULL;
    double *seen = differ ? cli_plot_series(plot, "as the test measures it (1 - tested)", CLI_POINTS, 3) : NULL;
    if (!drop || (tested && !asked) || (differ && !seen)) return no_memory();
    for (size_t i = 0; i < t->layer_count; i++) {
        const broad_layer *layer = &t->layers[i];
        int none = strcmp(layer->test, "none") == 0;
        drop[i] = positive(1 - layer->ratio);
        if (asked && !none) asked[i] = positive(1 - layer->bound);
        if (seen && !none) seen[i] = positive(1 - layer->tested);
    }
    plot->log_y = 1;
    plot->words =
        tested ? "Each layer takes away a part of the error that is left; 0.1 is a tenth of it. A candidate that takes "
                 "away less than it is asked for is thrown away and drawn again. Where all remove far more than that, "
                 "the test never refuses anything."
               : "Each layer takes away a part of the error that is left; 0.1 is a tenth of it.";
    return BROAD_OK;
}

static int plot_draws(cli_training *t)
{
    cli_plot *plot = add_layer_plot(t, "draws", "Draws that each layer took", t->layer_count);
    double *tries = plot ? cli_plot_series(plot, "draws looked at", CLI_BARS, 1) : NULL;
    if (!tries) return no_memory();
    double most = 1;
    for (size_t i = 0; i < t->layer_count; i++) most = fmax(most, tries[i] = (double)t->layers[i].tries);
    plot->y_range[0] = 0;
    plot->y_range[1] = 1.1 * fmax(most, 2);
    plot->whole_y = 1;
    plot->words =
        "Nodes of a layer are drawn at random. One draw: the first candidate was kept. Many draws: the test was hard "
        "to pass, or the best of several was wanted.";
    return BROAD_OK;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ranges that may be tried make the axis, unless they are too many. */
static void set_steps(cli_plot *plot, const cli_training *t)
{
    const json_t *steps = json_object_get(json_object_get(t->stored, "settings"), "range_steps");
    size_t count = json_array_size(steps);
    if (count < 2 || count > CLI_TICS_MAX) return;
    for (size_t i = 0; i < count; i++) plot->y_tics[i] = json_number_value(json_array_get(steps, i));
    qsort(plot->y_tics, count, sizeof *plot->y_tics, by_size);
    plot->y_tic_count = count;
    plot->y_range[0] = plot->y_tics[0];
    plot->y_range[1] = plot->y_tics[count - 1];
}

static int plot_ranges(cli_training *t)
{
    cli_plot *plot = add_layer_plot(t, "ranges", "Range of the random weights that each layer kept", t->layer_count);
    double *kept = plot ? cli_plot_series(plot, "multiple of the base range", CLI_POINTS, 1) : NULL;
    if (!kept) return no_memory();
    for (size_t i = 0; i < t->layer_count; i++) kept[i] = positive(t->layers[i].range);
    plot->log_y = 1;
    set_steps(plot, t);
    plot->words =
        "Small ranges make smooth nodes, large ones steep nodes. They are tried in turn, from 1 outward, until a "
        "draw passes.";
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

static int plot_accuracy(cli_training *t)
{
    int classify = broad_model_task(t->model) == BROAD_TASK_CLASSIFY;
    size_t offset = classify ? offsetof(broad_curve_point, accuracy) : offsetof(broad_curve_point, rmse);
    cli_plot *plot = add_layer_plot(
        t, "accuracy", classify ? "Part of the verdicts that are right" : "Root mean square error", t->layer_count);
    if (!plot) return no_memory();
    double *train = t->train_curve ? cli_plot_series(plot, "training rows", CLI_LINE, 1) : NULL;
    double *test = t->test_curve ? cli_plot_series(plot, "test rows, not seen in training", CLI_DASHED, 2) : NULL;
    if ((t->train_curve && !train) || (t->test_curve && !test)) return no_memory();
    copy_curve(train, t, t->train_curve, offset, 1);
    copy_curve(test, t, t->test_curve, offset, 1);
    if (classify) plot->y_range[1] = 1.01;
    else set_scale(plot);
    plot->words =
        classify
            ? "Of the network cut after each layer. Only the test rows say what to expect of new ones. Where the two "
              "part, further layers only learn the training rows by heart."
            : "Of the network cut after each layer, in the units of the targets. Only the test rows say what to "
              "expect of new ones. Where their error rises, further layers do harm.";
    return BROAD_OK;
}

static int plot_errors(cli_training *t)
{
    cli_plot *plot = add_layer_plot(t, "errors", "Error per row", t->layer_count);
    if (!plot) return no_memory();
    int loo = has_loo(t);
    double *train = t->train_curve ? cli_plot_series(plot, "training rows", CLI_LINE, 1) : NULL;
    double *out = loo ? cli_plot_series(plot, "the same, each row left out", CLI_DOTTED, 3) : NULL;
    double *test = t->test_curve ? cli_plot_series(plot, "test rows", CLI_DASHED, 2) : NULL;
    if ((t->train_curve && !train) || (t->test_curve && !test) || (loo && !out)) return no_memory();
    double of_train = t->train ? 1 / sqrt((double)broad_data_rows(t->train)) : 1;
    double of_test = t->test ? 1 / sqrt((double)broad_data_rows(t->test)) : 1;
    copy_curve(train, t, t->train_curve, offsetof(broad_curve_point, norm), of_train);
    for (size_t i = 0; out && i < t->layer_count; i++) /* of the rows that the layer was fitted to */
        out[i] = t->train_curve[i].loo / sqrt((double)t->layers[i].rows);
    copy_curve(test, t, t->test_curve, offsetof(broad_curve_point, norm), of_test);
    set_scale(plot);
    plot->words =
        "The norm of the error after each layer, divided by the root of the number of rows, so that training and test "
        "can be compared; in the units that training has. Leave-one-out, where it is shown, is that of each layer "
        "for itself: what it leaves over of rows that it was not fitted to.";
    return BROAD_OK;
}

static int plot_layers(cli_training *t)
{
    if (!cli_training_layered(t)) return BROAD_OK;
    int status = plot_norms(t);
    if (!status) status = plot_drops(t);
    if (!status) status = plot_draws(t);
    if (!status) status = plot_ranges(t);
    if (status || (!t->train_curve && !t->test_curve)) return status;
    status = plot_accuracy(t);
    return status ? status : plot_errors(t);
}

/* ---- verdicts and values ---- */

static int plot_calibration(cli_training *t)
{
    size_t rows = 0, used = 0;
    for (size_t i = 0; i < CLI_BINS; i++) rows += t->bins[i].rows;
    for (size_t i = 0; i < CLI_BINS; i++) used += t->bins[i].rows > 0;
    if (!rows) return BROAD_OK;
    cli_plot *plot = cli_plots_add(&t->plots, "reliability", "Said to be sure, and right", used);
    double *share = plot ? cli_plot_series(plot, "part of the test rows", CLI_BARS, 6) : NULL;
    double *right = plot ? cli_plot_series(plot, "part of these that is right", CLI_LINE_POINTS, 1) : NULL;
    if (!share || !right) return no_memory();
    for (size_t i = 0, at = 0; i < CLI_BINS; i++) {
        const cli_bin *bin = &t->bins[i];
        if (!bin->rows) continue;
        plot->x[at] = bin->probability / (double)bin->rows;
        share[at] = (double)bin->rows / (double)rows;
        right[at++] = (double)bin->right / (double)bin->rows;
    }
    plot->x_name = "probability of the verdict";
    plot->diagonal = 1;
    plot->x_range[0] = broad_model_outputs(t->model) == 2 ? 0.48 : 0;
    plot->x_range[1] = 1.02;
    plot->y_range[0] = 0;
    plot->y_range[1] = 1.03;
    plot->words =
        "Test rows in 15 groups by the probability that the model gave its verdict. Where both are the same, 80 of 100 "
        "verdicts with 80&nbsp;% are right. Where fewer are right, the model is too sure. Groups of few rows "
        "jump about by chance.";
    return BROAD_OK;
}

/* Evenly from all rows. */
static int plot_scatter(cli_training *t, size_t target)
{
    static const char *const ids[CLI_TARGETS_SHOWN] = {"values1", "values2", "values3", "values4"};
    const cli_fit_values *v = &t->values[target];
    size_t count = v->rows < SCATTER_MOST ? v->rows : SCATTER_MOST;
    cli_plot *plot = cli_plots_add(&t->plots, ids[target], "Predicted against true values", count);
    double *predicted = plot ? cli_plot_series(plot, "predicted", CLI_POINTS, 1) : NULL;
    if (!predicted) return no_memory();
    for (size_t i = 0; i < count; i++) {
        size_t row = (size_t)((double)i * (double)v->rows / (double)count);
        plot->x[i] = v->truth[row];
        predicted[i] = v->predicted[row];
    }
    plot->x_name = "true value";
    plot->diagonal = plot->points_only = 1;
    plot->words =
        t->test
            ? "Of each test row, or of 1,200 of them. Where both are the same the prediction is exact."
            : "Of each training row, or of 1,200 of them. Where both are the same the prediction is exact; those of "
              "new rows are farther off.";
    return BROAD_OK;
}

static int plot_residuals(cli_training *t, size_t target)
{
    static const char *const ids[CLI_TARGETS_SHOWN] = {"residuals1", "residuals2", "residuals3", "residuals4"};
    const cli_fit_values *v = &t->values[target];
    double reach = v->rmse > 0 ? 3.5 * v->rmse : 1, width = 2 * reach / HEAP_COUNT;
    cli_plot *plot = cli_plots_add(&t->plots, ids[target], "How far off the predictions are", HEAP_COUNT);
    double *heaps = plot ? cli_plot_series(plot, "rows", CLI_BARS, 1) : NULL;
    if (!heaps) return no_memory();
    for (size_t i = 0; i < HEAP_COUNT; i++) {
        plot->x[i] = -reach + ((double)i + 0.5) * width;
        heaps[i] = 0;
    }
    for (size_t i = 0; i < v->rows; i++) {
        double place = floor((v->predicted[i] - v->truth[i] + reach) / width);
        heaps[place < 0 ? 0 : place >= HEAP_COUNT ? HEAP_COUNT - 1 : (size_t)place]++;
    }
    plot->whole_y = 1;
    plot->x_name = "predicted less true value";
    plot->y_range[0] = 0;
    plot->words =
        "Number of rows by the error of their prediction; the first and the last bar also have those beyond. A heap "
        "around 0 that is as wide to the left as to the right is as it should be.";
    return BROAD_OK;
}

static int plot_coverage(cli_training *t)
{
    if (!t->level_count) return BROAD_OK;
    cli_plot *plot = cli_plots_add(&t->plots, "coverage", "Intervals: promised and kept", t->level_count);
    double *kept = plot ? cli_plot_series(plot, "part of the test values inside", CLI_LINE_POINTS, 1) : NULL;
    if (!kept) return no_memory();
    for (size_t i = 0; i < t->level_count; i++) {
        plot->x[i] = t->levels[i].level;
        kept[i] = t->levels[i].inside;
    }
    plot->x_name = "part of the values that should be inside";
    plot->diagonal = 1;
    plot->words =
        "With each prediction the model can give an interval that should hold a given part of the true values. Where "
        "fewer are inside than should be, the intervals are too narrow for these rows.";
    return BROAD_OK;
}

int cli_training_plot(cli_training *training)
{
    int status = plot_layers(training);
    if (!status) status = plot_calibration(training);
    for (size_t j = 0; !status && j < training->value_count; j++) {
        status = plot_scatter(training, j);
        if (!status) status = plot_residuals(training, j);
    }
    if (!status) status = plot_coverage(training);
    if (!status) cli_plots_draw(&training->plots, training->no_pictures);
    return status;
}
