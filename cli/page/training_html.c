/* The page about training, from its heading to its foot. It is written for readers who have never heard of broad learning. */
#include "page/training_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/assets.h"
#include "page/figure.h"
#include "page/page.h"
#include "page/training_choices.h"
#include "page/training_columns.h"
#include "page/training_measures.h"
#include "page/training_mistakes.h"
#include "page/training_tables.h"
#include "run/measures.h"
#include "run/photo_summary.h"
#include "run/show.h"

/* ---- pieces ---- */

static int is_classes(const cli_training *t) { return broad_model_task(t->model) == BROAD_TASK_CLASSIFY; }

/* A template of this page, with slots and without. */
#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_training_html, name, __VA_ARGS__)
static void put_plain(cli_output *output, const char *name)
{
    cli_page_part(output, cli_asset_training_html, name, NULL);
}

static const char *rows_of(cli_number *out, size_t count) { return cli_number_of(out, count, "row", "rows"); }

static void put_fact(cli_output *output, const char *name, const char *text)
{
    CLI_PAGE_PART(output, cli_asset_page_html, "fact", "name", name, "text", text);
}

/* ---- heading ---- */

static void put_files(cli_output *output, const cli_training *t)
{
    if (!t->files || !t->files->count) return;
    cli_html_put(output, "<div><dt>Trained on</dt><dd>");
    for (size_t i = 0; i < t->files->count; i++) {
        if (i) cli_html_put(output, ", ");
        cli_html_text(output, t->files->paths[i]);
    }
    cli_html_put(output, "</dd></div>\n");
}

static void put_test_rows(cli_output *output, const cli_training *t)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s%.400s%s",
             t->test ? rows_of(&(cli_number){""}, broad_data_rows(t->test)) : "no rows available",
             !t->test       ? ""
             : t->test_path ? " of "
                            : " that were held out",
             t->test && t->test_path ? t->test_path : "",
             t->test && t->looked_at ? "; they also decided when to stop, which flatters the result a little" : "");
    put_fact(output, "Tested on", text);
}

static void put_head(cli_output *output, const cli_training *t)
{
    char size[64], text[512], names[256];
    cli_page_begin(output, t->title, cli_asset_training_css, NULL, 0);
    PART(output, "lead", "model", t->model_path, "rows", rows_of(&(cli_number){""}, broad_model_rows(t->model)));
    cli_format_size(size, sizeof size, t->model);
    snprintf(text, sizeof text, "%s, %s, seed %llu, preset %s", cli_kind_name(broad_model_kind(t->model)), size,
             (unsigned long long)broad_model_seed(t->model),
             broad_enum_name(BROAD_ENUM_PRESET, (int)t->settings.preset));
    put_fact(output, "Network", text);
    cli_format_names(names, sizeof names, broad_model_output_name, t->model, broad_model_outputs(t->model));
    snprintf(text, sizeof text, "%s%s", is_classes(t) ? "classes " : "values of ", names);
    put_fact(output, "Predicts", text);
    cli_format_maps(names, sizeof names, broad_model_maps(t->model));
    if (broad_model_maps(t->model))
        snprintf(text, sizeof text, "%zu per photo: %s", broad_model_inputs(t->model), names);
    else snprintf(text, sizeof text, "%zu", broad_model_inputs(t->model));
    put_fact(output, "Inputs", text);
    put_files(output, t);
    put_test_rows(output, t);
    broad_pilot pilot = {.size = sizeof pilot};
    int choices = !broad_model_pilot(&pilot, t->model) && pilot.known;
    int columns = t->relevance.count || broad_model_importance_count(t->model);
    PART(output, "contents", "choices", choices ? "<a href=\"#choices\">Choices</a>" : "", "columns",
         columns ? "<a href=\"#importance\">Columns</a>" : "", "verdicts",
         is_classes(t) && (t->train || t->test) ? "<a href=\"#confusion\">Verdicts</a>" : "", "trust",
         is_classes(t) ? "Probabilities" : "Values");
}

/* ---- summary ---- */

static void put_tile(cli_output *output, const char *band, const char *value, const char *label)
{
    CLI_PAGE_PART(output, cli_asset_page_html, "tile", "band", band, "value", value, "label", label);
}

/* The figure that says most about a set of rows. */
static const char *figure(cli_number *out, const cli_training *t, double accuracy, double rmse)
{
    return is_classes(t) ? cli_number_share(out, accuracy) : cli_number_real(out, rmse, 'g', 4);
}

/* Norm at the end as a part of that at the beginning, since rows were last added. */
static double norm_left(const cli_training *t)
{
    double first = 0, last = NAN;
    for (size_t i = 0; i < t->layer_count; i++) {
        if (cli_training_starts(t, i)) first = t->layers[i].norm_before;
        last = t->layers[i].norm_after;
    }
    if (t->joint.known) last = t->joint.norm;
    return first > 0 ? last / first : NAN;
}

static void put_figure_tile(cli_output *output, const cli_training *t, double accuracy, double rmse, const char *rows)
{
    char label[64];
    snprintf(label, sizeof label, "%s, %s", is_classes(t) ? "correct" : "RMSE", rows);
    put_tile(output, "", figure(&(cli_number){""}, t, accuracy, rmse), label);
}

static void put_tiles(cli_output *output, const cli_training *t)
{
    const broad_metrics *test = t->test_metrics, *train = t->train_metrics;
    cli_html_put(output, "<div class=\"tiles\">\n");
    if (t->test) put_figure_tile(output, t, test->accuracy, test->rmse, "test rows");
    if (t->estimate.known)
        put_figure_tile(output, t, t->estimate.accuracy, t->estimate.rmse, cli_estimate_name(&t->estimate));
    if (t->train) put_figure_tile(output, t, train->accuracy, train->rmse, "training rows");
    size_t stages = 0;
    for (size_t i = 0; i < t->layer_count; i++) stages += (size_t)cli_training_starts(t, i);
    double left = norm_left(t);
    if (isfinite(left))
        put_tile(output, "", cli_number_real(&(cli_number){""}, left, 'g', 3),
                 stages > 1 ? "of the norm is left since rows were added" : "of the first norm is left");
    if (t->verified)
        put_tile(output, t->verdict.holds ? "neg" : "pos", t->verdict.holds ? "holds" : "does not hold",
                 "certificate, checked now");
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%.2f&nbsp;s", t->seconds.total);
    if (t->timed) put_tile(output, "", seconds, "to train");
    cli_html_put(output, "</div>\n");
}

/* The class that most rows have. */
static size_t most_frequent(const broad_metrics *m)
{
    size_t most = 0, usual = 0;
    for (size_t c = 0; c < m->classes; c++) {
        broad_class_metrics of = {.size = sizeof of};
        if (broad_metrics_class(&of, m, c) || of.rows <= most) continue;
        most = of.rows;
        usual = c;
    }
    return usual;
}

static void say_classes(cli_output *output, const cli_training *t)
{
    const broad_metrics *m = t->test_metrics;
    char low[32], high[32];
    snprintf(low, sizeof low, "%.1f", 100 * m->low);
    snprintf(high, sizeof high, "%.1f\302\240%%", 100 * m->high);
    PART(output, "say-classes", "rows", rows_of(&(cli_number){""}, m->rows), "accuracy",
         cli_number_share(&(cli_number){""}, m->accuracy), "low", low, "high", high, "usual",
         broad_model_output_name(t->model, most_frequent(m)), "guess",
         cli_number_share(&(cli_number){""}, m->baseline));
    cli_html_put(output, "<ul>\n");
    if (m->low <= m->baseline) put_plain(output, "say-no-better-classes");
}

static void say_values(cli_output *output, const cli_training *t)
{
    const broad_metrics *m = t->test_metrics;
    PART(output, "say-values", "rows", rows_of(&(cli_number){""}, m->rows), "rmse",
         cli_number_real(&(cli_number){""}, m->rmse, 'g', 4), "low", cli_number_real(&(cli_number){""}, m->low, 'g', 4),
         "high", cli_number_real(&(cli_number){""}, m->high, 'g', 4), "guess",
         cli_number_real(&(cli_number){""}, m->baseline, 'g', 4));
    cli_html_put(output, "<ul>\n");
    if (m->r2 <= 0) put_plain(output, "say-no-better-values");
}

static void say_without_test(cli_output *output, const cli_training *t)
{
    if (t->estimate.known)
        PART(output, is_classes(t) ? "say-estimate-classes" : "say-estimate-values", "figure",
             figure(&(cli_number){""}, t, t->estimate.accuracy, t->estimate.rmse), "source",
             cli_estimate_source(&t->estimate));
    else put_plain(output, "say-unknown");
    cli_html_put(output, "<ul>\n");
}

/* Remarks that follow from comparing figures. */
static void say_gap(cli_output *output, const cli_training *t)
{
    if (!t->train || !t->test) return;
    const broad_metrics *a = t->train_metrics, *b = t->test_metrics;
    int gap = is_classes(t) ? a->accuracy - b->accuracy > 0.1 : b->rmse > 2 * a->rmse;
    if (gap) PART(output, "say-gap", "figure", figure(&(cli_number){""}, t, a->accuracy, a->rmse));
}

/* Of a part that was counted on this many rows. */
static double variance(double p, size_t rows) { return rows ? p * (1 - p) / (double)rows : 1; }

static void say_estimate(cli_output *output, const cli_training *t)
{
    const char *agreement = "";
    if (!t->estimate.known || !t->test) return;
    if (is_classes(t)) {
        double less = t->estimate.accuracy - t->test_metrics->accuracy;
        double doubt = 2 * sqrt(variance(t->estimate.accuracy, t->estimate.rows) +
                                variance(t->test_metrics->accuracy, t->test_metrics->rows));
        agreement = less > doubt + 0.01    ? ", which the test rows do not confirm: they may be of another kind"
                    : less < -doubt - 0.01 ? ", less than the test rows show: they may be easier than the others"
                                           : ", and the test rows agree";
    }
    PART(output, "say-expected", "figure", figure(&(cli_number){""}, t, t->estimate.accuracy, t->estimate.rmse),
         "agreement", agreement, "source", cli_estimate_source(&t->estimate));
}

static void say_outcome(cli_output *output, const cli_training *t)
{
    static const char *const words[] = {
        [BROAD_OUTCOME_COMPLETE] = "Everything that was asked for was added",
        [BROAD_OUTCOME_STALLED] = "Training ended early, with a valid network: no further candidate passed the test",
        [BROAD_OUTCOME_TIME_LIMIT] = "Training ended because its time was up",
        [BROAD_OUTCOME_TARGET_REACHED] = "Training ended because a stopping rule was met",
        [BROAD_OUTCOME_STOPPED] = "Training was stopped before its end; the network is valid as far as it goes",
    };
    const char *outcome = words[broad_model_outcome(t->model)];
    char reason[512] = "";
    if (cli_training_scored(t) && broad_model_outcome(t->model) == BROAD_OUTCOME_STALLED)
        outcome = "Growth ended by itself";
    if (*broad_model_reason(t->model)) snprintf(reason, sizeof reason, ": %s", broad_model_reason(t->model));
    PART(output, "say-outcome", "outcome", outcome, "reason", reason);
}

/* Whether supervision had any effect. */
static void say_supervision(cli_output *output, const cli_training *t)
{
    size_t tested = 0, rejected = 0;
    for (size_t i = 0; i < t->layer_count; i++) {
        int test = t->layers[i].test != BROAD_SUPERVISE_NONE;
        tested += (size_t)test;
        rejected += test && (t->layers[i].tries > 1 || t->layers[i].relaxed);
    }
    if (tested < 2 || t->settings.select == BROAD_SELECT_BEST) return; /* keeping the best of several rejects none */
    if (!rejected) put_plain(output, "say-none-rejected");
    else
        PART(output, "say-rejected", "tested", cli_number_count(&(cli_number){""}, tested), "rejected",
             cli_number_count(&(cli_number){""}, rejected));
}

static void put_summary(cli_output *output, const cli_training *t)
{
    if (t->test && is_classes(t)) say_classes(output, t);
    else if (t->test) say_values(output, t);
    else say_without_test(output, t);
    say_gap(output, t);
    say_estimate(output, t);
    say_outcome(output, t);
    say_supervision(output, t);
    if (t->verified && !t->verdict.holds) PART(output, "say-broken", "reason", t->verdict.reason);
    if (!t->train && !t->test) put_plain(output, "say-file-alone");
    cli_html_put(output, "</ul>\n");
    put_tiles(output, t);
    cli_html_put(output, "</section>\n");
}

/* ---- training ---- */

static void put_one_step(cli_output *output, const cli_training *t)
{
    if (!t->layer_count) {
        put_plain(output, cli_training_scored(t) ? "no-layer-scored" : "no-layer");
        return;
    }
    const broad_layer *layer = &t->layers[t->layer_count - 1];
    double after = t->joint.known ? t->joint.norm : layer->norm_after;
    PART(output, "one-step", "nodes", cli_number_count(&(cli_number){""}, broad_model_nodes(t->model)), "before",
         cli_number_real(&(cli_number){""}, layer->norm_before, 'g', 5), "after",
         cli_number_real(&(cli_number){""}, after, 'g', 5), "part",
         cli_number_real(&(cli_number){""}, layer->norm_before > 0 ? after / layer->norm_before : NAN, 'g', 4));
    if (layer->test != BROAD_SUPERVISE_NONE)
        PART(output, "one-step-tested", "bound", cli_number_real(&(cli_number){""}, layer->bound, 'g', 6), "draws",
             cli_number_of(&(cli_number){""}, layer->tries, "draw was", "draws were"));
}

static void put_charts(cli_output *output, const cli_training *t, const char *const *ids)
{
    cli_html_put(output, "<div class=\"charts\">\n");
    for (; *ids; ids++) cli_figure_put(output, &t->charts, *ids, cli_asset_training_html);
    cli_html_put(output, "</div>\n");
}

static void put_training(cli_output *output, const cli_training *t)
{
    static const char *const charts[] = {"norms",  "score", "freedom", "drops", "accuracy",
                                         "errors", "draws", "ranges",  NULL};
    broad_fitting fitting = broad_model_fitting(t->model);
    put_plain(output, "training");
    if (cli_training_layered(t)) {
        put_plain(output, "layer-by-layer");
        if (cli_training_scored(t)) put_plain(output, "scored");
        if (fitting != BROAD_FITTING_CHAIN && fitting != BROAD_FITTING_AT_ONCE) /* weights were computed once more */
            put_plain(output, broad_enum_name(BROAD_ENUM_FITTING, (int)fitting));
        put_charts(output, t, charts);
    } else put_one_step(output, t);
    cli_html_put(output, "</section>\n");
}

/* ---- probabilities, values ---- */

/* A row of three figures; `forms` says of each whether it has 4 digits after the point (f) or 5 in all (g). */
static void put_three(cli_output *output, const char *name, const double figures[3], const char *forms)
{
    cli_number texts[3];
    for (size_t i = 0; i < 3; i++) cli_number_real(&texts[i], figures[i], forms[i], forms[i] == 'f' ? 4 : 5);
    PART(output, "three", "name", name, "a", texts[0].text, "b", texts[1].text, "c", texts[2].text);
}

static void put_probabilities(cli_output *output, const cli_training *t)
{
    const broad_metrics *test = t->test_metrics, *train = t->train_metrics;
    put_plain(output, "probabilities");
    if (!t->estimate.known) {
        put_plain(output, "no-probabilities");
        cli_html_put(output, "</section>\n");
        return;
    }
    cli_html_put(output, "<div class=\"charts\">\n<div>\n");
    put_plain(output, "probabilities-table");
    if (t->test)
        put_three(output, "test rows", (double[]){test->brier, test->log_loss, test->calibration_error}, "fff");
    put_three(output, cli_estimate_name(&t->estimate),
              (double[]){t->estimate.brier, t->estimate.log_loss, t->estimate.calibration_error}, "fff");
    if (t->train)
        put_three(output, "training rows", (double[]){train->brier, train->log_loss, train->calibration_error}, "fff");
    cli_html_put(output, "</tbody>\n</table></div>\n</div>\n");
    cli_figure_put(output, &t->charts, "reliability", cli_asset_training_html);
    cli_html_put(output, "</div>\n</section>\n");
}

static void put_targets(cli_output *output, const cli_training *t)
{
    size_t outputs = broad_model_outputs(t->model);
    for (size_t j = 0; j < t->value_count; j++) {
        char values[32], residuals[32];
        if (outputs > 1) {
            cli_html_put(output, "<h3>");
            cli_html_text(output, broad_model_output_name(t->model, j));
            cli_html_put(output, "</h3>\n");
        }
        snprintf(values, sizeof values, "values%zu", j + 1);
        snprintf(residuals, sizeof residuals, "residuals%zu", j + 1);
        put_charts(output, t,
                   (const char *const[]){values, residuals, j + 1 == t->value_count ? "coverage" : NULL, NULL});
    }
    if (t->value_count && t->value_count < outputs)
        PART(output, "first-targets", "shown", cli_number_count(&(cli_number){""}, t->value_count), "all",
             cli_number_count(&(cli_number){""}, outputs));
}

static void put_values(cli_output *output, const cli_training *t)
{
    const broad_metrics *test = t->test_metrics, *train = t->train_metrics;
    put_plain(output, "good-values");
    if (t->train || t->test || t->estimate.known) {
        put_plain(output, "values-table");
        if (t->test) put_three(output, "test rows", (double[]){test->rmse, test->mae, test->r2}, "ggf");
        if (t->estimate.known)
            put_three(output, cli_estimate_name(&t->estimate),
                      (double[]){t->estimate.rmse, t->estimate.mae, t->estimate.r2}, "ggf");
        if (t->train) put_three(output, "training rows", (double[]){train->rmse, train->mae, train->r2}, "ggf");
        cli_html_put(output, "</tbody>\n</table></div>\n");
    } else put_plain(output, "values-unknown");
    if (t->test && test->level > 0)
        PART(output, "intervals", "level", cli_number_percent(&(cli_number){""}, test->level), "coverage",
             cli_number_share(&(cli_number){""}, test->coverage), "width",
             cli_number_real(&(cli_number){""}, test->interval_width, 'g', 4));
    cli_training_targets(output, t);
    put_targets(output, t);
    cli_html_put(output, "</section>\n");
}

/* ---- time ---- */

static void put_seconds(cli_output *output, const char *what, double seconds)
{
    PART(output, "seconds", "what", what, "seconds", cli_number_real(&(cli_number){""}, seconds, 'f', 3));
}

static void put_machine(cli_output *output, const cli_training *t)
{
    broad_machine machine = {.size = sizeof machine};
    if (broad_machine_inspect(&machine, 0)) return;
    PART(output, "machine", "threads",
         cli_number_of(&(cli_number){""}, t->threads ? t->threads : machine.processors, "thread", "threads"),
         "processors", cli_number_of(&(cli_number){""}, machine.processors, "processor", "processors"), "kernels",
         machine.kernels);
}

static void put_time(cli_output *output, const cli_training *t)
{
    put_plain(output, "time");
    if (!t->timed) put_plain(output, "no-time");
    if (t->timed || t->verified) put_plain(output, "time-table");
    if (t->timed) {
        put_seconds(output, "reading the rows", t->read_seconds);
        put_seconds(output, "feature nodes", t->seconds.features);
        put_seconds(output, "layers: draws, tests, weights", t->seconds.layers);
        put_seconds(output, "training in total", t->seconds.total);
    }
    if (t->verified) put_seconds(output, "checking the certificate", t->verify_seconds);
    if (t->timed || t->verified) {
        cli_html_put(output, "</tbody>\n</table></div>\n");
        put_machine(output, t);
    }
    cli_html_put(output, "</section>\n");
}

/* ---- how to check it ---- */

static void put_option(cli_output *output, const char *name, const char *value)
{
    if (!value) return;
    cli_output_print(output, " --%s ", name);
    cli_html_shell(output, value);
}

static void put_data_words(cli_output *output, const cli_training *t)
{
    int known = broad_model_maps(t->model) && broad_model_sources(t->model); /* it finds its photos itself */
    for (size_t i = 0; i < t->files->count; i++) {
        if (known && broad_path_look(t->files->paths[i]) != BROAD_PATH_KIND_FOLDER) continue;
        cli_html_put(output, " ");
        cli_html_shell(output, t->files->paths[i]);
    }
    for (size_t i = 0; i < t->files->count && !known; i++) put_option(output, "labels", t->files->labels[i]);
    put_option(output, "boxes", cli_given(t->arguments, "boxes"));
    put_option(output, "detector", cli_given(t->arguments, "detector"));
}

static void put_again(cli_output *output, const cli_training *t)
{
    int files = t->files && t->files->count;
    cli_html_put(output, "<pre>broad verify ");
    cli_html_shell(output, t->model_path);
    if (files) put_data_words(output, t);
    else cli_html_put(output, " TRAINING_DATA");
    cli_html_put(output, "\n");
    if (t->test_path) {
        cli_html_put(output, "broad eval ");
        cli_html_shell(output, t->model_path);
        cli_html_put(output, " ");
        cli_html_shell(output, t->test_path);
        put_option(output, "labels", cli_given(t->arguments, "test-labels"));
        cli_html_put(output, "\n");
    }
    cli_html_put(output, "broad info ");
    cli_html_shell(output, t->model_path);
    cli_html_put(output, " --layers</pre>\n");
    put_plain(output, "again");
    cli_html_put(output, "<pre>broad report --training ");
    cli_html_shell(output, t->model_path);
    if (files) put_data_words(output, t);
    put_option(output, "test", t->test_path);
    put_option(output, "test-labels", t->test_path ? cli_given(t->arguments, "test-labels") : NULL);
    cli_html_put(output, " -o training.html</pre>\n");
}

static void put_terms(cli_output *output, const cli_training *t)
{
    int scored = cli_training_scored(t);
    put_plain(output, "words");
    if (scored) put_plain(output, "words-score");
    if (t->estimate.method == BROAD_ESTIMATE_METHOD_LEAVE_ONE_OUT) put_plain(output, "words-left-out");
    put_plain(output, is_classes(t) ? "words-classes" : "words-values");
    put_plain(output, scored ? "words-proof-scored" : "words-proof");
    put_plain(output, "words-end");
}

int cli_training_write(const cli_training *training, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    put_head(&output, training);
    put_summary(&output, training);
    put_training(&output, training);
    cli_training_choices(&output, training);
    cli_training_columns(&output, training);
    cli_training_confusion(&output, training);
    cli_training_mistakes(&output, training);
    if (is_classes(training)) put_probabilities(&output, training);
    else put_values(&output, training);
    put_time(&output, training);
    cli_training_settings(&output, training);
    cli_training_certificate(&output, training);
    put_terms(&output, training);
    put_again(&output, training);
    PART(&output, "foot", "version", broad_version());
    return cli_output_close(&output);
}
