/* The page about training, from its heading to its foot. It is written for readers who have never heard of broad learning. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "photos.h"
#include "report.h"
#include "report_page.h"
#include "training.h"

static const char *const training_style[] = {
    "nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:18px 0 0;font-size:.9375rem}\n",
    "h3{margin-bottom:8px}section>h3{margin-top:20px}\n",
    ".scroll{margin-bottom:12px}.chips{margin-bottom:8px}.sides{display:flex;flex-wrap:wrap;gap:0 56px}\n",
    ".sides>div{min-width:0;max-width:100%}\n",
    ".tile b{font-size:1.5rem;white-space:nowrap}\n",
    "figcaption+details{margin-top:2px}\n",
    "table.confusion{width:auto;border-collapse:separate;border-spacing:2px}\n",
    "table.confusion td,table.confusion th{border:0;padding:4px 8px;text-align:right}\n",
    "table.confusion th[scope=row]{position:sticky;left:0;background:var(--paper);max-width:12em;overflow:hidden;\n",
    "text-overflow:ellipsis}\n",
    "table.confusion thead th{max-width:9em;overflow:hidden;text-overflow:ellipsis}\n",
    "table.confusion .none{color:var(--soft);opacity:.55}\n",
    ".r1,.w1{background:color-mix(in srgb,var(--cell) 12%,transparent)}\n",
    ".r2,.w2{background:color-mix(in srgb,var(--cell) 24%,transparent)}\n",
    ".r3,.w3{background:color-mix(in srgb,var(--cell) 36%,transparent)}\n",
    ".r4,.w4{background:color-mix(in srgb,var(--cell) 48%,transparent)}\n",
    ".r5,.w5{background:color-mix(in srgb,var(--cell) 60%,transparent)}\n",
    "td[class*=\" r\"]{--cell:var(--s0)}td[class*=\" w\"]{--cell:var(--s4)}\n",
    "table.dense{font-size:.75rem;border-spacing:1px}table.dense td,table.dense th{padding:2px 4px;min-width:2.4em}\n",
    "table.turned thead th:not(:first-child){writing-mode:vertical-rl;max-width:none;max-height:11em;min-width:0;\n",
    "transform:rotate(180deg);text-align:left}\n",
    "@media (max-width:560px){table.small td,table.small th{padding-right:12px}}\n",
    "#layers td,#layers th{white-space:nowrap}\n",
    "#settings td:first-of-type{overflow-wrap:anywhere}\n",
    "#settings th,#time th{white-space:normal}\n",
    "@media print{nav,figure details{display:none}}\n",
    0,
};

/* ---- pieces ---- */

static int is_classes(const cli_training *t) { return broad_model_task(t->model) == BROAD_TASK_CLASSIFY; }

static void put_rows(cli_output *output, size_t count)
{
    cli_html_count(output, count);
    cli_html_put(output, count == 1 ? " row" : " rows");
}

static void put_fact(cli_output *output, const char *name, const char *text)
{
    cli_output_print(output, "<div><dt>%s</dt><dd>", name);
    cli_html_text(output, text);
    cli_html_put(output, "</dd></div>\n");
}

static const char *part(const cli_training *t, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(t->stored, "settings"), name));
    return text ? text : "";
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
    cli_html_put(output, "<div><dt>Tested on</dt><dd>");
    if (!t->test) cli_html_put(output, "no rows at hand");
    else {
        put_rows(output, broad_data_rows(t->test));
        cli_html_put(output, t->test_path ? " of " : " that fit kept apart");
        if (t->test_path) cli_html_text(output, t->test_path);
        if (t->looked_at) cli_html_put(output, "; they also decided when to stop, and flatter it a little");
    }
    cli_html_put(output, "</dd></div>\n");
}

static void put_head(cli_output *output, const cli_training *t)
{
    char size[64], text[512], names[256];
    cli_page_begin(output, t->title, (const char *const *const[]){cli_plot_style, training_style}, 2);
    cli_html_put(output, "<p class=\"lead\">");
    cli_html_text(output, t->model_path);
    cli_html_put(output, ", trained on ");
    put_rows(output, broad_model_rows(t->model));
    cli_html_put(output, "</p>\n<dl class=\"facts\">\n");
    cli_format_size(size, sizeof size, t->model);
    snprintf(text, sizeof text, "%s, %s, seed %llu, preset %s", cli_kind_name(broad_model_kind(t->model)), size,
             (unsigned long long)broad_model_seed(t->model), part(t, "preset"));
    put_fact(output, "Network", text);
    cli_format_names(names, sizeof names, broad_model_output_name, t->model, broad_model_outputs(t->model));
    snprintf(text, sizeof text, "%s%s", is_classes(t) ? "classes " : "values of ", names);
    put_fact(output, "What it tells", text);
    cli_format_maps(names, sizeof names, broad_model_maps(t->model));
    if (broad_model_maps(t->model))
        snprintf(text, sizeof text, "%zu of photos: %s", broad_model_inputs(t->model), names);
    else snprintf(text, sizeof text, "%zu", broad_model_inputs(t->model));
    put_fact(output, "Inputs", text);
    put_files(output, t);
    put_test_rows(output, t);
    cli_html_put(output, "</dl>\n<nav aria-label=\"Contents\"><a href=\"#summary\">Summary</a>"
                         "<a href=\"#training\">Training</a>");
    if (is_classes(t) && (t->train || t->test)) cli_html_put(output, "<a href=\"#confusion\">Verdicts</a>");
    cli_output_print(output,
                     "<a href=\"#trust\">%s</a><a href=\"#time\">Time</a><a href=\"#settings\">Settings</a>"
                     "<a href=\"#certificate\">Certificate</a><a href=\"#words\">Words</a>"
                     "<a href=\"#again\">Check it again</a></nav>\n</header>\n<main>\n",
                     is_classes(t) ? "Probabilities" : "Values");
}

/* ---- summary ---- */

static void close_tile(cli_output *output, const char *label)
{
    cli_output_print(output, "</b><span>%s</span></div>\n", label);
}

static void open_tile(cli_output *output, const char *band)
{
    cli_output_print(output, "<div class=\"tile %s\"><b>", band);
}

/* The figure that says most about a set of rows. */
static void put_figure(cli_output *output, const cli_training *t, double accuracy, double rmse)
{
    if (is_classes(t)) cli_training_share(output, accuracy);
    else cli_training_real(output, rmse, 'g', 4);
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

static void put_tiles(cli_output *output, const cli_training *t)
{
    const char *what = is_classes(t) ? "right" : "RMSE";
    char label[64];
    cli_html_put(output, "<div class=\"tiles\">\n");
    if (t->test) {
        open_tile(output, "");
        put_figure(output, t, t->test_metrics->accuracy, t->test_metrics->rmse);
        snprintf(label, sizeof label, "%s, test rows", what);
        close_tile(output, label);
    }
    if (t->estimate.known) {
        open_tile(output, "");
        put_figure(output, t, t->estimate.accuracy, t->estimate.rmse);
        snprintf(label, sizeof label, "%s, leave-one-out", what);
        close_tile(output, label);
    }
    if (t->train) {
        open_tile(output, "");
        put_figure(output, t, t->train_metrics->accuracy, t->train_metrics->rmse);
        snprintf(label, sizeof label, "%s, training rows", what);
        close_tile(output, label);
    }
    size_t stages = 0;
    for (size_t i = 0; i < t->layer_count; i++) stages += (size_t)cli_training_starts(t, i);
    double left = norm_left(t);
    if (isfinite(left)) {
        open_tile(output, "");
        cli_training_real(output, left, 'g', 3);
        close_tile(output, stages > 1 ? "of the norm is left since rows were added" : "of the first norm is left");
    }
    if (t->verified) {
        open_tile(output, t->verdict.holds ? "neg" : "pos");
        cli_html_put(output, t->verdict.holds ? "holds" : "does not hold");
        close_tile(output, "certificate, checked now");
    }
    if (t->timed) {
        open_tile(output, "");
        cli_output_print(output, "%.2f&nbsp;s", t->seconds.total);
        close_tile(output, "to train");
    }
    cli_html_put(output, "</div>\n");
}

/* The part of the rows whose class is the most frequent one, and which that is. */
static double most_frequent(size_t *out_class, const broad_metrics *m)
{
    size_t most = 0;
    for (size_t i = 0; i < m->classes; i++) {
        size_t count = 0;
        for (size_t j = 0; j < m->classes; j++) count += m->confusion[i * m->classes + j];
        if (count > most) {
            most = count;
            *out_class = i;
        }
    }
    return m->rows ? (double)most / (double)m->rows : 0;
}

/* Wilson's interval for a part of n rows, 95 of 100. */
static void wilson(double out[2], double p, double n)
{
    const double z = 1.959964;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double reach = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    out[0] = fmax(middle - reach, 0);
    out[1] = fmin(middle + reach, 1);
}

static void say_classes(cli_output *output, const cli_training *t)
{
    const broad_metrics *m = t->test_metrics;
    size_t usual = 0;
    double guess = most_frequent(&usual, m), range[2];
    wilson(range, m->accuracy, (double)m->rows);
    cli_html_put(output, "<p class=\"say\">Of ");
    put_rows(output, m->rows);
    cli_html_put(output, " that the network had not seen, it judged <strong>");
    cli_training_share(output, m->accuracy);
    cli_output_print(output,
                     "</strong> rightly (%.1f to %.1f&nbsp;%% are likely for rows like these). Whoever always says ",
                     100 * range[0], 100 * range[1]);
    cli_html_text(output, broad_model_output_name(t->model, usual));
    cli_output_print(output, " is right for %.1f&nbsp;%%.</p>\n", 100 * guess);
    cli_html_put(output, "<ul>\n");
    if (range[0] <= guess)
        cli_html_put(
            output,
            "<li><strong>That is not clearly better than always giving the most frequent answer.</strong> Do not "
            "rely on this network.</li>\n");
}

static void say_values(cli_output *output, const cli_training *t)
{
    const broad_metrics *m = t->test_metrics;
    cli_html_put(output, "<p class=\"say\">On ");
    put_rows(output, m->rows);
    cli_html_put(output, " that the network had not seen, its root mean square error is <strong>");
    cli_training_real(output, m->rmse, 'g', 4);
    cli_html_put(output, "</strong>");
    if (m->r2 < 1)
        cli_output_print(output, "; whoever always gives the mean is off by %.4g", m->rmse / sqrt(1 - m->r2));
    cli_html_put(output, ".</p>\n<ul>\n");
    if (m->r2 <= 0)
        cli_html_put(output, "<li><strong>That is no better than the mean.</strong> Do not rely on this "
                             "network.</li>\n");
}

static void say_without_test(cli_output *output, const cli_training *t)
{
    cli_html_put(output, "<p class=\"say\">");
    if (t->estimate.known) {
        cli_html_put(output, is_classes(t) ? "By leave-one-out <strong>"
                                           : "By leave-one-out the root mean square error is "
                                             "<strong>");
        put_figure(output, t, t->estimate.accuracy, t->estimate.rmse);
        cli_html_put(output, is_classes(t) ? "</strong> of its verdicts are right on rows like its own."
                                           : "</strong> on rows "
                                             "like its own.");
    } else
        cli_html_put(output,
                     "How good the network is on new rows is <strong>not known</strong> here: there are no test rows, "
                     "and it has no leave-one-out estimate.");
    cli_html_put(output, "</p>\n<ul>\n");
}

/* Remarks that follow from comparing figures. */
static void say_gap(cli_output *output, const cli_training *t)
{
    if (!t->train || !t->test) return;
    const broad_metrics *a = t->train_metrics, *b = t->test_metrics;
    int gap = is_classes(t) ? a->accuracy - b->accuracy > 0.1 : b->rmse > 2 * a->rmse;
    if (!gap) return;
    cli_html_put(output, "<li>On its own training rows it does much better (");
    put_figure(output, t, a->accuracy, a->rmse);
    cli_html_put(output, "): it has learned them by heart in part. What it does on new rows is what counts.</li>\n");
}

/* Of a part that was counted on so many rows. */
static double variance(double p, size_t rows) { return rows ? p * (1 - p) / (double)rows : 1; }

static void say_estimate(cli_output *output, const cli_training *t)
{
    if (!t->estimate.known || !t->test) return;
    cli_html_put(output, "<li>Leave-one-out, which needs no test rows, had expected ");
    put_figure(output, t, t->estimate.accuracy, t->estimate.rmse);
    if (is_classes(t)) {
        double less = t->estimate.accuracy - t->test_metrics->accuracy;
        double doubt = 2 * sqrt(variance(t->estimate.accuracy, t->estimate.rows) +
                                variance(t->test_metrics->accuracy, t->test_metrics->rows));
        cli_html_put(output, less > doubt + 0.01 ? ", which the test rows do not confirm: they may be of another kind"
                             : less < -doubt - 0.01
                                 ? ", less than the test rows show: they may be easier than the others"
                                 : ", and the test rows agree");
    }
    cli_html_put(output, ".</li>\n");
}

static void say_outcome(cli_output *output, const cli_training *t)
{
    static const char *const words[] = {
        [BROAD_COMPLETE] = "All that was asked for was added",
        [BROAD_STALLED] = "Training ended early, with a valid network: no further candidate passed the test",
        [BROAD_TARGET_REACHED] = "Training ended because a rule for stopping was met",
        [BROAD_STOPPED] = "Training was stopped before its end; the network is valid as far as it goes",
    };
    const char *reason = broad_model_reason(t->model);
    cli_output_print(output, "<li>%s", words[broad_model_outcome(t->model)]);
    if (*reason) {
        cli_html_put(output, ": ");
        cli_html_text(output, reason);
    }
    cli_html_put(output, ".</li>\n");
}

/* Whether supervision had any say. */
static void say_supervision(cli_output *output, const cli_training *t)
{
    size_t tested = 0, refused = 0;
    for (size_t i = 0; i < t->layer_count; i++) {
        int test = strcmp(t->layers[i].test, "none") != 0;
        tested += (size_t)test;
        refused += test && (t->layers[i].tries > 1 || t->layers[i].relaxed);
    }
    if (tested < 2 || strcmp(part(t, "select"), "best") == 0) return; /* of several draws the best is no refusal */
    if (!refused)
        cli_html_put(output,
                     "<li>The test refused nothing: every layer's first draw was kept, as it would have been without a "
                     "test.</li>\n");
    else
        cli_output_print(output, "<li>Of %zu layers that were tested, %zu took more than one draw.</li>\n", tested,
                         refused);
}

static void put_summary(cli_output *output, const cli_training *t)
{
    cli_html_put(output, "<section id=\"summary\">\n<h2>Summary</h2>\n");
    if (t->test && is_classes(t)) say_classes(output, t);
    else if (t->test) say_values(output, t);
    else say_without_test(output, t);
    say_gap(output, t);
    say_estimate(output, t);
    say_outcome(output, t);
    say_supervision(output, t);
    if (t->verified && !t->verdict.holds) {
        cli_html_put(output, "<li><strong>The certificate does not hold on these rows:</strong> ");
        cli_html_text(output, t->verdict.reason);
        cli_html_put(output, ".</li>\n");
    }
    if (!t->train && !t->test)
        cli_html_put(
            output,
            "<li>This page was made from the model file alone. With the training rows it also shows verdicts and "
            "curves, and whether the certificate holds.</li>\n");
    if (*t->no_pictures) {
        cli_html_put(output, "<li>This page has tables in the place of pictures: ");
        cli_html_text(output, t->no_pictures);
        cli_html_put(output, ".</li>\n");
    }
    cli_html_put(output, "</ul>\n");
    put_tiles(output, t);
    cli_html_put(output, "</section>\n");
}

/* ---- training ---- */

static void put_one_step(cli_output *output, const cli_training *t)
{
    if (!t->layer_count) {
        cli_html_put(output, "<p>The network has no layer yet.</p>\n");
        return;
    }
    const broad_layer *layer = &t->layers[t->layer_count - 1];
    double after = t->joint.known ? t->joint.norm : layer->norm_after;
    cli_html_put(output, "<p>All ");
    cli_html_count(output, broad_model_nodes(t->model));
    cli_html_put(output,
                 " random nodes were drawn at once and their weights solved for in one step, so there is no curve to "
                 "look at. The norm of the error on the training rows fell from ");
    cli_training_real(output, layer->norm_before, 'g', 5);
    cli_html_put(output, " to ");
    cli_training_real(output, after, 'g', 5);
    cli_html_put(output, " (");
    cli_training_real(output, layer->norm_before > 0 ? after / layer->norm_before : NAN, 'g', 4);
    cli_html_put(output, " of it)");
    if (strcmp(layer->test, "none") != 0) {
        cli_html_put(output, "; the bound that it had to keep was ");
        cli_training_real(output, layer->bound, 'g', 6);
        cli_output_print(output, ", and %zu draw%s tried", layer->tries, layer->tries == 1 ? " was" : "s were");
    }
    cli_html_put(output, ".</p>\n");
}

/* Where the weights of one layer were not left as they were. */
static void put_fitting(cli_output *output, const cli_training *t)
{
    static const char *const words[][2] = {
        {"joint", "In the end the weights of all nodes were solved for once more together, and these predict. "},
        {"stepwise", "With every layer the weights of all nodes were solved for again together. "},
        {"window", "With every layer the weights of the last nodes were solved for again. "},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], broad_model_fitting(t->model)) == 0)
            cli_output_print(output,
                             "<p>%sSo there is no network that one gets by cutting it after a layer, and no curve of "
                             "what such a one would answer.</p>\n",
                             words[i][1]);
}

static void put_training(cli_output *output, const cli_training *t)
{
    static const char *const pictures[] = {"norms", "drops", "accuracy", "errors", "draws", "ranges"};
    cli_html_put(output, "<section id=\"training\">\n<h2>How training went</h2>\n");
    if (!cli_training_layered(t)) {
        put_one_step(output, t);
        cli_html_put(output, "</section>\n");
        return;
    }
    cli_html_put(output, "<p>The network was built layer by layer. Each layer is a set of random nodes, fitted to what "
                         "the layers before "
                         "it got wrong, in one step and without going back.</p>\n");
    put_fitting(output, t);
    cli_html_put(output, "<div class=\"charts\">\n");
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) cli_plot_put(output, &t->plots, pictures[i]);
    cli_html_put(output, "</div>\n</section>\n");
}

/* ---- probabilities, values ---- */

/* A row of three figures; `forms` says of each whether it has 4 digits after the point (f) or 5 in all (g). */
static void put_three(cli_output *output, const char *name, const double figures[3], const char *forms)
{
    cli_output_print(output, "<tr><th scope=\"row\">%s</th>", name);
    for (size_t i = 0; i < 3; i++) {
        cli_html_put(output, "<td class=\"n\">");
        cli_training_real(output, figures[i], forms[i], forms[i] == 'f' ? 4 : 5);
        cli_html_put(output, "</td>");
    }
    cli_html_put(output, "</tr>\n");
}

static void put_sureness(cli_output *output, const char *name, double brier, double loss, double calibration)
{
    put_three(output, name, (double[]){brier, loss, calibration}, "fff");
}

static void put_probabilities(cli_output *output, const cli_training *t)
{
    cli_html_put(output, "<section id=\"trust\">\n<h2>Can its probabilities be trusted?</h2>\n");
    if (!t->estimate.known) {
        cli_html_put(output,
                     "<p>This model gives no probabilities, because it was trained without a leave-one-out estimate "
                     "(<code>--weights joint</code> brings one).</p>\n</section>\n");
        return;
    }
    cli_html_put(
        output, "<p>Smaller is better for all three. The calibration error says by how much probabilities are off on "
                "average; the Brier score and the log loss also count how often verdicts are wrong.</p>\n"
                "<div class=\"scroll\"><table class=\"small\" id=\"probabilities\">\n<thead><tr><th scope=\"col\"></th>"
                "<th scope=\"col\" class=\"n\">Brier score</th><th scope=\"col\" class=\"n\">log loss</th>"
                "<th scope=\"col\" class=\"n\">calibration error</th></tr></thead>\n<tbody>\n");
    if (t->test)
        put_sureness(output, "test rows", t->test_metrics->brier, t->test_metrics->log_loss,
                     t->test_metrics->calibration_error);
    put_sureness(output, "leave-one-out", t->estimate.brier, NAN, t->estimate.calibration_error);
    if (t->train)
        put_sureness(output, "training rows", t->train_metrics->brier, t->train_metrics->log_loss,
                     t->train_metrics->calibration_error);
    cli_html_put(output, "</tbody>\n</table></div>\n<div class=\"charts\">\n");
    cli_plot_put(output, &t->plots, "reliability");
    cli_html_put(output, "</div>\n</section>\n");
}

static void put_errors(cli_output *output, const char *name, double rmse, double mae, double r2)
{
    put_three(output, name, (double[]){rmse, mae, r2}, "ggf");
}

static void put_targets(cli_output *output, const cli_training *t)
{
    size_t outputs = broad_model_outputs(t->model);
    for (size_t j = 0; j < t->value_count; j++) {
        char id[32];
        if (outputs > 1) {
            cli_html_put(output, "<h3>");
            cli_html_text(output, broad_model_output_name(t->model, j));
            cli_html_put(output, "</h3>\n");
        }
        cli_html_put(output, "<div class=\"charts\">\n");
        snprintf(id, sizeof id, "values%zu", j + 1);
        cli_plot_put(output, &t->plots, id);
        snprintf(id, sizeof id, "residuals%zu", j + 1);
        cli_plot_put(output, &t->plots, id);
        if (j + 1 == t->value_count) cli_plot_put(output, &t->plots, "coverage");
        cli_html_put(output, "</div>\n");
    }
    if (t->value_count && t->value_count < outputs)
        cli_output_print(output, "<p>These are the first %zu of %zu targets.</p>\n", t->value_count, outputs);
}

static void put_values(cli_output *output, const cli_training *t)
{
    const broad_metrics *m = t->test_metrics;
    cli_html_put(output, "<section id=\"trust\">\n<h2>How good are its values?</h2>\n");
    if (t->train || t->test || t->estimate.known) {
        cli_html_put(output,
                     "<div class=\"scroll\"><table class=\"small\" id=\"measures\">\n<thead><tr><th scope=\"col\"></th>"
                     "<th scope=\"col\" class=\"n\">RMSE</th><th scope=\"col\" class=\"n\">mean absolute error</th>"
                     "<th scope=\"col\" class=\"n\">R&sup2;</th></tr></thead>\n<tbody>\n");
        if (t->test) put_errors(output, "test rows", m->rmse, m->mae, m->r2);
        if (t->estimate.known) put_errors(output, "leave-one-out", t->estimate.rmse, t->estimate.mae, t->estimate.r2);
        if (t->train)
            put_errors(output, "training rows", t->train_metrics->rmse, t->train_metrics->mae, t->train_metrics->r2);
        cli_html_put(output, "</tbody>\n</table></div>\n");
    } else
        cli_html_put(output,
                     "<p>Not known here: there are no rows, and the model has no leave-one-out estimate.</p>\n");
    if (t->test && m->level > 0) {
        cli_output_print(output, "<p>Intervals that should hold %.0f&nbsp;%% of the values hold ", 100 * m->level);
        cli_training_share(output, m->coverage);
        cli_output_print(output, " of those of the test rows; they are %.4g wide on average.</p>\n", m->interval_width);
    }
    put_targets(output, t);
    cli_html_put(output, "</section>\n");
}

/* ---- time ---- */

static void put_seconds(cli_output *output, const char *what, double seconds)
{
    cli_output_print(output, "<tr><th scope=\"row\">%s</th><td class=\"n\">", what);
    cli_training_real(output, seconds, 'f', 3);
    cli_html_put(output, "</td></tr>\n");
}

static void put_machine(cli_output *output, const cli_training *t)
{
    broad_machine machine;
    if (broad_machine_inspect(&machine, 0)) return;
    size_t threads = t->threads ? t->threads : machine.processors;
    cli_output_print(output, "<p>On %zu thread%s of a machine with %zu processor%s, with %s kernels.</p>\n", threads,
                     threads == 1 ? "" : "s", machine.processors, machine.processors == 1 ? "" : "s", machine.kernels);
}

static void put_time(cli_output *output, const cli_training *t)
{
    cli_html_put(output, "<section id=\"time\">\n<h2>Time</h2>\n");
    if (!t->timed)
        cli_html_put(output,
                     "<p>How long training took is not known: model files hold no times, so that equal training gives "
                     "equal bytes. <code>broad fit</code> with <code>--report</code> makes this page with them.</p>\n");
    if (t->timed || t->verified)
        cli_html_put(output, "<div class=\"scroll\"><table class=\"small\">\n<thead><tr><th scope=\"col\"></th>"
                             "<th scope=\"col\" class=\"n\">seconds</th></tr></thead>\n<tbody>\n");
    if (t->timed) {
        put_seconds(output, "reading the rows", t->read_seconds);
        put_seconds(output, "feature nodes", t->seconds.features);
        put_seconds(output, "layers: draws, tests, weights", t->seconds.layers);
        put_seconds(output, "training in all", t->seconds.total);
    }
    if (t->verified) put_seconds(output, "checking the certificate again", t->verify_seconds);
    if (t->timed || t->verified) {
        cli_html_put(output, "</tbody>\n</table></div>\n");
        put_machine(output, t);
    }
    cli_html_put(output, "</section>\n");
}

/* ---- words ---- */

static void put_words(cli_output *output, const cli_training *t)
{
    cli_html_put(
        output,
        "<section id=\"words\">\n<h2>What the figures mean</h2>\n<dl class=\"words\">\n"
        "<div><dt>Node</dt><dd>A small formula with random numbers in it that makes one number from the inputs of a "
        "row. These "
        "random numbers are never changed. Only how much each node counts for each answer is computed.</dd></div>\n"
        "<div><dt>Layer</dt><dd>Some nodes that were added together. Its weights are the solution of one system of "
        "linear "
        "equations (ridge regression), found in one step: that is why training takes seconds.</dd></div>\n");
    cli_html_put(
        output,
        "<div><dt>Error E and its norm</dt><dd>E is the table of all differences between truth and answer, for every "
        "training "
        "row and every answer. Its norm &#8214;E&#8214; is one number for the whole of it: the root of the sum of the "
        "squares. 0 "
        "would mean that every training row is answered exactly, which is not the aim: new rows count.</dd></div>\n"
        "<div><dt>Ratio and bound</dt><dd>The ratio is the norm after a layer divided by the norm before it. The bound "
        "is the "
        "largest ratio with which the layer may be kept. Multiplied over all layers, the bounds promise how small the "
        "norm must "
        "have become.</dd></div>\n"
        "<div><dt>Gamma, mu, relaxed</dt><dd>The bound is gamma plus mu, which follow from a schedule. Where no draw "
        "passes, "
        "gamma is moved towards 1 some times, which makes the test easier.</dd></div>\n");
    cli_html_put(
        output,
        "<div><dt>Draws and range</dt><dd>A candidate layer is drawn at random from a range; if it does not pass, "
        "another is "
        "drawn, and after some draws from another range.</dd></div>\n"
        "<div><dt>Lambda</dt><dd>How strongly weights are kept small. Larger values make smoother answers.</dd></div>\n"
        "<div><dt>Training and test rows</dt><dd>The network was fitted to the training rows; it can know them by "
        "heart. Test "
        "rows had no part in training: only they, or leave-one-out, tell what to expect of new rows like "
        "them.</dd></div>\n"
        "<div><dt>Leave-one-out</dt><dd>What the network would answer for each training row had that row (with all "
        "that are "
        "alike) been left out. It follows from the fit without training again.</dd></div>\n");
    if (is_classes(t))
        cli_html_put(
            output,
            "<div><dt>Precision and recall</dt><dd>Of all rows judged to be of a class, the part that is; and of "
            "all rows that are of it, the part that was found. F1 is between the two.</dd></div>\n");
    else
        cli_html_put(
            output,
            "<div><dt>RMSE, R&sup2;</dt><dd>The root mean square error is how far off a prediction typically is, "
            "in the units of the target. R&sup2; is the part of the differences between rows that it "
            "explains: 1 is all, 0 is no more than the mean does.</dd></div>\n");
    cli_html_put(
        output,
        "<div><dt>What the certificate is not</dt><dd>It proves that the error on the <em>training</em> rows fell "
        "as promised, and that the weights in the file are the ones that it speaks of. It proves nothing about new "
        "rows.</dd></div>\n"
        "</dl>\n</section>\n");
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
    for (size_t i = 0; i < t->files->count; i++) {
        cli_html_put(output, " ");
        cli_html_shell(output, t->files->paths[i]);
    }
    for (size_t i = 0; i < t->files->count; i++) put_option(output, "labels", t->files->labels[i]);
    put_option(output, "boxes", cli_given(t->arguments, "boxes"));
    put_option(output, "detector", cli_given(t->arguments, "detector"));
}

static void put_again(cli_output *output, const cli_training *t)
{
    int files = t->files && t->files->count;
    cli_html_put(
        output,
        "<section id=\"again\">\n<h2>Check it again</h2>\n<p>With the model file and the training rows anybody can "
        "check the certificate; it takes no trust in whoever made this page.</p>\n<pre>broad verify ");
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
    cli_html_put(output, " --layers</pre>\n<p>And this makes this page again, without the times of training:</p>\n"
                         "<pre>broad report --training ");
    cli_html_shell(output, t->model_path);
    if (files) put_data_words(output, t);
    put_option(output, "test", t->test_path);
    put_option(output, "test-labels", t->test_path ? cli_given(t->arguments, "test-labels") : NULL);
    cli_html_put(output, " -o training.html</pre>\n</section>\n");
}

int cli_training_write(const cli_training *training, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    put_head(&output, training);
    put_summary(&output, training);
    put_training(&output, training);
    cli_training_confusion(&output, training);
    if (is_classes(training)) put_probabilities(&output, training);
    else put_values(&output, training);
    put_time(&output, training);
    cli_training_settings(&output, training);
    cli_training_certificate(&output, training);
    put_words(&output, training);
    put_again(&output, training);
    cli_html_put(&output, "</main>\n<footer>\n<p>Made by broad ");
    cli_html_text(&output, broad_version());
    cli_html_put(&output, ".</p>\n</footer>\n</body>\n</html>\n");
    return cli_output_close(&output);
}
